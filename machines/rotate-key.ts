import { assign } from 'xstate';
import { type RotateKeyContext, startingContext } from './rotate-key/context.ts';
import * as ask from './rotate-key/questions.ts';
import { rotation } from './rotate-key/setup.ts';

/**
 * Rotate the encryption key and verify a backup. The order is the safety: a key is stored and read back before it is
 * sent, a lost answer keeps both keys, and only a backup that was opened to its last byte makes the rotation proven.
 */
export const rotateKeyMachine = rotation.createMachine({
  id: 'rotate-key',
  version: '1',
  context: ({ input }) => startingContext(input),
  initial: 'checking',
  states: {
    checking: {
      meta: {
        step: 'preflight',
        title: 'looking at the instance',
        calls: [
          { method: 'GET', path: '', what: 'the instance and its state' },
          { method: 'GET', path: '/backups-config', what: 'least key length, retention' },
          { method: 'GET', path: '/backups', what: 'the newest backup, tasks under way' },
        ],
      },
      invoke: {
        id: 'preflight',
        src: 'preflight',
        input: ({ context }) => ({ instance: context.instance }),
        onDone: {
          target: 'sorting',
          actions: assign({ facts: ({ event }) => event.output, drift: [], failure: undefined }),
        },
        onError: failTo('checkFailed'),
      },
    },
    checkFailed: failure('checkFailed', 'preflight', 'the instance could not be read', 'checking'),
    sorting: {
      meta: { step: 'preflight', title: 'weighing what was found' },
      always: [
        { guard: 'isBlocked', target: 'blocked', actions: 'keepFirstBlocker' },
        { target: 'weighingOld' },
      ],
    },
    blocked: failure('blocked', 'preflight', 'something stands in the way', 'checking', 'weighingOld'),
    weighingOld: {
      meta: { step: 'old-backup', title: 'whether there is a backup to prove' },
      always: [{ guard: 'hasNothingToProve', target: 'choosingKey' }, { target: 'offeringOldProof' }],
    },
    offeringOldProof: {
      tags: ['question'],
      meta: { step: 'old-backup', title: 'the newest backup under the old key', question: ask.askForOldProof },
      on: {
        'operator.prove': { target: 'fetchingOld', actions: assign({ oldBackup: { purpose: 'prove' as const } }) },
        'operator.archive': {
          target: 'fetchingOld',
          actions: assign({ oldBackup: { purpose: 'archive' as const } }),
        },
        'operator.goOn': {
          target: 'choosingKey',
          actions: {
            type: 'noteSkip',
            params: { step: 'old-backup', reason: 'no key of this instance was held that could open it' },
          },
        },
        'operator.skip': {
          target: 'choosingKey',
          actions: { type: 'noteSkip', params: ({ event }) => ({ step: 'old-backup', reason: event.text }) },
        },
        'operator.stop': 'stopped',
      },
    },
    fetchingOld: {
      meta: {
        step: 'old-backup',
        title: 'downloading the old backup',
        calls: [{ method: 'GET', path: '/backups/:id/download', what: 'the newest backup under the old key' }],
      },
      invoke: {
        id: 'fetchOld',
        src: 'downloadBackup',
        input: ({ context }) => ({
          id: context.facts?.newest?.id ?? 0,
          size: context.facts?.newest?.size,
          purpose: context.oldBackup?.purpose ?? 'prove',
        }),
        onDone: {
          target: 'verifyingOld',
          actions: assign({
            oldBackup: ({ context, event }) => ({
              purpose: context.oldBackup?.purpose ?? 'prove',
              file: event.output,
            }),
          }),
        },
        onError: failTo('oldProofFailed'),
      },
    },
    verifyingOld: {
      meta: { step: 'old-backup', title: 'reading the old backup to its last byte' },
      invoke: {
        id: 'verifyOld',
        src: 'verifyBackup',
        input: ({ context }) => ({
          path: context.oldBackup?.file?.path ?? '',
          backup: context.facts?.newest?.id ?? 0,
          size: context.facts?.newest?.size,
          discard: context.oldBackup?.purpose === 'prove',
        }),
        onDone: {
          target: 'choosingKey',
          actions: assign({
            oldBackup: ({ context, event }) => ({
              purpose: context.oldBackup?.purpose ?? 'prove',
              ...context.oldBackup,
              verification: event.output,
            }),
          }),
        },
        onError: failTo('oldProofFailed'),
      },
    },
    oldProofFailed: failure(
      'oldProofFailed',
      'old-backup',
      'the old backup is not proven',
      'fetchingOld',
      'choosingKey',
    ),
    choosingKey: {
      tags: ['question'],
      meta: { step: 'key', title: 'the new key', question: ask.askForKeyOrigin },
      on: {
        'operator.generate': {
          target: 'storing',
          actions: assign({ keyOrigin: 'generated' as const, given: undefined }),
        },
        'operator.enterKey': 'enteringKey',
        'operator.stop': 'stopped',
      },
    },
    enteringKey: {
      tags: ['question'],
      meta: { step: 'key', title: 'entering the new key', question: ask.askForKey },
      on: {
        'operator.provideKey': {
          target: 'storing',
          actions: assign({
            keyOrigin: 'given' as const,
            given: ({ event }) => ({ fingerprint: event.fingerprint, length: event.length }),
          }),
        },
        'operator.back': 'choosingKey',
      },
    },
    storing: {
      meta: { step: 'store', title: 'storing the new key' },
      invoke: {
        id: 'storeKey',
        src: 'storeKey',
        input: ({ context }) => ({
          origin: context.keyOrigin,
          given: context.given,
          minLength: context.facts?.ground.minKeyLength ?? 0,
        }),
        onDone: { target: 'readingBack', actions: assign({ key: ({ event }) => event.output, failure: undefined }) },
        onError: failTo('storeFailed'),
      },
    },
    readingBack: {
      meta: { step: 'store', title: 'reading the new key back' },
      invoke: {
        id: 'readBackKey',
        src: 'readBackKey',
        input: ({ context }) => ({ key: held(context) }),
        onDone: { target: 'confirming' },
        onError: failTo('storeFailed'),
      },
    },
    storeFailed: failure('storeFailed', 'store', 'the new key is not safely stored', 'choosingKey'),
    confirming: {
      tags: ['question'],
      meta: { step: 'confirm', title: 'the last look before the change', question: ask.askForConfirmation },
      on: {
        'operator.confirm': { guard: 'nameMatches', target: 'rechecking' },
        'operator.stop': 'stopped',
      },
    },
    rechecking: {
      meta: { step: 'confirm', title: 'looking whether anything has changed meanwhile' },
      invoke: {
        id: 'recheck',
        src: 'recheck',
        input: ({ context }) => ({ instance: context.instance }),
        onDone: {
          target: 'comparing',
          actions: { type: 'keepDrift', params: ({ event }) => ({ ground: event.output }) },
        },
        onError: failTo('setFailed'),
      },
    },
    comparing: {
      meta: { step: 'confirm', title: 'comparing with what was confirmed' },
      always: [{ guard: 'groundHasShifted', target: 'confirming' }, { target: 'settingKey' }],
    },
    settingKey: {
      tags: ['destructive'],
      meta: {
        step: 'change',
        title: 'setting the new key',
        calls: [{ method: 'PATCH', path: '/backups-config', what: 'encryption_key = the new key' }],
        wayBack: 'set the old key again the same way; backups made meanwhile keep the key they were made with',
      },
      invoke: {
        id: 'setKey',
        src: 'setKey',
        input: ({ context }) => ({
          fingerprint: held(context).fingerprint,
          previous: context.facts?.currentKey,
        }),
        onDone: { target: 'weighingAnswer', actions: assign({ setting: ({ event }) => event.output, failure: undefined }) },
        onError: failTo('setFailed'),
      },
    },
    weighingAnswer: {
      meta: { step: 'change', title: 'weighing the answer' },
      always: [{ guard: 'answerWasLost', target: 'keyUncertain' }, { target: 'creatingBackup' }],
    },
    keyUncertain: {
      tags: ['question', 'in-doubt'],
      meta: { step: 'change', title: 'KEY UNCERTAIN', question: ask.askAboutUncertainKey },
      on: {
        'operator.goOn': 'creatingBackup',
        'operator.setAgain': 'rechecking',
        'operator.stop': 'stopped',
      },
    },
    setFailed: {
      tags: ['question', 'failed'],
      meta: { step: 'change', title: 'the key was not set', question: ask.askAboutFailure('setFailed') },
      on: {
        'operator.retry': { target: 'rechecking', actions: 'clearFailure' },
        'operator.skip': {
          target: 'creatingBackup',
          actions: { type: 'noteSkip', params: ({ event }) => ({ step: 'change', reason: event.text }) },
        },
        'operator.markDone': {
          target: 'creatingBackup',
          actions: assign({
            failure: undefined,
            setting: ({ event }) => ({ answer: 'unknown' as const, outside: event.text }),
          }),
        },
        'operator.stop': 'stopped',
      },
    },
    creatingBackup: {
      meta: {
        step: 'backup',
        title: 'asking for a backup',
        calls: [{ method: 'POST', path: '/backups', what: 'one backup under the new key' }],
        wayBack: 'a backup too many is deleted by retention; nothing else changes',
      },
      invoke: {
        id: 'createBackup',
        src: 'createBackup',
        input: ({ context }) => ({ intent: `backup-${context.intents}` }),
        onDone: {
          target: 'weighingBackup',
          actions: assign({
            failure: undefined,
            backup: ({ event }) =>
              event.output.landed ? { id: event.output.id, adopted: event.output.adopted } : undefined,
            absences: ({ context, event }) => (event.output.landed ? 0 : context.absences + 1),
          }),
        },
        onError: [
          {
            guard: { type: 'isDoubt', params: ({ event }) => ({ error: event.error }) },
            ...failTo('backupInDoubt'),
          },
          failTo('backupFailed'),
        ],
      },
    },
    weighingBackup: {
      meta: { step: 'backup', title: 'weighing the answer' },
      always: [
        { guard: 'backupHasLanded', target: 'waitingForBackup' },
        { guard: 'mayAskAgain', target: 'creatingBackup', actions: 'nextIntent' },
        { target: 'backupFailed', actions: 'keepAbsence' },
      ],
    },
    backupInDoubt: {
      tags: ['question', 'in-doubt'],
      meta: { step: 'backup', title: 'was the backup created?', question: ask.askAboutLostBackup },
      on: {
        'operator.adopt': {
          target: 'waitingForBackup',
          actions: assign({ failure: undefined, backup: ({ event }) => ({ id: event.id, adopted: true }) }),
        },
        'operator.lookAgain': { target: 'creatingBackup', actions: 'clearFailure' },
        'operator.sendAgain': { target: 'creatingBackup', actions: ['clearFailure', 'forgetAbsences', 'nextIntent'] },
        'operator.stop': 'stopped',
      },
    },
    waitingForBackup: {
      tags: ['waiting'],
      meta: {
        step: 'backup',
        title: 'waiting for the backup',
        calls: [{ method: 'GET', path: '/backups/:id', what: 'its status, until it is done' }],
      },
      invoke: {
        id: 'waitForBackup',
        src: 'waitForBackup',
        input: ({ context }) => ({ id: context.backup?.id ?? 0 }),
        onDone: {
          target: 'downloading',
          actions: assign({
            backup: ({ context, event }) => ({
              id: event.output.id,
              adopted: context.backup?.adopted ?? false,
              facts: event.output,
            }),
          }),
        },
        onError: failTo('backupFailed'),
      },
    },
    backupFailed: {
      tags: ['question', 'failed'],
      meta: { step: 'backup', title: 'there is no backup', question: ask.askAboutFailure('backupFailed') },
      on: {
        'operator.retry': { target: 'creatingBackup', actions: ['clearFailure', 'forgetAbsences', 'nextIntent'] },
        'operator.stop': 'stopped',
      },
    },
    downloading: {
      meta: {
        step: 'download',
        title: 'downloading the new backup',
        calls: [{ method: 'GET', path: '/backups/:id/download', what: 'the new backup, encrypted' }],
      },
      invoke: {
        id: 'download',
        src: 'downloadBackup',
        input: ({ context }) => ({
          id: context.backup?.id ?? 0,
          size: context.backup?.facts?.size,
          purpose: 'archive' as const,
        }),
        onDone: { target: 'verifying', actions: assign({ file: ({ event }) => event.output, failure: undefined }) },
        onError: failTo('downloadFailed'),
      },
    },
    downloadFailed: {
      tags: ['question', 'failed'],
      meta: { step: 'download', title: 'the download failed', question: ask.askAboutFailure('downloadFailed') },
      on: {
        'operator.retry': { target: 'downloading', actions: 'clearFailure' },
        'operator.skip': {
          target: 'unproven',
          actions: { type: 'noteSkip', params: ({ event }) => ({ step: 'download', reason: event.text }) },
        },
        'operator.markDone': {
          target: 'verifying',
          actions: assign({
            failure: undefined,
            file: ({ event }) => ({ path: event.text, bytes: 0, sha256: '', seconds: 0 }),
          }),
        },
        'operator.stop': 'stopped',
      },
    },
    verifying: {
      meta: { step: 'verify', title: 'opening the backup with the new key' },
      invoke: {
        id: 'verify',
        src: 'verifyBackup',
        input: ({ context }) => ({
          path: context.file?.path ?? '',
          backup: context.backup?.id ?? 0,
          size: context.backup?.facts?.size,
          expected: held(context).fingerprint,
        }),
        onDone: {
          target: 'weighingKey',
          actions: assign({ verification: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo('verifyFailed'),
      },
    },
    weighingKey: {
      meta: { step: 'verify', title: 'which key opened it' },
      always: [{ guard: 'newKeyOpens', target: 'testingOldKeys' }, { target: 'keyNotInForce' }],
    },
    keyNotInForce: {
      tags: ['question', 'failed'],
      meta: { step: 'verify', title: 'the new key is not in force', question: ask.askAboutKeyNotInForce },
      on: {
        'operator.setAgain': {
          target: 'confirming',
          actions: ['nextIntent', assign({ setting: undefined, verification: undefined, file: undefined })],
        },
        'operator.stop': 'stopped',
      },
    },
    verifyFailed: failure('verifyFailed', 'verify', 'the backup is not verified', 'downloading', 'unproven'),
    testingOldKeys: {
      meta: { step: 'negative', title: 'trying the old keys, which must fail' },
      invoke: {
        id: 'negativeTest',
        src: 'negativeTest',
        input: ({ context }) => ({ path: context.file?.path ?? '', except: held(context).fingerprint }),
        onDone: { target: 'weighingNegative', actions: assign({ negative: ({ event }) => event.output }) },
        onError: failTo('negativeFailed'),
      },
    },
    weighingNegative: {
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
    },
    negativeFailed: failure('negativeFailed', 'negative', 'the negative test did not pass', 'testingOldKeys', 'recording'),
    recording: {
      meta: { step: 'record', title: 'writing the record' },
      invoke: {
        id: 'recordRotation',
        src: 'recordRotation',
        input: ({ context }) => ({ record: recordOf(context) }),
        onDone: { target: 'done', actions: assign({ proven: ({ event }) => event.output.proven }) },
        onError: failTo('recordFailed'),
      },
    },
    recordFailed: failure('recordFailed', 'record', 'the record is not written', 'recording'),
    done: { type: 'final', tags: ['done'], meta: { step: 'record', title: 'rotated and proven' } },
    unproven: { type: 'final', tags: ['done'], meta: { step: 'record', title: 'closed without proof' } },
    stopped: { type: 'final', tags: ['done'], meta: { step: 'record', title: 'stopped' } },
  },
});

/** Where an activity's failure leads. The failure is data in the context; the state shows it and asks. */
function failTo<Target extends string>(target: Target) {
  return {
    target,
    actions: {
      type: 'keepFailure' as const,
      params: ({ event }: { event: { error: unknown } }) => ({ error: event.error }),
    },
  };
}

/** A failure state: retry leads to `retry`; skip and mark-done lead to `next`, or are closed when there is none. */
function failure(state: keyof typeof ask.FAILURE_WAYS, step: string, title: string, retry: string, next?: string) {
  const note = (word: string) => ({
    target: next,
    actions: {
      type: 'noteSkip' as const,
      params: ({ event }: { event: { text: string } }) => ({ step, reason: `${word}${event.text}` }),
    },
  });
  return {
    tags: ['question' as const, 'failed' as const],
    meta: { step, title, question: ask.askAboutFailure(state) },
    on: {
      'operator.retry': { target: retry, actions: 'clearFailure' as const },
      'operator.stop': 'stopped',
      ...(next === undefined
        ? {}
        : { 'operator.skip': note(''), 'operator.markDone': note('done outside: ') }),
    },
  };
}

/** The stored key; states after `storing` cannot be reached without one. */
function held(context: RotateKeyContext) {
  if (context.key === undefined) throw new Error('no key is stored at this point');
  return context.key;
}

function recordOf(context: RotateKeyContext) {
  const { backup, verification, negative } = context;
  if (backup === undefined || verification === undefined) throw new Error('nothing is verified at this point');
  return {
    fingerprint: held(context).fingerprint,
    backup: backup.facts ?? { id: backup.id, status: 'unknown' },
    verification,
    ...(negative === undefined ? {} : { negative }),
    settles: context.setting?.answer !== 'accepted',
  };
}
