import { assign } from 'xstate';
import { failTo, failure, held, recordOf } from './failing.ts';
import * as ask from './questions.ts';
import { rotation } from './setup.ts';

/** What the rotation is worth: the new key opens the backup to its last byte, no old key does, and the ledger knows it. */
export const proof = {
  verifying: rotation.createStateConfig({
    meta: { step: 'verify', title: 'opening the backup with the new key' },
    invoke: {
      id: 'verify',
      src: 'verifyBackup',
      input: ({ context }) => ({
        path: context.file?.path ?? '',
        backup: context.backup?.id ?? 0,
        expected: held(context).fingerprint,
      }),
      onDone: {
        target: 'weighingKey',
        actions: assign({ verification: ({ event }) => event.output, failure: undefined }),
      },
      onError: failTo('verifyFailed'),
    },
  }),
  weighingKey: rotation.createStateConfig({
    meta: { step: 'verify', title: 'which key opened it' },
    always: [{ guard: 'newKeyOpens', target: 'testingOldKeys' }, { target: 'keyNotInForce' }],
  }),
  keyNotInForce: rotation.createStateConfig({
    tags: ['question', 'failed'],
    meta: { step: 'verify', title: 'the new key is not in force', question: ask.askAboutKeyNotInForce },
    on: {
      // One that was adopted after a lost answer can be older than the new key: it proves nothing against it.
      'operator.retry': {
        target: 'creatingBackup',
        actions: [
          'forgetAbsences',
          'nextIntent',
          assign({ verification: undefined, file: undefined, failure: undefined }),
        ],
      },
      'operator.setAgain': {
        target: 'refreshing',
        actions: ['nextIntent', assign({ setting: undefined, verification: undefined, file: undefined })],
      },
      'operator.stop': 'stopped',
    },
  }),
  verifyFailed: failure('verifyFailed', 'verify', 'the backup is not verified', 'downloading', 'unproven'),
  testingOldKeys: rotation.createStateConfig({
    meta: { step: 'negative', title: 'trying the old keys, which must fail' },
    invoke: {
      id: 'negativeTest',
      src: 'negativeTest',
      input: ({ context }) => ({ path: context.file?.path ?? '', except: held(context).fingerprint }),
      onDone: { target: 'weighingNegative', actions: assign({ negative: ({ event }) => event.output }) },
      onError: failTo('negativeFailed'),
    },
  }),
  weighingNegative: rotation.createStateConfig({
    meta: { step: 'negative', title: 'whether an old key still opens it' },
    always: [
      {
        guard: 'anOldKeyOpens',
        target: 'negativeFailed',
        actions: assign({
          failure: ({ context }) => ({
            code: 'rotation.old-key-opens',
            shortMessage: `an old key still opens the new backup: ${context.negative?.opened.join(', ')}`,
            hints: ['the same key may be stored under two names: look at `lifeboat keys list`'],
            evidence: {},
          }),
        }),
      },
      { target: 'recording' },
    ],
  }),
  negativeFailed: failure(
    'negativeFailed',
    'negative',
    'the negative test did not pass',
    'testingOldKeys',
    'recording',
  ),
  recording: rotation.createStateConfig({
    meta: { step: 'record', title: 'writing the record' },
    invoke: {
      id: 'recordRotation',
      src: 'recordRotation',
      input: ({ context }) => ({ record: recordOf(context) }),
      onDone: { target: 'done', actions: assign({ proven: ({ event }) => event.output.proven }) },
      onError: failTo('recordFailed'),
    },
  }),
  recordFailed: failure('recordFailed', 'record', 'the record is not written', 'recording'),
};
