import { type PaperPart, paperFrom } from '../../parts/paper-plan.ts';
import type { PaperAction, PaperStep } from '../../parts/paper-step.ts';
import type { RecoveryContext } from '../context.ts';
import { lookPart, recordPart } from './backing-up.ts';
import { keepBindings, safetyBackup } from './before.ts';
import { knownOr } from './known.ts';
import { owedPart } from './owed.ts';
import { restorePart } from './restoring.ts';

/** The rest of a restore to a point in time for a person without lifeboat. */
export function restorePointInTimePaper(context: RecoveryContext, state: string): readonly PaperStep[] {
  return paperFrom(PLAN, ['done', 'unproven', 'stopped'], context, state);
}

const READ_RANGE: PaperAction = { do: 'call', on: 'instance', method: 'GET', path: '/pitr' };
const ASKED = 'the point in time, in UTC, as 2026-03-01T02:59:00.000Z';

const RANGE = ['readingRange', 'rangeFailed', 'weighingTime', 'choosingTime'];

const PLAN: readonly PaperPart<RecoveryContext>[] = [
  lookPart(['checking', 'checkFailed', 'sorting', 'blocked'], 'instance', ({ instance }) => instance),
  {
    states: RANGE,
    steps: choose,
  },
  keepBindings,
  safetyBackup,
  restorePart({
    on: 'instance',
    name: ({ instance }) => instance,
    lost: (context, state) =>
      `All data of ${context.instance} goes back to ${chosen(context, state) ?? 'the time that you choose'}: what was written after it is lost.`,
    before: () => [
      READ_RANGE,
      {
        do: 'by-hand',
        what: 'The point in time has to lie between start_time and end_time, some seconds away from both. If it does not, stop here.',
      },
    ],
    call: (context, state) => ({ path: '/pitr/restore', body: { target_time: time(context, state) } }),
    field: 'id',
  }),
  owedPart,
  recordPart(
    ['recording', 'recordFailed', 'weighingEnd'],
    'Write down: the point in time, restored_from of the restore (it should be the same), the ids of the restore and of the fresh backup, and when the last application ran again.',
  ),
];

function choose(context: RecoveryContext, at: string | undefined, state: string): PaperStep[] {
  const known = chosen(context, state);
  return [
    {
      state: at ?? 'choosingTime',
      title: known === undefined ? 'choose the point in time' : `see that ${known} can still be reached`,
      notes: ['The last moment before the damage, in UTC, some seconds away from both ends of the range.'],
      actions: [
        READ_RANGE,
        ...(known === undefined ? [{ do: 'ask' as const, as: 'TARGET_TIME', what: ASKED }] : []),
      ],
    },
  ];
}

/** What was asked for at the start counts until the run has to ask, because then it cannot be reached. */
function chosen({ time: one, asked }: RecoveryContext, state: string): string | undefined {
  return one ?? (state === 'choosingTime' ? undefined : asked.time);
}

function time(context: RecoveryContext, state: string) {
  return knownOr(chosen(context, state), 'TARGET_TIME', ASKED);
}
