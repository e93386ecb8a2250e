import { assign } from 'xstate';
import { choice, type Option, type RecoveryQuestion, stop } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

const ID = { source: '[A-Za-z0-9][A-Za-z0-9-]{7,99}', says: 'a guid has letters, digits and hyphens only' };

/** What is recovered, and with which key: from the card, or typed. Nothing of the source is called. */
export function chooseSource({ next }: { readonly next: string }) {
  return {
    weighingCard: recovery.createStateConfig({
      meta: { step: 'source', title: 'whether there is a card' },
      always: [
        {
          guard: 'isAskedFor',
          target: 'choosingKeyForRestore',
          actions: assign({ from: ({ context }) => fromGuid(context, context.asked.guid ?? '') }),
        },
        { guard: 'hasCard', target: 'choosingSource' },
        { target: 'enteringGuid' },
      ],
    }),
    choosingSource: recovery.createStateConfig({
      tags: ['question'],
      meta: { step: 'source', title: 'what is recovered', slice: 'decide', question: askForSource },
      on: {
        'operator.useNewest': {
          target: 'choosingKeyForRestore',
          actions: assign({
            from: ({ context }) => fromGuid(context, context.onRecord?.card?.backupGuid ?? ''),
          }),
        },
        'operator.useBackup': {
          target: 'choosingKeyForRestore',
          actions: assign({ from: ({ context, event }) => fromGuid(context, event.guid) }),
        },
        'operator.typeGuid': 'enteringGuid',
        'operator.stop': 'stopped',
      },
    }),
    enteringGuid: recovery.createStateConfig({
      tags: ['question'],
      meta: { step: 'source', title: 'entering the guid', slice: 'decide', question: askForGuid },
      on: {
        'operator.provideGuid': {
          target: 'choosingKeyForRestore',
          actions: assign({ from: ({ context, event }) => fromGuid(context, event.text) }),
        },
        'operator.stop': 'stopped',
      },
    }),
    choosingKeyForRestore: recovery.createStateConfig({
      tags: ['question'],
      meta: {
        step: 'source',
        title: 'the key that the backup was made with',
        slice: 'decide',
        question: askForRestoreKey,
      },
      on: {
        'operator.useKey': {
          target: next,
          actions: assign({
            from: ({ context, event }) => context.from && { ...context.from, fingerprint: event.fingerprint },
          }),
        },
        'operator.enterKey': 'enteringKeyForRestore',
        'operator.stop': 'stopped',
      },
    }),
    enteringKeyForRestore: recovery.createStateConfig({
      tags: ['question'],
      meta: { step: 'source', title: 'entering the key', slice: 'decide', question: askForKey },
      on: {
        'operator.provideKey': {
          target: 'storingKeyForRestore',
          actions: assign({
            given: ({ event }) => ({ fingerprint: event.fingerprint, length: event.length }),
          }),
        },
        'operator.back': 'choosingKeyForRestore',
      },
    }),
    storingKeyForRestore: recovery.createStateConfig({
      meta: { step: 'source', title: 'storing the key under the name of the source', slice: 'decide' },
      invoke: {
        id: 'storeKeyForRestore',
        src: 'storeKey',
        input: ({ context }) => ({ origin: 'given' as const, given: context.given, minLength: 1 }),
        onDone: {
          target: next,
          actions: assign({
            from: ({ context, event }) =>
              context.from && { ...context.from, fingerprint: event.output.fingerprint },
            failure: undefined,
          }),
        },
        onError: failTo('storeForRestoreFailed'),
      },
    }),
    storeForRestoreFailed: failure({
      step: 'source',
      title: 'the key is not kept',
      retry: 'enteringKeyForRestore',
      ways: {
        retry: 'asks for the key once more; nothing has been sent to the service',
        skip: { disabled: 'the recovery takes the key out of the key store' },
        markDone: { disabled: 'the key must be readable from here' },
      },
    }),
  };
}

/** The `backup_id` of a certain backup is the guid with the time at its end; with the guid alone the newest one is taken. */
function fromGuid({ onRecord }: RecoveryContext, guid: string): NonNullable<RecoveryContext['from']> {
  const { card, proven = [] } = onRecord ?? {};
  const known = proven.find(({ backupId }) => backupId === guid);
  return {
    guid,
    fingerprint: known?.fingerprint ?? card?.fingerprint ?? '',
    what: known !== undefined || /-\d{10,}$/.test(guid) ? 'backup' : 'newest',
    how: known !== undefined || card?.backupGuid === guid ? 'card' : 'typed',
  };
}

function askForSource({ onRecord, instance }: RecoveryContext): RecoveryQuestion {
  const { card, proven = [] } = onRecord ?? {};
  return choice(`what of ${instance} is recovered?`, [
    {
      event: { type: 'operator.useNewest' },
      label: 'its newest backup',
      hint: `by guid ${card?.backupGuid}, from the card of ${card?.preparedAt}`,
      recommended: true,
    },
    ...proven.slice(0, 10).flatMap(({ backupId, id, triggeredAt, fingerprint }): Option[] =>
      backupId === undefined
        ? []
        : [
            {
              event: { type: 'operator.useBackup', guid: backupId },
              label: `backup ${id} of ${triggeredAt ?? 'an unknown time'}, proven`,
              hint: `opened to its last byte with key ${fingerprint}; everything after it is lost`,
            },
          ],
    ),
    {
      event: { type: 'operator.typeGuid' },
      label: 'enter a guid',
      hint: 'the guid of the backups, or the id of a certain one',
    },
    stop,
  ]);
}

function askForGuid({ onRecord, instance }: RecoveryContext): RecoveryQuestion {
  const prompt =
    onRecord?.card === undefined
      ? `there is no card of ${instance} on record: the guid of its backups, or the id of a certain one`
      : 'the guid of the backups, or the id of a certain one';
  return {
    kind: 'text',
    prompt,
    event: 'operator.provideGuid',
    pattern: ID,
    options: [stop],
  } as RecoveryQuestion;
}

function askForRestoreKey({ onRecord, from }: RecoveryContext): RecoveryQuestion {
  const held = onRecord?.keysHeld ?? [];
  const likely = from?.fingerprint ?? '';
  const lacking = likely !== '' && !held.includes(likely) ? ` (key ${likely} is not held here)` : '';
  return choice(`which key was the backup made with?${lacking}`, [
    ...held.map(
      (fingerprint): Option => ({
        event: { type: 'operator.useKey', fingerprint },
        label: `key ${fingerprint}`,
        hint: fingerprint === likely ? 'the one on record for it' : 'held here under the name of the source',
        recommended: fingerprint === likely,
      }),
    ),
    { event: { type: 'operator.enterKey' }, label: 'enter a key', hint: 'typed or pasted, never shown' },
    stop,
  ]);
}

function askForKey(): RecoveryQuestion {
  return {
    kind: 'secret',
    prompt: 'the key that the backup was made with',
    event: 'operator.provideKey',
    twice: false,
    minLength: 1,
    options: [{ event: { type: 'operator.back' }, label: 'back', hint: 'choose a key that is held' }],
  };
}
