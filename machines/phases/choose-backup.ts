import { assign } from 'xstate';
import { z } from 'zod';
import type { RunContext } from '../context.ts';
import { chooseBackupFallback } from '../fallback/restore-backup.ts';
import { ReachableRange, RestorableBackups } from '../parts/recovery-data.ts';
import { BackupFacts } from '../parts/task-data.ts';
import { changed } from '../setup.ts';
import { choice, type Option, type RunQuestion, sizeOf, stop } from './asking.ts';
import { type Phase, phase, state } from './phase.ts';
import { task } from './task.ts';

/** What can be restored, and what was chosen. */
export const ChooseSlice = z.object({
  backups: RestorableBackups.optional(),
  backup: BackupFacts.optional(),
  range: ReachableRange.optional(),
  time: z.string().optional(),
});

/** Which backup is restored: the one that was named at the start, or one of the newest. */
export function chooseBackup({ onDone }: { readonly onDone: string }): Phase {
  const head = {
    title: 'choose the backup',
    slice: 'decide' as const,
    fallback: chooseBackupFallback,
    onDone,
  };
  return phase(head, (step) => ({
    ...task('listing', {
      verb: 'listBackups',
      title: 'listing the backups that can be restored',
      calls: [{ method: 'GET', path: '/backups', what: 'the backups that are done' }],
      input: () => ({}),
      keep: (context, backups) => changed(context, 'choose', { backups }),
      next: 'evaluating',
      failed: {
        step,
        title: 'the backups could not be listed',
        ways: {
          retry: 'asks the service again; nothing has been changed',
          skip: { disabled: 'without a backup there is nothing to restore' },
          markDone: { disabled: 'only the service knows its backups' },
        },
      },
    }),
    evaluating: state({
      meta: { title: 'whether a backup was named at the start' },
      always: [
        {
          guard: ({ context }) => backupOf(context, context.run.asked.backup) !== undefined,
          target: 'over',
          actions: assign(({ context }) =>
            changed(context, 'choose', { backup: backupOf(context, context.run.asked.backup) }),
          ),
        },
        { target: 'asking' },
      ],
    }),
    asking: state({
      tags: ['question'],
      meta: {
        title: 'which backup is restored',
        question: askForBackup,
        when: ({ choose: { backup } }) => backup === undefined,
      },
      on: {
        'operator.chooseBackup': {
          guard: ({ context, event }) => backupOf(context, event.id) !== undefined,
          target: 'over',
          actions: assign(({ context, event }) =>
            changed(context, 'choose', { backup: backupOf(context, event.id) }),
          ),
        },
        'operator.lookAgain': 'listing',
        'operator.stop': '#stopped',
      },
    }),
  }));
}

const SHOWN = 20;

/** Restoring replaces all data, so none of them is recommended. */
function askForBackup({ choose: { backups }, run: { asked, instance } }: RunContext): RunQuestion {
  const { newest = [], total = 0 } = backups ?? {};
  const more =
    total > SHOWN
      ? `, the ${Math.min(SHOWN, newest.length)} newest of ${total} (an older one: --backup ID)`
      : '';
  const unknown =
    asked.backup === undefined ? '' : `backup ${asked.backup} is not among the backups that are done: `;
  const prompt =
    newest.length === 0
      ? `${instance} has no backup that could be restored`
      : `${unknown}which backup replaces the data of ${instance}${more}?`;
  return choice(prompt, [
    ...newest.slice(0, SHOWN).map(optionOf),
    { event: { type: 'operator.lookAgain' }, label: 'look again', hint: 'asks the service for its list' },
    stop,
  ]);
}

function optionOf(backup: BackupFacts): Option {
  const { id, triggeredAt, finishedAt, size } = backup;
  return {
    event: { type: 'operator.chooseBackup', id },
    label: `backup ${id} of ${triggeredAt ?? finishedAt ?? 'an unknown time'}`,
    hint: `${sizeOf(size)}; everything written after it is lost`,
  };
}

function backupOf({ choose: { backups } }: RunContext, wanted: number | undefined): BackupFacts | undefined {
  return backups?.newest.find(({ id }) => id === wanted);
}
