import { choice, type Option, type RecoveryQuestion, stop } from './ask.ts';
import { backupTask } from './backup-task.ts';
import type { RecoveryContext } from './context.ts';
import { recovery } from './setup.ts';

/** A backup of the present state, before it is replaced: the only way back from a restore in place. */
export function safetyBackup({ next }: { readonly next: string }) {
  return {
    offeringSafety: recovery.createStateConfig({
      tags: ['question'],
      meta: {
        step: 'safety',
        title: 'a backup of the present state',
        slice: 'decide',
        question: askForSafety,
        wayBack: 'with it, restoring that backup brings the present state back',
      },
      on: {
        'operator.backUp': 'takingSafety',
        'operator.goOnWithout': {
          target: next,
          actions: { type: 'noteSkip', params: ({ event }) => ({ step: 'safety', reason: event.text }) },
        },
        'operator.stop': 'stopped',
      },
    }),
    ...backupTask({
      task: 'safety',
      name: 'Safety',
      step: 'safety',
      what: 'the present state',
      slice: 'decide',
      next,
      without: { target: next, hint: 'the present state is lost for good by the restore' },
    }),
  };
}

const USABLE: readonly (string | undefined)[] = ['available', 'provisioned'];

function askForSafety({ facts, instance }: RecoveryContext): RecoveryQuestion {
  const { ground, unsaid } = facts ?? {};
  const isUsable = USABLE.includes(ground?.state);
  const state =
    unsaid === undefined
      ? `${instance} is ${ground?.state ?? 'in no state that is told'}`
      : `${unsaid.by} does not say whether ${instance} is available`;
  const backUp: Option = {
    event: { type: 'operator.backUp' },
    label: 'back up the present state first',
    hint: isUsable
      ? 'however wrong it is, it is the only way back from the restore'
      : `${state}, so the backup may fail; it does no harm`,
    recommended: isUsable || unsaid !== undefined,
  };
  return choice(`the restore replaces everything that ${instance} holds now: back it up first?`, [
    backUp,
    {
      event: { type: 'operator.goOnWithout' },
      label: 'go on without',
      hint: 'what the instance holds now is lost for good',
      needs: { what: 'reason', prompt: 'why is the present state not backed up?' },
    },
    stop,
  ]);
}
