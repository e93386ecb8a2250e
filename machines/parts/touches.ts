/*
 * What a run does to the instances that it is about: stated once for each runbook, and asked by everybody who
 * has to know it before the machine is loaded, or without it.
 */

/** What is done to an instance, from least to most. */
type Touch =
  /** Nothing is sent to it: it may be gone. */
  | 'not-called'
  /** It gets only GETs. */
  | 'read'
  /** Something about it is changed, such as its key or its list of backups; its data stays. */
  | 'changed'
  /** Everything that it holds is replaced. */
  | 'replaced';

/** The moment after which data is lost, if data is replaced. */
export type LostAfter =
  /** The backup that a person chooses; the run asks for it where none is given. */
  | 'chosen-backup'
  /** The newest backup, unless another one is given. */
  | 'newest-backup'
  /** The backup that the run makes itself. */
  | 'own-backup'
  | 'chosen-time';

/** Data that a run loses without replacing any. */
export type LostBeside =
  | 'nothing'
  /** Files on a machine of the instance, outside of its database. */
  | 'only-on-machines';

/** What is lost goes with what is replaced, so that no run that replaces data can claim to lose none. */
export type Touches =
  | {
      /** The run's own instance. */
      readonly source: Exclude<Touch, 'replaced'>;
      /** The instance that the run goes into. */
      readonly target: 'none';
      readonly lost: LostBeside;
    }
  | { readonly source: 'replaced'; readonly target: 'none'; readonly lost: LostAfter }
  | {
      readonly source: Exclude<Touch, 'replaced'>;
      readonly target: 'replaced';
      readonly lost: LostAfter;
    };

/** The part of a run's input that decides; it may come from a record, so it is unchecked. */
interface Decisive {
  readonly mode?: unknown;
  readonly action?: unknown;
  readonly target?: unknown;
  readonly single?: unknown;
}

const CHANGES = { source: 'changed', target: 'none', lost: 'nothing' } as const;

/** The changes of a single command that replace data, with what is lost. */
const REPLACING: Readonly<Record<string, LostAfter>> = {
  restoreBackup: 'chosen-backup',
  restoreToTime: 'chosen-time',
  performRecovery: 'newest-backup',
};

const BY_RUNBOOK = {
  'rotate-key': () => CHANGES,
  'disaster-recovery': ({ mode, target }) => {
    if (mode === 'perform') return { source: 'not-called', target: 'replaced', lost: 'newest-backup' };
    // Without a mode, as for the flags: both halves where there is a target.
    if (mode === 'prepare' || (mode === undefined && target === undefined)) return CHANGES;
    return { source: 'changed', target: 'replaced', lost: 'own-backup' };
  },
  'restore-point-in-time': () => ({ source: 'replaced', target: 'none', lost: 'chosen-time' }),
  'restore-backup': () => ({ source: 'replaced', target: 'none', lost: 'chosen-backup' }),
  'back-up-and-verify': () => CHANGES,
  'change-instance': ({ action }) =>
    action === 'recreate' ? { ...CHANGES, lost: 'only-on-machines' } : CHANGES,
  'plan-step': () => ({ source: 'not-called', target: 'none', lost: 'nothing' }),
  'single-change': ({ single }) => {
    const { change } = (single ?? {}) as { readonly change?: unknown };
    const lost = Object.hasOwn(REPLACING, String(change)) ? REPLACING[String(change)] : undefined;
    if (lost !== undefined) return { source: 'replaced', target: 'none', lost };
    return change === 'recreate' ? { ...CHANGES, lost: 'only-on-machines' } : CHANGES;
  },
} satisfies Readonly<Record<string, (input: Decisive) => Touches>>;

export type RunbookId = keyof typeof BY_RUNBOOK;

export const RUNBOOK_IDS = Object.keys(BY_RUNBOOK) as readonly RunbookId[];

/** A runbook that a person chooses; commands start `single-change` by themselves, and plans `plan-step`. */
export type OfferedRunbookId = Exclude<RunbookId, 'single-change' | 'plan-step'>;

/** What a run of a runbook with this input touches; undefined for a runbook that is not known here. */
export function touchesOf(runbook: RunbookId, input: unknown): Touches;
export function touchesOf(runbook: string, input: unknown): Touches | undefined;
export function touchesOf(runbook: string, input: unknown): Touches | undefined {
  const touches: Readonly<Record<string, (input: Decisive) => Touches>> = BY_RUNBOOK;
  return Object.hasOwn(touches, runbook) ? touches[runbook]?.((input ?? {}) as Decisive) : undefined;
}

export function replacesData({ source, target }: Touches): boolean {
  return source === 'replaced' || target === 'replaced';
}
