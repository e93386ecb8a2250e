import type { PaperPart } from '../../parts/paper-plan.ts';
import type { PaperAction, PaperSide, PaperStep, PaperValue } from '../../parts/paper-step.ts';

/** A backup that a run asks for, waits for and, where it is the point, opens. */
export interface BackupOnPaper {
  /** Title of the asking step: `ask for a backup of the present state`. */
  readonly title: string;
  readonly on: PaperSide;
  /** The shell variable that keeps its id. */
  readonly variable: string;
  /** Its id, once the service has told it; undefined when it has to be asked for, again or for the first time. */
  readonly landed: number | undefined;
  /** The newest backup that there was before, as far as it is known. */
  readonly before?: number | undefined;
  readonly notes?: readonly string[];
}

/** The states of a backup task of a recovery, by the part of their names: `Safety` gives `takingSafety` and so on. */
export function backupStates(name: string): {
  readonly asking: readonly string[];
  readonly waiting: readonly string[];
} {
  const small = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  return {
    asking: [`taking${name}`, `weighing${name}`, `${small}InDoubt`, `asking${name}Again`, `${small}Failed`],
    waiting: [`waitingFor${name}`, `${small}WaitFailed`],
  };
}

/** Asks for the backup, unless it is known to be under way, and waits for it. */
export function backupSteps(backup: BackupOnPaper, state: string): PaperStep[] {
  const { on, title, variable, landed, before, notes = [] } = backup;
  const ask: PaperAction = {
    do: 'call',
    on,
    method: 'POST',
    path: '/backups',
    keep: { field: 'id', as: variable },
    once: {
      lookFirst: `${before === undefined ? 'A backup that was triggered by this run' : `A backup with a higher id than ${before}`} may be it already: then type its id, and no second one is made. A backup too many does no harm but for retention.`,
      list: '/backups',
    },
  };
  const wait: PaperAction = { do: 'wait', on, task: 'backup', id: backupValue(backup) };
  if (landed !== undefined) {
    return [{ state, title: `wait for backup ${landed}`, notes: [...notes], actions: [wait] }];
  }
  return [{ state, title, notes: [...notes, 'It takes as long as the last one.'], actions: [ask, wait] }];
}

/** The id of the backup: what the service told, or the variable of the paper. */
export function backupValue({ variable, landed }: Pick<BackupOnPaper, 'variable' | 'landed'>): PaperValue {
  if (landed !== undefined) return { known: String(landed) };
  return { variable, what: 'the id of the backup that was made for this run' };
}

/** Opens a backup with a key, to its last byte. */
export function openStep(given: {
  readonly state: string;
  readonly on: PaperSide;
  readonly id: PaperValue;
  /** The shell variable of the key, and which key it is, in words. */
  readonly key: string;
  readonly which: string;
  readonly file?: string | undefined;
}): PaperStep {
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

/** A look at an instance before anything is changed. */
export function lookPart<Context>(
  states: readonly string[],
  on: PaperSide,
  nameOf: (context: Context) => string,
): PaperPart<Context> {
  return {
    states,
    steps: (context, at) => [
      {
        state: at ?? states[0] ?? '',
        title: `look at ${nameOf(context)}`,
        notes: ['It has to be available, and no backup or restore may be queued or running.'],
        actions: [
          { do: 'call', on, method: 'GET', path: '' },
          { do: 'call', on, method: 'GET', path: '/backups-config' },
          { do: 'call', on, method: 'GET', path: '/backups' },
        ],
      },
    ],
  };
}

/** What a person writes down, because nobody else does. */
export function recordPart<Context>(states: readonly string[], what: string): PaperPart<Context> {
  return {
    states,
    steps: (_context, at) => [
      {
        state: at ?? states[0] ?? '',
        title: 'write it down',
        notes: [],
        actions: [{ do: 'by-hand', what }],
      },
    ],
  };
}
