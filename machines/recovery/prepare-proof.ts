import { assign } from 'xstate';
import { choice, type RecoveryQuestion, stop } from './ask.ts';
import { backupTask } from './backup-task.ts';
import { preparedCard, provenBackup } from './card-draft.ts';
import type { RecoveryContext } from './context.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';
import { proveBackup } from './verify-states.ts';

const UNPROVEN = 'the card is made, and no backup of it is proven';

/** A backup that the card can name as proven, and the card itself. */
export function prepareProof({ next }: { readonly next: string }) {
  return {
    weighingRecord: recovery.createStateConfig({
      meta: { step: 'prove', title: 'whether the newest backup is proven already' },
      always: [{ guard: 'isProvenOnRecord', target: 'recordingCard' }, { target: 'offeringProof' }],
    }),
    offeringProof: recovery.createStateConfig({
      tags: ['question'],
      meta: { step: 'prove', title: 'a proven backup for the card', question: askForProof },
      on: {
        'operator.prove': 'downloading',
        'operator.backUp': 'takingProof',
        'operator.goOnWithout': {
          target: 'recordingCard',
          actions: { type: 'noteSkip', params: ({ event }) => ({ step: 'prove', reason: event.text }) },
        },
        'operator.stop': 'stopped',
      },
    }),
    ...backupTask({
      task: 'proof',
      name: 'Proof',
      step: 'prove',
      what: 'the instance',
      slice: 'decide',
      next: 'downloading',
      without: { target: 'recordingCard', hint: UNPROVEN },
    }),
    ...proveBackup({
      without: { target: 'recordingCard', hint: UNPROVEN },
      next: 'weighingKey',
    }),
    weighingKey: recovery.createStateConfig({
      meta: { step: 'prove', title: 'which key opened it' },
      always: [{ guard: 'newKeyOpens', target: 'recordingProof' }, { target: 'keyNotInForce' }],
    }),
    keyNotInForce: recovery.createStateConfig({
      tags: ['question', 'failed'],
      meta: { step: 'prove', title: 'the new key is not in force', question: askAboutKeyNotInForce },
      on: {
        // One that was adopted after a lost answer can be older than the new key: it proves nothing against it.
        'operator.retry': {
          target: 'takingProof',
          actions: [
            assign({ verification: undefined, file: undefined, failure: undefined }),
            { type: 'forgetAbsences', params: { task: 'proof' } },
            { type: 'nextIntent', params: { task: 'proof' } },
          ],
        },
        'operator.setAgain': {
          target: 'confirmingKey',
          actions: [
            assign({ verification: undefined, file: undefined, setting: undefined }),
            { type: 'nextIntent', params: { task: 'proof' } },
          ],
        },
        'operator.goOnWithout': {
          target: 'recordingProof',
          actions: [
            assign({ key: undefined }),
            { type: 'noteSkip', params: ({ event }) => ({ step: 'key', reason: event.text }) },
          ],
        },
        'operator.stop': 'stopped',
      },
    }),
    recordingProof: recovery.createStateConfig({
      meta: { step: 'prove', title: 'writing the proof' },
      invoke: {
        id: 'recordProof',
        src: 'recordProof',
        input: ({ context }) => {
          const backup = provenBackup(context);
          if (backup === undefined || context.verification === undefined)
            throw new Error('nothing is verified at this point');
          return { backup, verification: context.verification };
        },
        onDone: { target: 'recordingCard', actions: 'clearFailure' },
        onError: failTo('recordProofFailed'),
      },
    }),
    recordProofFailed: failure({
      step: 'prove',
      title: 'the proof is not written',
      retry: 'recordingProof',
      next: 'recordingCard',
      ways: {
        retry: 'writes the proof again',
        skip: 'the card names the backup, and the ledger does not know it as proven',
        markDone: { disabled: 'the record is written here or nowhere' },
      },
    }),
    recordingCard: recovery.createStateConfig({
      meta: { step: 'card', title: 'writing the recovery card' },
      invoke: {
        id: 'recordCard',
        src: 'recordCard',
        input: ({ context }) => ({ card: preparedCard(context) }),
        onDone: {
          target: next,
          actions: assign({ card: ({ context }) => preparedCard(context), failure: undefined }),
        },
        onError: failTo('recordCardFailed'),
      },
    }),
    recordCardFailed: failure({
      step: 'card',
      title: 'the card is not written',
      retry: 'recordingCard',
      ways: {
        retry: 'writes the card again',
        skip: { disabled: 'a card that is not on record helps nobody' },
        markDone: { disabled: 'the record is written here or nowhere' },
      },
    }),
  };
}

function askForProof({ facts, key }: RecoveryContext): RecoveryQuestion {
  const { newest, keysHeld = [] } = facts ?? {};
  const why = whyNotProvable(newest === undefined, newest?.downloadable, keysHeld.length, key !== undefined);
  return choice('a card is worth what its backup is: prove one?', [
    {
      event: { type: 'operator.prove' },
      label: newest === undefined ? 'prove the newest backup' : `prove backup ${newest.id}, the newest`,
      hint: 'downloads it, opens it with a key held here and reads it to its last byte',
      ...(why === undefined ? { recommended: true } : { disabled: why }),
    },
    {
      event: { type: 'operator.backUp' },
      label: 'take a new backup and prove it',
      hint: 'takes longer, and shows what is in force now',
      recommended: why !== undefined && (keysHeld.length > 0 || key !== undefined),
    },
    {
      event: { type: 'operator.goOnWithout' },
      label: 'go on without',
      hint: UNPROVEN,
      needs: { what: 'reason', prompt: 'why is no backup proven?' },
    },
    stop,
  ]);
}

function whyNotProvable(
  isNone: boolean,
  downloadable: boolean | undefined,
  keys: number,
  isRotated: boolean,
): string | undefined {
  if (isNone) return 'there is no backup that is done';
  if (isRotated) return 'it was made before the key was set';
  if (downloadable === false) return 'the service does not give it out for a download';
  return keys === 0 ? 'no key of this instance is held here' : undefined;
}

function askAboutKeyNotInForce({ verification, proof }: RecoveryContext): RecoveryQuestion {
  const { id, adopted } = proof.landed ?? {};
  const finding = `backup ${id} opens with key ${verification?.opens}, not with the new one`;
  return choice(
    adopted
      ? `${finding}; it was found in the list after a lost answer, and may be from before the change`
      : `${finding}: the change did not take`,
    [
      // Only a backup of which it is not known whether it was made after the change leaves anything to another one.
      ...(adopted === true
        ? [
            {
              event: { type: 'operator.retry' as const },
              label: 'let another backup judge',
              hint: 'asks for one more: only one that was made after the change tells whether it took',
            },
          ]
        : []),
      {
        event: { type: 'operator.setAgain' },
        label: 'set the new key again',
        hint: 'asks for the typed name once more',
      },
      {
        event: { type: 'operator.goOnWithout' },
        label: 'make the card with the key that opens it',
        hint: 'the new key stays in the key store, unused',
        needs: { what: 'reason', prompt: 'why is the key not set again?' },
      },
      stop,
    ],
  );
}
