import { assign } from 'xstate';
import { GROUND_CALLS } from '../parts/ground.ts';
import { failTo, failure, held } from './failing.ts';
import * as ask from './questions.ts';
import { rotation } from './setup.ts';

/** The new key: chosen, stored, read back, confirmed by name, and only then sent. A lost answer keeps both keys. */
export const keyChange = {
  choosingKey: rotation.createStateConfig({
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
  }),
  enteringKey: rotation.createStateConfig({
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
  }),
  storing: rotation.createStateConfig({
    meta: { step: 'store', title: 'storing the new key' },
    invoke: {
      id: 'storeKey',
      src: 'storeKey',
      input: ({ context }) => ({
        origin: context.keyOrigin,
        given: context.given,
        minLength: context.facts?.ground.minKeyLength ?? 0,
      }),
      onDone: {
        target: 'readingBack',
        actions: assign({ key: ({ event }) => event.output, failure: undefined }),
      },
      onError: failTo('storeFailed'),
    },
  }),
  readingBack: rotation.createStateConfig({
    meta: { step: 'store', title: 'reading the new key back' },
    invoke: {
      id: 'readBackKey',
      src: 'readBackKey',
      input: ({ context }) => ({ key: held(context) }),
      onDone: { target: 'confirming' },
      onError: failTo('storeFailed'),
    },
  }),
  storeFailed: failure('storeFailed', 'store', 'the new key is not safely stored', 'choosingKey'),
  refreshing: rotation.createStateConfig({
    meta: {
      step: 'confirm',
      title: 'looking at the instance again',
      calls: GROUND_CALLS,
    },
    invoke: {
      id: 'refresh',
      src: 'recheck',
      input: ({ context }) => ({ instance: context.instance }),
      onDone: {
        target: 'confirming',
        actions: { type: 'keepGround', params: ({ event }) => ({ ground: event.output }) },
      },
      onError: failTo('setFailed'),
    },
  }),
  confirming: rotation.createStateConfig({
    tags: ['question'],
    meta: { step: 'confirm', title: 'the last look before the change', question: ask.askForConfirmation },
    on: {
      'operator.confirm': { guard: 'nameMatches', target: 'rechecking' },
      'operator.stop': 'stopped',
    },
  }),
  rechecking: rotation.createStateConfig({
    meta: {
      step: 'confirm',
      title: 'looking whether anything has changed meanwhile',
      calls: GROUND_CALLS,
    },
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
  }),
  comparing: rotation.createStateConfig({
    meta: { step: 'confirm', title: 'comparing with what was confirmed' },
    always: [{ guard: 'groundHasShifted', target: 'confirming' }, { target: 'settingKey' }],
  }),
  settingKey: rotation.createStateConfig({
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
      onDone: {
        target: 'weighingAnswer',
        actions: assign({ setting: ({ event }) => event.output, failure: undefined }),
      },
      onError: failTo('setFailed'),
    },
  }),
  weighingAnswer: rotation.createStateConfig({
    meta: { step: 'change', title: 'weighing the answer' },
    always: [{ guard: 'answerWasLost', target: 'keyUncertain' }, { target: 'creatingBackup' }],
  }),
  keyUncertain: rotation.createStateConfig({
    tags: ['question', 'in-doubt'],
    meta: { step: 'change', title: 'KEY UNCERTAIN', question: ask.askAboutUncertainKey },
    on: {
      'operator.goOn': 'creatingBackup',
      'operator.setAgain': 'rechecking',
      'operator.stop': 'stopped',
    },
  }),
  setFailed: rotation.createStateConfig({
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
  }),
};
