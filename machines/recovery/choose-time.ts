import { assign } from 'xstate';
import { type RecoveryQuestion, stop } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

/** What the service says can be reached. */
const RANGE_CALLS = [
  { method: 'GET', path: '/pitr', what: 'from when to when the instance can be brought back' },
] as const;

/** Which moment the data is brought back to: the one that was named at the start, or one that is chosen within the range. */
export function chooseTime({ next }: { readonly next: string }) {
  return {
    readingRange: recovery.createStateConfig({
      meta: { step: 'choose', title: 'reading what can be reached', slice: 'decide', calls: RANGE_CALLS },
      invoke: {
        id: 'readRange',
        src: 'pitrRange',
        input: {},
        onDone: {
          target: 'weighingTime',
          actions: assign({ range: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo('rangeFailed'),
      },
    }),
    rangeFailed: failure({
      step: 'choose',
      title: 'no point in time can be reached',
      retry: 'readingRange',
      ways: {
        retry: 'asks the service again; nothing has been changed',
        skip: { disabled: 'without a range there is no time to choose; a backup may be restored instead' },
        markDone: { disabled: 'only the service knows what it can reach' },
      },
    }),
    weighingTime: recovery.createStateConfig({
      meta: { step: 'choose', title: 'whether a time was named at the start' },
      always: [
        {
          guard: 'isTimeChosenAlready',
          target: next,
          actions: assign({ time: ({ context }) => context.asked.time }),
        },
        { target: 'choosingTime' },
      ],
    }),
    choosingTime: recovery.createStateConfig({
      tags: ['question'],
      meta: {
        step: 'choose',
        title: 'the moment that the data is brought back to',
        slice: 'decide',
        question: askForTime,
      },
      on: {
        'operator.chooseTime': {
          guard: 'canBeChosen',
          target: next,
          // The time of the start is given up with it: a range that grows must not bring it back unasked.
          actions: assign({
            time: ({ event }) => event.time,
            asked: ({ context }) => ({ ...context.asked, time: undefined }),
            drift: [],
          }),
        },
        'operator.lookAgain': 'readingRange',
        'operator.stop': 'stopped',
      },
    }),
  };
}

/** The range once more, after the name was typed: it moves while people think. */
export function rereadRange({ next }: { readonly next: string }) {
  return {
    rereadingRange: recovery.createStateConfig({
      meta: {
        step: 'confirm',
        title: 'looking whether the time can still be reached',
        slice: 'decide',
        calls: RANGE_CALLS,
      },
      invoke: {
        id: 'rereadRange',
        src: 'pitrRange',
        input: {},
        onDone: {
          target: 'weighingRange',
          actions: assign({ range: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo('rangeFailed'),
      },
    }),
    weighingRange: recovery.createStateConfig({
      meta: { step: 'confirm', title: 'comparing the time with the range' },
      always: [
        { guard: 'isTimeReachable', target: next },
        {
          target: 'choosingTime',
          actions: assign({
            drift: ({ context }) => [
              `${context.time} can no longer be reached: the range is now ${context.range?.earliest} to ${context.range?.latest}`,
            ],
            asked: ({ context }) => ({ ...context.asked, time: undefined }),
          }),
        },
      ],
    }),
  };
}

function askForTime({ range, drift, asked, time, instance, incidentAt }: RecoveryContext): RecoveryQuestion {
  const suggested = time ?? asked.time;
  const unreachable =
    asked.time === undefined || time !== undefined ? '' : `${asked.time} cannot be reached: `;
  const before = drift.length === 0 ? unreachable : `${drift.join('; ')}: `;
  return {
    kind: 'time',
    prompt: `${before}which moment shall the data of ${instance} be brought back to? everything after it is lost`,
    event: 'operator.chooseTime',
    earliest: range?.earliest ?? '',
    latest: range?.latest ?? '',
    ...(suggested === undefined ? {} : { suggested }),
    ...(incidentAt === undefined ? {} : { wentWrongAt: incidentAt }),
    options: [
      {
        event: { type: 'operator.lookAgain' },
        label: 'read the range again',
        hint: 'it grows with time, and its beginning moves with retention',
      },
      stop,
    ],
  } as RecoveryQuestion;
}
