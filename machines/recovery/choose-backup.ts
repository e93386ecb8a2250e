import { assign } from 'xstate';
import type { BackupFacts } from '../parts/verbs.ts';
import { choice, type Option, type RecoveryQuestion, sizeOf, stop } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

/** Which backup is restored: the one that was named at the start, or one of the newest. */
export function chooseBackup({ next }: { readonly next: string }) {
  return {
    listingBackups: recovery.createStateConfig({
      meta: {
        step: 'choose',
        title: 'looking which backups can be restored',
        slice: 'decide',
        calls: [{ method: 'GET', path: '/backups', what: 'the backups that are done' }],
      },
      invoke: {
        id: 'listBackups',
        src: 'listBackups',
        input: {},
        onDone: {
          target: 'weighingChoice',
          actions: assign({ backups: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo('listFailed'),
      },
    }),
    listFailed: failure({
      step: 'choose',
      title: 'the backups could not be listed',
      retry: 'listingBackups',
      ways: {
        retry: 'asks the service again; nothing has been changed',
        skip: { disabled: 'without a backup there is nothing to restore' },
        markDone: { disabled: 'only the service knows its backups' },
      },
    }),
    weighingChoice: recovery.createStateConfig({
      meta: { step: 'choose', title: 'whether a backup was named at the start' },
      always: [
        {
          guard: 'isChosenAlready',
          target: next,
          actions: assign({ chosen: ({ context }) => backupOf(context, context.asked.backup) }),
        },
        { target: 'choosingBackup' },
      ],
    }),
    choosingBackup: recovery.createStateConfig({
      tags: ['question'],
      meta: { step: 'choose', title: 'which backup is restored', slice: 'decide', question: askForBackup },
      on: {
        'operator.chooseBackup': {
          guard: 'isListed',
          target: next,
          actions: assign({ chosen: ({ context, event }) => backupOf(context, event.id) }),
        },
        'operator.lookAgain': 'listingBackups',
        'operator.stop': 'stopped',
      },
    }),
  };
}

const SHOWN = 20;

/** Restoring replaces all data, so none of them is recommended. */
function askForBackup({ backups, asked, instance }: RecoveryContext): RecoveryQuestion {
  const { newest = [], total = 0 } = backups ?? {};
  const more =
    total > SHOWN
      ? `, the ${Math.min(SHOWN, newest.length)} newest of ${total} (an older one: --backup ID)`
      : '';
  const unknown = asked.backup === undefined ? '' : `backup ${asked.backup} is none that is done: `;
  const prompt =
    newest.length === 0
      ? `${instance} has no backup that could be restored`
      : `${unknown}which backup shall replace the data of ${instance}${more}?`;
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

function backupOf({ backups }: RecoveryContext, wanted: number | undefined): BackupFacts | undefined {
  return backups?.newest.find(({ id }) => id === wanted);
}
