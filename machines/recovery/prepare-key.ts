import { assign } from 'xstate';
import { GROUND_CALLS } from '../parts/ground.ts';
import { GENERATED_KEY_LENGTH } from '../parts/verbs.ts';
import { choice, type RecoveryQuestion, stop, typedName } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

/**
 * A new key for `prepare`, which is a rotation: chosen, stored, read back, confirmed by name, and only then sent. Nothing of it is walked
 * when the card is made without a key.
 */
export function prepareKey({ next }: { readonly next: string }) {
  const stored = failure({
    step: 'key',
    title: 'the new key is not kept',
    retry: 'choosingKey',
    ways: {
      retry: 'chooses and stores a key again; nothing has been sent to the service',
      skip: { disabled: 'a key that is not stored is never sent' },
      markDone: { disabled: 'the key must be readable from here' },
    },
  });
  return {
    choosingKey: recovery.createStateConfig({
      tags: ['question'],
      meta: { step: 'key', title: 'the new key', question: askForKeyOrigin },
      on: {
        'operator.generate': {
          target: 'storing',
          actions: assign({ keyOrigin: 'generated' as const, given: undefined }),
        },
        'operator.enterKey': 'enteringKey',
        'operator.stop': 'stopped',
      },
    }),
    enteringKey: recovery.createStateConfig({
      tags: ['question'],
      meta: { step: 'key', title: 'entering the new key', question: askForNewKey },
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
    storing: recovery.createStateConfig({
      meta: { step: 'key', title: 'storing the new key' },
      invoke: {
        id: 'storeKey',
        src: 'storeKey',
        input: ({ context }) => ({
          origin: context.keyOrigin ?? 'generated',
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
    readingBack: recovery.createStateConfig({
      meta: { step: 'key', title: 'reading the new key back' },
      invoke: {
        id: 'readBackKey',
        src: 'readBackKey',
        input: ({ context }) => {
          if (context.key === undefined) throw new Error('no key is stored at this point');
          return { key: context.key };
        },
        onDone: { target: 'confirmingKey', actions: 'clearFailure' },
        onError: failTo('storeFailed'),
      },
    }),
    storeFailed: stored,
    confirmingKey: recovery.createStateConfig({
      tags: ['question'],
      meta: { step: 'key', title: 'the last look before the key is changed', question: askToConfirmKey },
      on: {
        'operator.confirm': {
          guard: { type: 'nameMatches', params: { of: 'instance' } },
          target: 'recheckingKey',
        },
        'operator.stop': 'stopped',
      },
    }),
    recheckingKey: recovery.createStateConfig({
      meta: { step: 'key', title: 'looking whether anything has changed meanwhile', calls: GROUND_CALLS },
      invoke: {
        id: 'recheck',
        src: 'recheck',
        input: ({ context }) => ({ instance: context.instance }),
        onDone: {
          target: 'comparingKey',
          actions: { type: 'keepDrift', params: ({ event }) => ({ ground: event.output }) },
        },
        onError: failTo('keyFailed'),
      },
    }),
    comparingKey: recovery.createStateConfig({
      meta: { step: 'key', title: 'comparing with what was confirmed' },
      always: [{ guard: 'hasShifted', target: 'confirmingKey' }, { target: next }],
    }),
    keyFailed: failure({
      step: 'key',
      title: 'the key was not set',
      retry: 'confirmingKey',
      next: 'preparing',
      ways: {
        retry: 'asks for the name and sends the same key again',
        skip: 'the card is made without a new key; the next backup shows which key is in force',
        markDone: 'how was the new key set, and when?',
      },
    }),
  };
}

function askForKeyOrigin({ facts }: RecoveryContext): RecoveryQuestion {
  const least = facts?.ground.minKeyLength ?? 0;
  return choice('where does the new key come from?', [
    {
      event: { type: 'operator.generate' },
      label: 'generate it here',
      hint: `32 random bytes, base64url, ${GENERATED_KEY_LENGTH} characters`,
      recommended: true,
      ...(least > GENERATED_KEY_LENGTH
        ? { disabled: `the service asks for ${least} characters, more than a generated key has` }
        : {}),
    },
    { event: { type: 'operator.enterKey' }, label: 'enter one', hint: 'typed or pasted twice, never shown' },
    stop,
  ]);
}

function askForNewKey({ facts }: RecoveryContext): RecoveryQuestion {
  return {
    kind: 'secret',
    prompt: 'the new key',
    event: 'operator.provideKey',
    twice: true,
    minLength: facts?.ground.minKeyLength ?? 8,
    options: [{ event: { type: 'operator.back' }, label: 'back', hint: 'choose another origin' }],
  };
}

function askToConfirmKey({ drift, key, instance }: RecoveryContext): RecoveryQuestion {
  const order = `prepare ${instance} with key ${key?.fingerprint}, which replaces its key`;
  const prompt =
    drift.length === 0
      ? `type the instance's name to ${order}`
      : `it has changed (${drift.join('; ')}): type its name to ${order} all the same`;
  return typedName(prompt, instance, 'operator.confirm', [stop]);
}
