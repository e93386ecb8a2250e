import { GROUND_CALLS } from '../parts/ground.ts';
import type { Ground } from '../parts/verbs.ts';
import { type RecoveryQuestion, stop, typedName } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

interface Confirmation {
  /** What is confirmed, as an order: `restore backup 3 into orders`. */
  readonly order: (context: RecoveryContext) => string;
  readonly next: string;
  /** Where stopping leads. */
  readonly stopped?: string;
}

/** The last look: facts, the typed name, and the facts once more. Whatever has changed meanwhile is confirmed again. */
export function confirmation({ order, next, stopped = 'stopped' }: Confirmation) {
  const looking = ({ context }: { context: RecoveryContext }) => ({ instance: context.instance });
  return {
    refreshing: recovery.createStateConfig({
      meta: { step: 'confirm', title: 'looking at the instance again', slice: 'decide', calls: GROUND_CALLS },
      invoke: {
        id: 'refresh',
        src: 'recheck',
        input: looking,
        onDone: [
          ifRestoreBegan,
          {
            target: 'confirming',
            actions: { type: 'keepGround', params: ({ event }) => ({ ground: event.output }) },
          },
        ],
        onError: failTo('recheckFailed'),
      },
    }),
    confirming: recovery.createStateConfig({
      tags: ['question'],
      meta: {
        step: 'confirm',
        title: 'the last look before the change',
        slice: 'decide',
        question: askForConfirmation(order),
      },
      on: {
        'operator.confirm': {
          guard: { type: 'nameMatches', params: { of: 'instance' } },
          target: 'rechecking',
        },
        'operator.stop': stopped,
      },
    }),
    rechecking: recovery.createStateConfig({
      meta: {
        step: 'confirm',
        title: 'looking whether anything has changed meanwhile',
        slice: 'decide',
        calls: GROUND_CALLS,
      },
      invoke: {
        id: 'recheck',
        src: 'recheck',
        input: looking,
        onDone: {
          target: 'comparing',
          actions: { type: 'keepDrift', params: ({ event }) => ({ ground: event.output }) },
        },
        onError: failTo('recheckFailed'),
      },
    }),
    recheckFailed: failure({
      step: 'confirm',
      title: 'the instance could not be read again',
      retry: 'refreshing',
      stopped,
      ways: {
        retry: 'asks the service again, then for the name; nothing has been sent',
        skip: { disabled: 'the confirmation rests on these facts' },
        markDone: { disabled: 'only the service can give these facts' },
      },
    }),
    restoreMeanwhile: failure({
      step: 'confirm',
      title: 'a restore has begun meanwhile',
      retry: 'refreshing',
      next: 'confirming',
      stopped,
      ways: {
        retry: 'looks again, then asks for the name; nothing has been sent',
        skip: 'asks for the name although it is under way: one of the two would undo the other',
        markDone: { disabled: 'wait until it is over, then look again' },
      },
    }),
    comparing: recovery.createStateConfig({
      meta: { step: 'confirm', title: 'comparing with what was confirmed' },
      always: [{ guard: 'hasShifted', target: 'confirming' }, { target: next }],
    }),
  };
}

const ifRestoreBegan = {
  guard: {
    type: 'restoreBegan' as const,
    params: ({ event }: { event: { output: Ground } }) => ({ ground: event.output }),
  },
  target: 'restoreMeanwhile',
  actions: {
    type: 'keepRestoreMeanwhile' as const,
    params: ({ event }: { event: { output: Ground } }) => ({ ground: event.output }),
  },
};

function askForConfirmation(order: Confirmation['order']) {
  return (context: RecoveryContext): RecoveryQuestion => {
    const prompt =
      context.drift.length === 0
        ? `type the instance's name to ${order(context)}`
        : `it has changed (${context.drift.join('; ')}): type its name to ${order(context)} all the same`;
    return typedName(prompt, context.instance, 'operator.confirm', [stop]);
  };
}
