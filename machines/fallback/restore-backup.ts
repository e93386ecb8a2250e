import type { RunContext } from '../context.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { knownOr } from './known.ts';
import type { ManualRestore } from './restoring.ts';

/** How it is restored by hand. */
export const restoreBackupByHand: ManualRestore = {
  on: 'instance',
  name: ({ run: { instance } }) => instance,
  lost: (context, state) =>
    `All data of ${context.run.instance} is replaced by that of backup ${chosen(context, state) ?? '(the one that you choose)'}${madeAt(context)}: what was written after it is lost.`,
  before: () => [{ do: 'call', on: 'instance', method: 'GET', path: '' }],
  call: (context, state) => ({ path: '/backups/:id/restore', id: backup(context, state) }),
  field: 'id',
};

/** What is restored, chosen by hand. */
export const chooseBackupFallback: FallbackPart<RunContext> = (context, at, state) => {
  const id = chosen(context, state);
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
function chosen({ choose: { backup: one }, run: { asked } }: RunContext, state: string): string | undefined {
  return (one?.id ?? (state === 'choose.asking' ? undefined : asked.backup))?.toString();
}

function backup(context: RunContext, state: string) {
  return knownOr(chosen(context, state), 'CHOSEN_BACKUP', 'the id of the backup that is restored');
}

function madeAt({ choose: { backup: one } }: RunContext): string {
  return one?.triggeredAt === undefined ? '' : `, made at ${one.triggeredAt}`;
}
