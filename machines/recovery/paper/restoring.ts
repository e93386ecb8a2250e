import type { PaperPart } from '../../parts/paper-plan.ts';
import type { PaperAction, PaperCall, PaperSide, PaperStep } from '../../parts/paper-step.ts';
import type { RecoveryContext } from '../context.ts';
import { knownOr, landedIn } from './known.ts';

const ASKING = [
  ...[
    'refreshing',
    'confirming',
    'restoreMeanwhile',
    'rechecking',
    'recheckFailed',
    'rereadingRange',
    'weighingRange',
  ],
  ...['reinspecting', 'comparing', 'restoring', 'weighingRestore', 'restoreInDoubt'],
  ...['askingForRestoreAgain', 'restoreFailed', 'restoreBroken'],
];
/** The call may have left already. */
const SENT = ['restoring', 'weighingRestore', 'restoreInDoubt', 'restoreFailed'];
const WAITING = [
  ...['waitingForRestore', 'restoreWaitFailed'],
  ...['checkingInterface', 'instanceUnsaid', 'waitingForInstance', 'instanceFailed'],
];

/** How a runbook restores. */
export interface RestoreOnPaper {
  readonly on: PaperSide;
  /** The instance whose data is overwritten. */
  readonly name: (context: RecoveryContext) => string;
  /** What is lost, in one sentence. */
  readonly lost: (context: RecoveryContext, state: string) => string;
  /** Reads again what the confirmation rests on, and asks for what is not known yet. */
  readonly before: (context: RecoveryContext) => readonly PaperAction[];
  readonly call: (context: RecoveryContext, state: string) => Pick<PaperCall, 'path' | 'id' | 'body'>;
  /** The field of the answer that names the restore; the answer of a point in time has none. */
  readonly field: 'id' | 'restore_id';
}

const RESTORE_ID = 'RESTORE_ID';

/** The confirmation, the one call, and the wait until the instance is available again. */
export function restorePart(given: RestoreOnPaper): PaperPart<RecoveryContext> {
  return {
    states: [...ASKING, ...WAITING],
    steps: (context, at, state) => {
      const waits = at !== undefined && WAITING.includes(at);
      const landed = waits ? landedIn(context.restore, ASKING, state) : undefined;
      const isOver = waits && at !== 'waitingForRestore' && at !== 'restoreWaitFailed';
      return [
        ...(waits ? [] : [askFor(given, context, at, state)]),
        waitFor(given, context, at ?? 'waitingForRestore', landed, isOver),
      ];
    },
  };
}

function askFor(
  given: RestoreOnPaper,
  context: RecoveryContext,
  at: string | undefined,
  state: string,
): PaperStep {
  const { on, field } = given;
  const name = given.name(context);
  const mayBeSent = at !== undefined && SENT.includes(at);
  const confirm: PaperAction = { do: 'confirm-name', name, what: given.lost(context, state) };
  const call: PaperCall = {
    do: 'call',
    on,
    method: 'POST',
    ...given.call(context, state),
    keep: { field, as: RESTORE_ID },
    once: {
      lookFirst: mayBeSent
        ? 'THIS RUN MAY HAVE SENT IT ALREADY. A restore in the list that was triggered since then is it: type its id. Only when none shows up for 15 minutes was it lost.'
        : 'No restore of today may be in the list that nobody can explain.',
      list: '/restores',
    },
  };
  return {
    state: at ?? 'confirming',
    title: mayBeSent ? `restore ${name}: look first, it may be under way` : `restore ${name}`,
    notes: [given.lost(context, state), 'There is no way back but a backup.'],
    actions: [...given.before(context), confirm, call],
  };
}

function waitFor(
  { on, name }: RestoreOnPaper,
  context: RecoveryContext,
  state: string,
  landed: number | undefined,
  isOver: boolean,
): PaperStep {
  const id = knownOr(landed?.toString(), RESTORE_ID, 'the id of the restore, from the list of restores');
  const task: PaperAction[] = isOver ? [] : [{ do: 'wait', on, task: 'restore', id }];
  return {
    state,
    title: `wait until ${name(context)} is restored and available`,
    notes: [
      'Nothing may be sent to it meanwhile. Its applications cannot reach it until they are bound again.',
    ],
    actions: [...task, { do: 'wait-instance', on }],
  };
}
