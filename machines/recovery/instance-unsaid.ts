import { choice, noStop, type RecoveryQuestion } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { recovery } from './setup.ts';

/**
 * Whether the restored instance is available, where no call of its interface says it (service-api.md section
 * 4.4). A person may have seen it; whatever they say, `ready` stays empty, so that the run closes without
 * proof.
 */
export function instanceUnsaid({ next }: { readonly next: string }) {
  return {
    checkingInterface: recovery.createStateConfig({
      meta: { step: 'restore', title: 'whether the service can say that the instance is available' },
      always: [{ guard: 'isUnsaid', target: 'instanceUnsaid' }, { target: 'waitingForInstance' }],
    }),
    instanceUnsaid: recovery.createStateConfig({
      tags: ['question'],
      meta: {
        step: 'restore',
        title: 'is the instance available? the service does not say',
        slice: 'human',
        question: askWhetherAvailable,
      },
      on: {
        'operator.markDone': {
          target: next,
          actions: {
            type: 'noteSkip',
            params: ({ event }) => ({
              step: 'restore',
              reason: `available, on the operator's word: ${event.text}`,
            }),
          },
        },
        'operator.goOn': {
          target: next,
          actions: {
            type: 'noteSkip',
            params: ({ context }) => ({
              step: 'restore',
              reason: `${unsaidWords(context)}, and nobody looked`,
            }),
          },
        },
      },
    }),
  };
}

function unsaidWords({ facts, instance }: RecoveryContext): string {
  return `${facts?.unsaid?.by ?? 'the service'} does not say whether ${instance} is available`;
}

function askWhetherAvailable(context: RecoveryContext): RecoveryQuestion {
  return choice(`the restore is done, but ${unsaidWords(context)}: is it?`, [
    {
      event: { type: 'operator.markDone' },
      label: 'it is available',
      hint: 'on your word: the record says so, and the run closes without proof',
      needs: { what: 'evidence', prompt: 'how do you know that it is available?' },
    },
    {
      event: { type: 'operator.goOn' },
      label: 'go on without knowing',
      hint: 'nothing is sent by this; the record says that nobody looked, and the run closes without proof',
      recommended: true,
    },
    noStop,
  ]);
}
