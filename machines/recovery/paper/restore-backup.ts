import { type PaperPart, paperFrom } from '../../parts/paper-plan.ts';
import type { PaperStep } from '../../parts/paper-step.ts';
import type { RecoveryContext } from '../context.ts';
import { lookPart, recordPart } from './backing-up.ts';
import { keepBindings, safetyBackup } from './before.ts';
import { knownOr } from './known.ts';
import { owedPart } from './owed.ts';
import { restorePart } from './restoring.ts';

/** The rest of a restore in place for a person without lifeboat. */
export function restoreBackupPaper(context: RecoveryContext, state: string): readonly PaperStep[] {
  return paperFrom(PLAN, ['done', 'unproven', 'stopped'], context, state);
}

const PLAN: readonly PaperPart<RecoveryContext>[] = [
  lookPart(['checking', 'checkFailed', 'sorting', 'blocked'], 'instance', ({ instance }) => instance),
  { states: ['listingBackups', 'listFailed', 'weighingChoice', 'choosingBackup'], steps: choose },
  keepBindings,
  safetyBackup,
  restorePart({
    on: 'instance',
    name: ({ instance }) => instance,
    lost: (context, state) =>
      `All data of ${context.instance} is replaced by that of backup ${chosen(context, state) ?? '(the one that you choose)'}${madeAt(context)}: what was written after it is lost.`,
    before: () => [{ do: 'call', on: 'instance', method: 'GET', path: '' }],
    call: (context, state) => ({ path: '/backups/:id/restore', id: backup(context, state) }),
    field: 'id',
  }),
  owedPart,
  recordPart(
    ['recording', 'recordFailed', 'weighingEnd'],
    'Write down: which backup was restored, the ids of the restore and of the fresh backup, when the last application ran again, and what was lost.',
  ),
];

function choose(context: RecoveryContext, at: string | undefined, state: string): PaperStep[] {
  const id = chosen(context, state);
  return [
    {
      state: at ?? 'choosingBackup',
      title: id === undefined ? 'choose the backup that is restored' : `see that backup ${id} is still there`,
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
}

/** What was asked for at the start counts until the run has to ask, because then it cannot be had. */
function chosen({ chosen: one, asked }: RecoveryContext, state: string): string | undefined {
  return (one?.id ?? (state === 'choosingBackup' ? undefined : asked.backup))?.toString();
}

function backup(context: RecoveryContext, state: string) {
  return knownOr(chosen(context, state), 'CHOSEN_BACKUP', 'the id of the backup that is restored');
}

function madeAt({ chosen: one }: RecoveryContext): string {
  return one?.triggeredAt === undefined ? '' : `, made at ${one.triggeredAt}`;
}
