import type { FollowUp } from '../../machines/parts/follow-up.ts';
import { effectOf } from '../../machines/verbs.ts';
import { gatherFollowUps } from '../../src/compose/open-follow-ups.ts';
import { openReaderOf } from '../../src/compose/store-of.ts';
import type { Entry } from '../../src/store/journal.ts';
import { entriesIn } from '../bench-kit/entries-of.ts';
import type { Call } from '../bench-kit/foreign/call.ts';
import type { Wish } from '../bench-kit/foreign/capi.ts';
import type { Stage } from './stage.ts';

/**
 * What there is at the end of a run: what was done, by the ledgers of service and platform, and what the
 * product has on record.
 */
export interface Ledger {
  /** Changes that were carried out, by name, with how often. */
  readonly done: ReadonlyMap<string, number>;
  /** How many different keys the service was given. */
  readonly keysGiven: number;
  readonly lostKeys: number;
  /** What became of each application, as its platform sees it. */
  readonly apps: readonly string[];
  /** `rebind shop: closed`, sorted. */
  readonly followUps: readonly string[];
  /** Approvals that stand behind more than one confirmation. */
  readonly reused: number;
  /** How often it is on record that a person reported a follow-up as done. */
  readonly reportedDone: number;
  /** The state in which the last run stands, and how it was closed. */
  readonly state: string;
  readonly closed: 'proven' | 'unproven' | 'open';
  /** Whether a person has said what no answer of the service showed, so that the end rests on that word. */
  readonly isSaid: boolean;
}

export async function ledgerOf(stage: Stage): Promise<Ledger> {
  const { bench, capi, from } = stage;
  const calls = bench.server.calls.slice(from);
  const entries = await entriesIn(stage.bench);
  const runs = runsIn(entries).slice(stage.runsBefore);
  // A command that is typed again can begin a run that is stopped because the first has done it.
  const run = runs.findLast(hasSent) ?? runs.at(-1) ?? [];
  const stored = [...(await bench.vault()).values(), ...(await bench.vault('orders-dr')).values()];
  const held = new Set(stored);
  const given = bench.server.instances.flatMap(({ keys }) => keys);
  const closing = run.find(({ type }) => type === 'run.closed')?.body as Closing | undefined;
  return {
    done: countOf([
      ...calls.filter(({ method, did }) => method !== 'GET' && did).map(nameOfCall),
      ...(capi?.wishes ?? []).filter(({ answered }) => !isRefused(answered)).map(nameOfWish),
    ]),
    keysGiven: new Set(calls.flatMap(({ key }) => key ?? [])).size,
    lostKeys: [...given].filter((key) => !held.has(key)).length,
    apps: capi === undefined ? [] : appsOf(capi),
    followUps: [...(closing?.followUps ?? []), ...(await openFollowUpsIn(stage))].map(lineOf).toSorted(),
    reused: reusedIn(run),
    reportedDone: run.filter(({ body }) => (body as Answered).event?.type === 'operator.reportDone').length,
    state: (run.findLast(({ type }) => type === 'event')?.body as { to?: string } | undefined)?.to ?? 'none',
    closed: closing === undefined ? 'open' : closing.proven === true ? 'proven' : 'unproven',
    isSaid: run.some(({ body }) => (body as Answered).event?.type === 'operator.hasBegun'),
  };
}

interface Answered {
  readonly event?: { readonly type?: string };
}

/** Approvals that were used again. */
function reusedIn(run: readonly Entry[]): number {
  const used = run.flatMap(({ type, body }) =>
    type === 'approval.given' ? [(body as { readonly challenge: string }).challenge] : [],
  );
  return used.length - new Set(used).size;
}

function hasSent(run: readonly Entry[]): boolean {
  return run.some(({ type, body }) => {
    const { kind, verb } = body as { readonly kind?: unknown; readonly verb?: unknown };
    return type === 'intent.armed' || (kind === 'repeatable' && effectOf(String(verb)) !== 'none');
  });
}

interface Closing {
  readonly proven?: boolean;
  readonly followUps?: readonly FollowUp[];
}

/** The entries of each run, oldest run first. */
export function runsIn(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const runs = Map.groupBy(
    entries.filter(({ stream }) => stream.startsWith('run/')),
    ({ stream }) => stream,
  );
  return [...runs].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, run]) => run);
}

/**
 * What may be asked for twice without a difference: the same value set again, the same question asked again.
 * A request of a dead process that arrives after the next one has looked (`isLate`) may stage or roll out
 * once more: to wait for it would keep every application down for as long as a router holds requests, and of
 * two rollouts of one droplet the second takes the place of the first.
 */
export function isRepeatable(name: string, isLate: boolean): boolean {
  if (isLate && /^POST \/v3\/(?:builds|deployments) /u.test(name)) return true;
  // V0 has a download by POST (service-api.md section 4.3): it changes nothing, however often it is asked
  // for.
  return /backups-config|disaster-recovery\/prepare|broker\/edit|\/download$/u.test(name);
}

function nameOfCall({ method, path, instance }: Call): string {
  const [, rest = ''] = /^\/(?:v1\/instances|service-instances)\/[^/]+(.*)$/u.exec(path) ?? [];
  return `${method} ${instance ?? 'nobody'}${rest.replaceAll(/\/\d+/gu, '/:id')}`;
}

function nameOfWish({ method, path, about }: Wish): string {
  return `${method} ${path} ${about}`;
}

function isRefused(answered: Wish['answered']): boolean {
  return typeof answered === 'number' && answered >= 400;
}

function countOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** How many bindings each application has, and whether it was started with the newest. */
function appsOf({ land }: NonNullable<Stage['capi']>): string[] {
  return land.apps.map((app) => {
    const bound = land.bindingsOf(app);
    const runs = app.processes.every(({ runsWith }) => bound.every(({ guid }) => runsWith.includes(guid)));
    return `${app.name}: ${bound.map(({ instance }) => instance.name).join(', ')}; ${app.state}, ${runs}`;
  });
}

async function openFollowUpsIn({ bench }: Stage): Promise<readonly FollowUp[]> {
  const journal = await openReaderOf({ env: bench.env });
  try {
    return (await gatherFollowUps(journal)).map(({ followUp }) => followUp);
  } finally {
    await journal.close();
  }
}

/** Fingerprints and ids differ from one installation to the next. */
function lineOf({ kind, what, closed }: FollowUp): string {
  const words = what.replaceAll(/\b[0-9a-f]{8,}\b|[0-9a-f-]{36}|\d+/gu, '…');
  return `${kind} ${words}: ${closed === undefined ? 'open' : 'closed'}`;
}
