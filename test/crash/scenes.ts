import { CASES, type Flow, V0_CASES } from '../e2e/flows.ts';
import { ERRANDS, type Errand } from './errands.ts';

/**
 * How the first process is started: without a terminal, or in one, with a full screen and a person at the
 * keys.
 */
export type Dress = 'headless' | 'screen';

export type Store = 'sqlite' | 'postgres';

/** One flow as the suite runs it. */
export interface Scene {
  /** `restore-backup/62/headless`: stable, and part of the names of its points. */
  readonly name: string;
  readonly flow: string;
  readonly revision: 61 | 62 | 'v0';
  /** Where the entries live. */
  readonly store: Store;
  readonly dress: Dress;
  /** Whether a platform is there, with applications that must be bound again. */
  readonly hasPlatform: boolean;
  /** What the flow stands on, made before it. */
  readonly before: readonly (readonly string[])[];
  /** How old the service has to be. Milliseconds. */
  readonly ageMs: number;
  readonly args: Flow['args'];
  readonly confirm: string;
  /** How it ends undisturbed; 0 unless said otherwise. */
  readonly code?: number;
  /**
   * A second person has to approve what is destructive: the run ends where they are asked, or begins where
   * they have answered.
   */
  readonly approval?: 'asked' | 'given';
  readonly errand?: Errand;
}

const ROTATE_KEY = [61, 62].map((revision) => ({
  name: 'rotate-key',
  revision: revision as 61 | 62,
  args: () => ['rotate-key', '--instance', 'orders'],
  confirm: 'orders',
}));

/** What binds applications again. */
const WITH_PLATFORM = ['restore-backup', 'restore-point-in-time', 'disaster-recovery --perform'];

/** A point in time needs a past, and distance from both of its edges. */
const PAST_MS = 9_500;

/**
 * Every flow in every revision, headless and on a screen, and where applications are bound again also with a
 * platform.
 */
const FLOWS: readonly Scene[] = [...ROTATE_KEY, ...CASES, ...V0_CASES].flatMap((flow) => {
  const { name, revision, args, confirm } = flow;
  const before = 'before' in flow ? (flow.before ?? []) : [];
  const code = 'code' in flow ? flow.code : 0;
  const ageMs = name === 'restore-point-in-time' ? PAST_MS : 0;
  const platforms = WITH_PLATFORM.includes(name) ? [false, true] : [false];
  return platforms.flatMap((hasPlatform) =>
    (['headless', 'screen'] as const).map((dress): Scene => {
      const words = `${name.replaceAll(/ --(?:action )?/gu, '-')}${hasPlatform ? '+platform' : ''}`;
      return {
        name: `${words}/${revision}/${dress}`,
        flow: words,
        revision,
        store: 'sqlite',
        dress,
        hasPlatform,
        before,
        ageMs,
        args,
        confirm,
        code,
      };
    }),
  );
});

const REVISION = 62;

/** The flows that a second person has to agree to: up to the request, and from the signature on. */
const APPROVED: readonly Scene[] = FLOWS.filter(
  ({ flow, revision, dress }) =>
    ['rotate-key', 'restore-backup'].includes(flow) && revision === REVISION && dress === 'headless',
).flatMap((scene) =>
  (['asked', 'given'] as const).map((approval) => {
    const flow = `${scene.flow}+approval-${approval}`;
    return { ...scene, flow, name: `${flow}/${REVISION}/headless`, approval };
  }),
);

const OTHERS: readonly Scene[] = ERRANDS.map((errand) => ({
  name: `${errand.name}/${REVISION}/headless`,
  flow: errand.name,
  revision: REVISION,
  store: 'sqlite',
  dress: 'headless',
  hasPlatform: false,
  before: [],
  ageMs: 0,
  args: () => [],
  confirm: 'orders',
  errand,
}));

const ON_SQLITE: readonly Scene[] = [...FLOWS, ...APPROVED, ...OTHERS];

/** The same on a team's database, where `@postgres` is part of every name. */
const ON_POSTGRES = ON_SQLITE.map((scene): Scene => {
  const flow = `${scene.flow}@postgres`;
  return { ...scene, flow, name: scene.name.replace(scene.flow, flow), store: 'postgres' };
});

export const SCENES: readonly Scene[] = [...ON_SQLITE, ...ON_POSTGRES];

/** How the command of a scene ends undisturbed. */
export function codeOf({ approval, errand, code = 0 }: Scene): number {
  return errand?.code ?? (approval === 'asked' ? 3 : code);
}
