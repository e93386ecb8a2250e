import type { RunContext } from '../context.ts';
import type { FallbackAction } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { knownOr } from './known.ts';
import type { ManualRestore } from './restoring.ts';

const READ_RANGE: FallbackAction = { do: 'call', on: 'instance', method: 'GET', path: '/pitr' };
const ASKED = 'the point in time, in UTC, as 2026-03-01T02:59:00.000Z';

/** How it is restored by hand. */
export const restoreToTimeByHand: ManualRestore = {
  on: 'instance',
  name: ({ run: { instance } }) => instance,
  lost: (context, state) =>
    `All data of ${context.run.instance} goes back to ${chosen(context, state) ?? 'the time that you choose'}: what was written after it is lost.`,
  before: () => [
    READ_RANGE,
    {
      do: 'by-hand',
      what: 'The point in time has to lie between start_time and end_time, some seconds away from both. If it does not, stop here.',
    },
  ],
  call: (context, state) => ({ path: '/pitr/restore', body: { target_time: time(context, state) } }),
  field: 'id',
};

/** What is restored, chosen by hand. */
export const chooseTimeFallback: FallbackPart<RunContext> = (context, at, state) => {
  const known = chosen(context, state);
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
function chosen({ choose: { time: one }, run: { asked } }: RunContext, state: string): string | undefined {
  return one ?? (state === 'choose.asking' ? undefined : asked.time);
}

function time(context: RunContext, state: string) {
  return knownOr(chosen(context, state), 'TARGET_TIME', ASKED);
}
