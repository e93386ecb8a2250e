import { assign } from 'xstate';
import { backupTask } from './recovery/backup-task.ts';
import { check } from './recovery/check.ts';
import { startingContext } from './recovery/context.ts';
import { failTo, failure } from './recovery/failing.ts';
import { endings } from './recovery/record.ts';
import { recovery } from './recovery/setup.ts';
import { proveBackup } from './recovery/verify-states.ts';

/** Take a backup and prove it: a key that is held opens it to its last byte, and no other one does. Nothing is replaced. */
export const backUpAndVerifyMachine = recovery.createMachine({
  id: 'back-up-and-verify',
  version: '1',
  context: ({ input }) => startingContext(input),
  initial: 'checking',
  states: {
    ...check({ tolerant: false, next: 'takingBackup' }),
    ...backupTask({
      task: 'proof',
      name: 'Backup',
      step: 'backup',
      what: 'the instance',
      slice: 'decide',
      next: 'downloading',
    }),
    ...proveBackup({
      without: { target: 'unproven', hint: 'the backup is there, and stays unproven' },
      next: 'testingOtherKeys',
    }),
    testingOtherKeys: recovery.createStateConfig({
      meta: { step: 'negative', title: 'trying the other keys, which must fail' },
      invoke: {
        id: 'negativeTest',
        src: 'negativeTest',
        input: ({ context }) => ({
          path: context.file?.path ?? '',
          except: context.verification?.opens ?? '',
        }),
        onDone: { target: 'weighingNegative', actions: assign({ negative: ({ event }) => event.output }) },
        onError: failTo('negativeFailed'),
      },
    }),
    weighingNegative: recovery.createStateConfig({
      meta: { step: 'negative', title: 'whether another key opens it' },
      always: [
        {
          guard: 'anotherKeyOpens',
          target: 'negativeFailed',
          actions: assign({
            failure: ({ context }) => ({
              code: 'backup.another-key-opens',
              shortMessage: `another key opens the backup as well: ${context.negative?.opened.join(', ')}`,
              hints: ['the same key may be stored under two names: look at `lifeboat keys list`'],
              evidence: {},
            }),
          }),
        },
        { target: 'recordingProof' },
      ],
    }),
    negativeFailed: failure({
      step: 'negative',
      title: 'the negative test did not pass',
      retry: 'testingOtherKeys',
      next: 'recordingProof',
      ways: {
        retry: 'tries the other keys on the backup again',
        skip: 'it stays open whether another key opens it',
        markDone: 'how was it tested that the other keys fail?',
      },
    }),
    recordingProof: recovery.createStateConfig({
      meta: { step: 'record', title: 'writing the proof' },
      invoke: {
        id: 'recordProof',
        src: 'recordProof',
        input: ({ context }) => {
          if (context.proof.backup === undefined || context.verification === undefined)
            throw new Error('nothing is verified at this point');
          return {
            backup: context.proof.backup,
            verification: context.verification,
            ...(context.negative === undefined ? {} : { negative: context.negative }),
          };
        },
        onDone: { target: 'done', actions: 'keepRecorded' },
        onError: failTo('recordFailed'),
      },
    }),
    recordFailed: failure({
      step: 'record',
      title: 'the proof is not written',
      retry: 'recordingProof',
      ways: {
        retry: 'writes the proof again',
        skip: { disabled: 'a proof that is not on record proves nothing' },
        markDone: { disabled: 'the record is written here or nowhere' },
      },
    }),
    ...endings('backed up and proven', 'closed without proof'),
  },
});
