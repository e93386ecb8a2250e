import { assign } from 'xstate';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';
import { restoredSide } from './weigh.ts';

const NO_STOP = {
  disabled: 'the data was replaced: skip this with a reason, or leave the screen and go on later',
};

/** What the data says of itself after the restore, and who has to be bound to it again. */
export function lookAfter({ next, on }: { readonly next: string; readonly on?: 'target' | undefined }) {
  const side = on === undefined ? {} : { on };
  return {
    countingAfter: recovery.createStateConfig({
      meta: {
        step: 'count',
        title: 'asking the restored data for its newest record',
        slice: 'rebind',
        does: ['the reconciliation command of the config, when there is one'],
      },
      invoke: {
        id: 'countAfter',
        src: 'reconcile',
        input: { when: 'after' as const, ...side },
        onDone: {
          target: 'listingDuties',
          actions: assign({ afterwards: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo('countingAfterFailed'),
      },
    }),
    countingAfterFailed: failure({
      step: 'count',
      title: 'the restored data could not be asked',
      retry: 'countingAfter',
      next: 'listingDuties',
      ways: {
        retry: 'runs the reconciliation command again',
        skip: 'what was lost is then measured by the time of the backup only',
        markDone: 'what did you find in the data?',
        stop: NO_STOP,
      },
    }),
    listingDuties: recovery.createStateConfig({
      meta: {
        step: 'owe',
        title: 'finding out who has to be bound again',
        slice: 'rebind',
        does: ['platform: find the service instance, its bindings and keys, again'],
      },
      invoke: {
        id: 'listDuties',
        src: 'findDuties',
        input: ({ context }) => ({
          restored: restoredSide(context) ?? ('instance' as const),
          ...(context.onlyApps === undefined ? {} : { only: context.onlyApps }),
          ...(context.duties === undefined ? {} : { remember: context.duties }),
        }),
        onDone: {
          target: next,
          actions: [assign({ duties: ({ event }) => event.output, failure: undefined }), 'openObligations'],
        },
        onError: failTo('dutiesFailed'),
      },
    }),
    dutiesFailed: recovery.createStateConfig({
      tags: ['question', 'failed'],
      meta: {
        ...failure({
          step: 'owe',
          title: 'it is not known who has to be bound again',
          retry: 'listingDuties',
          ways: {
            retry: 'asks the platform again',
            skip: 'what was found before the restore is owed, to be settled by hand where need be',
            markDone: { disabled: 'each application is settled by itself, in the next step' },
            stop: NO_STOP,
          },
        }).meta,
        slice: 'human',
      },
      on: {
        'operator.retry': { target: 'listingDuties', actions: 'clearFailure' },
        'operator.skip': {
          target: next,
          actions: [
            { type: 'noteSkip', params: ({ event }) => ({ step: 'owe', reason: event.text }) },
            'openObligations',
          ],
        },
      },
    }),
  };
}
