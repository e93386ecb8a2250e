import { restoredName } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { CallValues, FallbackAction, FallbackSide } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { innerOf } from '../parts/states.ts';
import { instanceNow, isIn, isUnderWay, knownOr, type LeftOfRun, landedAt, stepFor } from './steps.ts';

export interface ManualRestore {
  readonly verb: 'restoreBackup' | 'restoreToTime' | 'performRecovery';
  readonly name: (context: RunContext) => string;
  readonly lost: (left: LeftOfRun) => string;
  /** Reads what the confirmation rests on once more, and asks for what is not known yet. */
  readonly before: (left: LeftOfRun) => readonly FallbackAction[];
  readonly values: (left: LeftOfRun) => CallValues;
  /** The field of the answer that names the restore; the answer for a point in time has none. */
  readonly field: 'id' | 'restore_id';
}

const RESTORE_ID = 'RESTORE_ID';

export function restoreFallback(given: ManualRestore): FallbackPart<RunContext> {
  return (left) => {
    const { context, at, state, key, calls } = left;
    const { verb, field } = given;
    const name = given.name(context);
    const isSent = at !== undefined && isUnderWay(at);
    const mayBeSent = isIn(left) && innerOf(state) !== 'broken';
    const lookFirst = mayBeSent
      ? 'THIS RUN MAY HAVE SENT IT ALREADY. If the list has a restore that was triggered since then, type its id. If none shows up within 15 minutes, the request was lost.'
      : 'Stop if the list shows a restore of today that nobody can explain.';
    const call = calls.change(verb, {
      ...given.values(left),
      keep: { field, as: RESTORE_ID },
      lookFirst,
    });
    const ask = stepFor(
      left,
      mayBeSent ? `restore ${name}: look first, it may be under way` : `restore ${name}`,
      [...given.before(left), { do: 'confirm-name', name, what: given.lost(left) }, call],
      [given.lost(left), 'Only a backup brings the old data back.'],
    );
    const landed = landedAt(context.restore, key, state)?.toString();
    const wait = stepFor(
      { key, at: isSent ? at : undefined },
      `wait until ${name} is restored and available`,
      [
        {
          do: 'wait',
          on: call.on,
          task: 'restore',
          id: knownOr(landed, RESTORE_ID, 'the id of the restore, from the list of restores'),
        },
        { do: 'wait-instance', on: call.on },
      ],
      ['Nothing may be sent to it meanwhile. Its applications cannot reach it until they are bound again.'],
    );
    return isSent ? [wait] : [ask, wait];
  };
}

/**
 * Waits for the instance after an action, until it was changed again as well. After a restore the step before
 * waits for it, unless the run is here.
 */
export function waitingFallback(on: FallbackSide): FallbackPart<RunContext> {
  return (left) => {
    const { preflight, run } = left.context;
    if (run.action === undefined && left.at === undefined) return [];
    const since = run.action === undefined ? undefined : preflight.facts?.baseline.updatedAt;
    return [
      stepFor(left, `wait until ${restoredName(left.context)} is available again`, [
        { do: 'wait-instance', on, ...(since === undefined ? {} : { since }) },
      ]),
    ];
  };
}

export const restoreBackupByHand: ManualRestore = {
  verb: 'restoreBackup',
  name: ({ run: { instance } }) => instance,
  lost: ({ context, state }) =>
    `All data of ${context.run.instance} is replaced by that of backup ${chosenBackup(context, state) ?? '(the one that you choose)'}${madeAt(context)}: what was written after it is lost.`,
  before: (left) => instanceNow(left),
  values: ({ context, state }) => ({
    id: knownOr(chosenBackup(context, state), 'CHOSEN_BACKUP', BACKUP_WORDS),
  }),
  field: 'id',
};

const BACKUP_WORDS = 'the id of the backup that is restored';

export const chooseBackupFallback: FallbackPart<RunContext> = (left) => {
  const id = chosenBackup(left.context, left.state);
  return [
    stepFor(
      left,
      id === undefined ? 'choose the backup that is restored' : `check that backup ${id} is still there`,
      [
        ...left.calls.looks('listBackups'),
        ...(id === undefined ? [{ do: 'ask' as const, as: 'CHOSEN_BACKUP', what: BACKUP_WORDS }] : []),
      ],
      ['Only one with the status done can be restored. Take the newest that was made before the damage.'],
    ),
  ];
};

/** The backup given at the start counts until the run has to ask, because then it is not available. */
function chosenBackup(
  { choose: { backup: one }, run: { asked } }: RunContext,
  state: string,
): string | undefined {
  return (one?.id ?? (state === 'choose.asking' ? undefined : asked.backup))?.toString();
}

function madeAt({ choose: { backup: one } }: RunContext): string {
  return one?.triggeredAt === undefined ? '' : `, made at ${one.triggeredAt}`;
}

const TIME_WORDS = 'the point in time, in UTC, as 2026-03-01T02:59:00.000Z';

export const restoreToTimeByHand: ManualRestore = {
  verb: 'restoreToTime',
  name: ({ run: { instance } }) => instance,
  lost: ({ context, state }) =>
    `All data of ${context.run.instance} goes back to ${chosenTime(context, state) ?? 'the time that you choose'}: what was written after it is lost.`,
  before: ({ calls }) => [
    ...calls.looks('pitrRange'),
    {
      do: 'by-hand',
      what: 'The point in time has to lie between start_time and end_time, some seconds away from both. If it does not, stop here.',
    },
  ],
  values: ({ context, state }) => ({
    body: { target_time: knownOr(chosenTime(context, state), 'TARGET_TIME', TIME_WORDS) },
  }),
  field: 'id',
};

export const chooseTimeFallback: FallbackPart<RunContext> = (left) => {
  const known = chosenTime(left.context, left.state);
  return [
    stepFor(
      left,
      known === undefined ? 'choose the point in time' : `check that ${known} can still be reached`,
      [
        ...left.calls.looks('pitrRange'),
        ...(known === undefined ? [{ do: 'ask' as const, as: 'TARGET_TIME', what: TIME_WORDS }] : []),
      ],
      ['The last moment before the damage, in UTC, some seconds away from both ends of the range.'],
    ),
  ];
};

/** The time given at the start counts until the run has to ask, because then it cannot be reached. */
function chosenTime(
  { choose: { time: one }, run: { asked } }: RunContext,
  state: string,
): string | undefined {
  return one ?? (state === 'choose.asking' ? undefined : asked.time);
}
