import { restoredName } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackAction, FallbackCall, FallbackSide, FallbackStep } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { innerOf, stepOf } from '../parts/states.ts';
import { isUnderWay, knownOr, landedAt } from './steps.ts';

/** How a runbook restores. */
export interface ManualRestore {
  readonly on: FallbackSide;
  /** The instance whose data is overwritten. */
  readonly name: (context: RunContext) => string;
  /** What is lost, in one sentence. */
  readonly lost: (context: RunContext, state: string) => string;
  /** Reads again what the confirmation rests on, and asks for what is not known yet. */
  readonly before: (context: RunContext) => readonly FallbackAction[];
  readonly call: (context: RunContext, state: string) => Pick<FallbackCall, 'path' | 'id' | 'body'>;
  /** The field of the answer that names the restore; the answer of a point in time has none. */
  readonly field: 'id' | 'restore_id';
}

const RESTORE_ID = 'RESTORE_ID';

/** The confirmation, the one call, and the wait for what it has begun. */
export function restoreFallback(given: ManualRestore): FallbackPart<RunContext> {
  return (context, at, state, key) => {
    const isSent = at !== undefined && isUnderWay(at);
    const mayBeSent = at !== undefined && stepOf(at) === key && innerOf(at) !== 'broken';
    return [
      ...(isSent ? [] : [askFor(given, context, at ?? key, { state, mayBeSent })]),
      waitFor(given, context, isSent ? at : key, landedAt(context.restore, key, state)),
    ];
  };
}

/**
 * The instance after the change. After a restore it stands in the step before, unless the run is there; after
 * an action it is waited for until the instance was changed again as well.
 */
export function waitingFallback(on: FallbackSide): FallbackPart<RunContext> {
  return (context, at) => {
    const { preflight, run } = context;
    if (run.action === undefined && at === undefined) return [];
    const since = run.action === undefined ? undefined : preflight.facts?.baseline.updatedAt;
    return [
      {
        state: at ?? 'available',
        title: `wait until ${restoredName(context)} is available again`,
        notes: [],
        actions: [{ do: 'wait-instance', on, ...(since === undefined ? {} : { since }) }],
      },
    ];
  };
}

function askFor(
  given: ManualRestore,
  context: RunContext,
  at: string,
  { state, mayBeSent }: { readonly state: string; readonly mayBeSent: boolean },
): FallbackStep {
  const { on, field } = given;
  const name = given.name(context);
  const confirm: FallbackAction = { do: 'confirm-name', name, what: given.lost(context, state) };
  const call: FallbackCall = {
    do: 'call',
    on,
    method: 'POST',
    ...given.call(context, state),
    keep: { field, as: RESTORE_ID },
    once: {
      lookFirst: mayBeSent
        ? 'THIS RUN MAY HAVE SENT IT ALREADY. If the list has a restore that was triggered since then, type its id. If none shows up within 15 minutes, the request was lost.'
        : 'Stop if the list shows a restore of today that nobody can explain.',
      list: '/restores',
    },
  };
  return {
    state: at,
    title: mayBeSent ? `restore ${name}: look first, it may be under way` : `restore ${name}`,
    notes: [given.lost(context, state), 'Only a backup brings the old data back.'],
    actions: [...given.before(context), confirm, call],
  };
}

function waitFor(
  { on, name }: ManualRestore,
  context: RunContext,
  state: string,
  landed: number | undefined,
): FallbackStep {
  const id = knownOr(landed?.toString(), RESTORE_ID, 'the id of the restore, from the list of restores');
  return {
    state,
    title: `wait until ${name(context)} is restored and available`,
    notes: [
      'Nothing may be sent to it meanwhile. Its applications cannot reach it until they are bound again.',
    ],
    actions: [
      { do: 'wait', on, task: 'restore', id },
      { do: 'wait-instance', on },
    ],
  };
}

/** How a backup is restored by hand. */
export const restoreBackupByHand: ManualRestore = {
  on: 'instance',
  name: ({ run: { instance } }) => instance,
  lost: (context, state) =>
    `All data of ${context.run.instance} is replaced by that of backup ${chosenBackup(context, state) ?? '(the one that you choose)'}${madeAt(context)}: what was written after it is lost.`,
  before: () => [{ do: 'call', on: 'instance', method: 'GET', path: '' }],
  call: (context, state) => ({ path: '/backups/:id/restore', id: backupId(context, state) }),
  field: 'id',
};

/** The choice of a backup by hand. */
export const chooseBackupFallback: FallbackPart<RunContext> = (context, at, state) => {
  const id = chosenBackup(context, state);
  return [
    {
      state: at ?? 'choose',
      title:
        id === undefined ? 'choose the backup that is restored' : `check that backup ${id} is still there`,
      notes: [
        'Only one with the status done can be restored. Take the newest that was made before the damage.',
      ],
      actions: [
        { do: 'call', on: 'instance', method: 'GET', path: '/backups' },
        ...(id === undefined
          ? [{ do: 'ask' as const, as: 'CHOSEN_BACKUP', what: 'the id of the backup that is restored' }]
          : []),
      ],
    },
  ];
};

/** What was asked for at the start counts until the run has to ask, because then it cannot be had. */
function chosenBackup(
  { choose: { backup: one }, run: { asked } }: RunContext,
  state: string,
): string | undefined {
  return (one?.id ?? (state === 'choose.asking' ? undefined : asked.backup))?.toString();
}

function backupId(context: RunContext, state: string) {
  return knownOr(chosenBackup(context, state), 'CHOSEN_BACKUP', 'the id of the backup that is restored');
}

function madeAt({ choose: { backup: one } }: RunContext): string {
  return one?.triggeredAt === undefined ? '' : `, made at ${one.triggeredAt}`;
}

const READ_RANGE: FallbackAction = { do: 'call', on: 'instance', method: 'GET', path: '/pitr' };
const ASKED = 'the point in time, in UTC, as 2026-03-01T02:59:00.000Z';

/** How an instance is brought back to a point in time by hand. */
export const restoreToTimeByHand: ManualRestore = {
  on: 'instance',
  name: ({ run: { instance } }) => instance,
  lost: (context, state) =>
    `All data of ${context.run.instance} goes back to ${chosenTime(context, state) ?? 'the time that you choose'}: what was written after it is lost.`,
  before: () => [
    READ_RANGE,
    {
      do: 'by-hand',
      what: 'The point in time has to lie between start_time and end_time, some seconds away from both. If it does not, stop here.',
    },
  ],
  call: (context, state) => ({ path: '/pitr/restore', body: { target_time: timeValue(context, state) } }),
  field: 'id',
};

/** The choice of a point in time by hand. */
export const chooseTimeFallback: FallbackPart<RunContext> = (context, at, state) => {
  const known = chosenTime(context, state);
  return [
    {
      state: at ?? 'choose',
      title: known === undefined ? 'choose the point in time' : `check that ${known} can still be reached`,
      notes: ['The last moment before the damage, in UTC, some seconds away from both ends of the range.'],
      actions: [
        READ_RANGE,
        ...(known === undefined ? [{ do: 'ask' as const, as: 'TARGET_TIME', what: ASKED }] : []),
      ],
    },
  ];
};

/** What was asked for at the start counts until the run has to ask, because then it cannot be reached. */
function chosenTime(
  { choose: { time: one }, run: { asked } }: RunContext,
  state: string,
): string | undefined {
  return one ?? (state === 'choose.asking' ? undefined : asked.time);
}

function timeValue(context: RunContext, state: string) {
  return knownOr(chosenTime(context, state), 'TARGET_TIME', ASKED);
}
