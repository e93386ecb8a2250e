/* What a run does to its instances, known without loading the machine. */

/** From least to most. */
type Touch =
  /** The instance may be gone. */
  | 'not-called'
  /** It gets only GETs. */
  | 'read'
  /** For example its key or its list of backups; its data stays. */
  | 'changed'
  | 'replaced';

/** The moment after which data is lost. */
export type LostAfter =
  /** The run asks for it if none is given. */
  | 'chosen-backup'
  /** The newest backup, unless another one is given. */
  | 'newest-backup'
  | 'own-backup'
  | 'chosen-time';

/** Data that a run loses without replacing any. */
export type LostBeside =
  | 'nothing'
  /** On a machine of the instance, outside of its database. */
  | 'only-on-machines';

/** Tied together, so that a run that replaces data cannot claim to lose none. */
export type Touches =
  | {
      readonly source: Exclude<Touch, 'replaced'>;
      readonly target: 'none';
      readonly lost: LostBeside;
    }
  | { readonly source: 'replaced'; readonly target: 'none'; readonly lost: LostAfter }
  | {
      readonly source: Exclude<Touch, 'replaced'>;
      readonly target: 'replaced';
      readonly lost: LostAfter;
    };

/** It may come from a record, so it is unchecked. */
interface Decisive {
  readonly mode?: unknown;
  readonly action?: unknown;
  readonly target?: unknown;
  readonly single?: unknown;
}

const CHANGES = { source: 'changed', target: 'none', lost: 'nothing' } as const;

const REPLACING: Readonly<Record<string, LostAfter>> = {
  restoreBackup: 'chosen-backup',
  restoreToTime: 'chosen-time',
  performRecovery: 'newest-backup',
};

const BY_RUNBOOK = {
  'rotate-key': () => CHANGES,
  'disaster-recovery': ({ mode, target }) => {
    if (mode === 'perform') return { source: 'not-called', target: 'replaced', lost: 'newest-backup' };
    // Without a mode: both halves if there is a target, as for the flags.
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

/** Commands start `single-change` by themselves, and plans `plan-step`. */
export type OfferedRunbookId = Exclude<RunbookId, 'single-change' | 'plan-step'>;

/** Undefined for an unknown runbook. */
export function touchesOf(runbook: RunbookId, input: unknown): Touches;
export function touchesOf(runbook: string, input: unknown): Touches | undefined;
export function touchesOf(runbook: string, input: unknown): Touches | undefined {
  const touches: Readonly<Record<string, (input: Decisive) => Touches>> = BY_RUNBOOK;
  return Object.hasOwn(touches, runbook) ? touches[runbook]?.((input ?? {}) as Decisive) : undefined;
}

export function replacesData({ source, target }: Touches): boolean {
  return source === 'replaced' || target === 'replaced';
}
