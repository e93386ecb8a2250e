import type { RunContext } from '../context.ts';
import type { FallbackAction, FallbackSide, FallbackStep, FallbackValue } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { fingerprinted, landedAt } from './steps.ts';

/** A backup that a run asks for, waits for and, where it is the point, opens. */
export interface ManualBackup {
  /** Title of the asking step: `ask for a backup of the present state`. */
  readonly title: string;
  readonly on: FallbackSide;
  /** The shell variable that keeps its id. */
  readonly variable: string;
  /**
   * Its id, once the service has reported it; undefined when the backup has to be asked for, again or for the
   * first time.
   */
  readonly landed: number | undefined;
  /** The newest backup that there was before, as far as it is known. */
  readonly before?: number | undefined;
  readonly notes?: readonly string[];
}

/** Asks for the backup, unless it is known to be under way, and waits for it. */
export function backupSteps(backup: ManualBackup, state: string): FallbackStep[] {
  const { on, title, variable, landed, before, notes = [] } = backup;
  const ask: FallbackAction = {
    do: 'call',
    on,
    method: 'POST',
    path: '/backups',
    keep: { field: 'id', as: variable },
    once: {
      lookFirst: `${before === undefined ? 'A backup that was triggered by this run' : `A backup with a higher id than ${before}`} may already be it: then type its id, and no second one is made. An extra backup does no harm, but it counts against retention.`,
      list: '/backups',
    },
  };
  const wait: FallbackAction = { do: 'wait', on, task: 'backup', id: backupValue(backup) };
  if (landed !== undefined) {
    return [{ state, title: `wait for backup ${landed}`, notes: [...notes], actions: [wait] }];
  }
  return [
    { state, title, notes: [...notes, 'It takes about as long as the last one.'], actions: [ask, wait] },
  ];
}

/** The id of the backup: what the service reported, or a variable of the script. */
function backupValue({ variable, landed }: Pick<ManualBackup, 'variable' | 'landed'>): FallbackValue {
  if (landed !== undefined) return { known: String(landed) };
  return { variable, what: 'the id of the backup that was made for this run' };
}

/** Opens a backup with a key, to its last byte. */
export function openStep(given: {
  readonly state: string;
  readonly on: FallbackSide;
  readonly id: FallbackValue;
  /** The shell variable of the key, and which key it is, in words. */
  readonly key: string;
  readonly which: string;
  readonly file?: string | undefined;
}): FallbackStep {
  const { state, on, id, key, which, file } = given;
  return {
    state,
    title: 'download the backup and open it with the key',
    notes: ['It is proven when it says readable or intact. Write down the SHA-256 that it prints.'],
    actions: [
      { do: 'ask-secret', as: key, what: which },
      { do: 'download-and-open', on, id, key, ...(file === undefined || file === '' ? {} : { file }) },
    ],
  };
}

/** The backup that the run exists for, or that proves it. `title` says what for. */
export function mainBackup(context: RunContext, state: string, title: string): ManualBackup {
  return {
    title,
    on: 'instance',
    variable: 'PROOF_BACKUP',
    landed: landedAt(context.backup, 'backup', state),
    before: context.preflight.facts?.baseline.newestBackup,
  };
}

/** A backup that the run asks for, wholly. */
export function backupFallback(titleOf: (context: RunContext) => string): FallbackPart<RunContext> {
  return (context, at, state) => backupSteps(mainBackup(context, state, titleOf(context)), at ?? 'backup');
}

/** Opens the backup with the new key, or with the one that is held. */
export function proveFallback(expects: 'new-key' | 'held-key'): FallbackPart<RunContext> {
  return (context, at, state) => {
    const { run, key, preflight, proof } = context;
    const held = `the key of ${run.instance}${fingerprinted(key.stored?.fingerprint ?? preflight.facts?.currentKey)}`;
    return [
      openStep({
        state: at ?? 'prove',
        on: 'instance',
        id: backupValue(mainBackup(context, state, '')),
        key: NEW_KEY,
        which: expects === 'new-key' ? newKeyWords(context) : held,
        file: at === undefined ? undefined : proof.file?.path,
      }),
    ];
  };
}

/** The shell variable of the key that a run sets, or that its backup is opened with. */
export const NEW_KEY = 'NEW_KEY';

export function newKeyWords({ run: { instance }, key: { stored } }: RunContext): string {
  if (stored === undefined) return `the new key of ${instance}`;
  return `the new key of ${instance}${fingerprinted(stored.fingerprint)}, as it was stored (in ${stored.store}) or escrowed`;
}
