import { assign } from 'xstate';
import * as z from 'zod';
import type { RunContext } from '../context.ts';
import { chooseKeyFallback, escrowFallback } from '../fallback/keys.ts';
import { EscrowedKey, GENERATED_KEY_LENGTH, KeySetting, StoredKey } from '../parts/task-data.ts';
import { changed } from '../setup.ts';
import { choice, type RunQuestion, stop } from './asking.ts';
import { type Exits, type Phase, phase, type States, state, to } from './phase.ts';
import { task } from './task.ts';

export const KeySlice = () =>
  z.object({
    /** For a run that can do without a new key. */
    isWanted: z.boolean(),
    origin: z.enum(['generated', 'given']).optional(),
    given: z.object({ fingerprint: z.string(), length: z.number() }).optional(),
    stored: StoredKey().optional(),
    escrowed: EscrowedKey().optional(),
    setting: KeySetting().extend({ outside: z.string().optional() }).optional(),
  });

interface Key {
  readonly exits: Exits<'stop'>;
}

/** Chooses the new key, stores it and reads it back, before anything is sent. */
export function newKey({ exits }: Key): Phase {
  const head = { title: 'choose the new key', like: 'key', fallback: chooseKeyFallback, exits };
  return phase(head, (step) => choosingKey(step, to(exits.stop)));
}

/** Asks first whether a new key is wanted. */
export function offerNewKey({ exits }: Key): Phase {
  const stop = to(exits.stop);
  return phase({ title: 'a new key, if one is wanted', like: 'key', exits }, (step) => ({
    offering: offering(stop),
    ...choosingKey(step, stop, ['aside']),
  }));
}

/** `tags` of the question for the origin of the key. */
function choosingKey(step: string, stop: string, tags: readonly 'aside'[] = []): States {
  const failed = {
    title: 'the new key is not safely stored',
    retry: 'choosing',
    stop,
    ways: {
      retry: 'chooses and stores a key again; nothing has been sent to the service',
      skip: { disabled: 'a key that is not stored is never sent' },
      markDone: { disabled: 'the key must be readable from here' },
    },
  };
  return {
    choosing: state({
      tags: ['question', ...tags],
      meta: { title: 'the new key', question: askForOrigin },
      on: {
        'operator.generate': {
          target: 'storing',
          actions: assign(({ context }) =>
            changed(context, 'key', { origin: 'generated', given: undefined }),
          ),
        },
        'operator.enterKey': 'entering',
        'operator.stop': stop,
      },
    }),
    entering: state({
      tags: ['question', 'aside'],
      meta: { title: 'entering the new key', question: askForKey },
      on: {
        'operator.provideKey': {
          target: 'storing',
          actions: assign(({ context, event: { fingerprint, length } }) =>
            changed(context, 'key', { origin: 'given', given: { fingerprint, length } }),
          ),
        },
        'operator.back': 'choosing',
      },
    }),
    ...task('storing', {
      verb: 'storeKey',
      title: 'storing the new key',
      input: ({ key, preflight: { facts } }) => ({
        origin: key.origin ?? 'generated',
        given: key.given,
        minLength: facts?.baseline.minKeyLength ?? 0,
      }),
      keep: (context, stored) => changed(context, 'key', { stored }),
      next: 'readingBack',
      failed: { step, ...failed },
    }),
    ...task('readingBack', {
      verb: 'readBackKey',
      title: 'reading the new key back',
      input: (context) => ({ key: heldKey(context) }),
      next: 'over',
      failed: 'storingFailed',
    }),
  };
}

/** Throws before a key is stored. */
export function heldKey({ key: { stored } }: RunContext): StoredKey {
  if (stored === undefined) throw new Error('no key is stored at this point');
  return stored;
}

const offering = (stop: string) =>
  state({
    tags: ['question'],
    meta: { title: 'how the recovery is prepared', question: askForPreparation },
    on: {
      'operator.goOn': 'over',
      'operator.rotate': {
        target: 'choosing',
        actions: assign(({ context }) => changed(context, 'key', { isWanted: true })),
      },
      'operator.stop': stop,
    },
  });

function askForPreparation({ run: { instance } }: RunContext): RunQuestion {
  return choice(`prepare the recovery of ${instance} with a new key, or without?`, [
    {
      event: { type: 'operator.goOn' },
      label: 'without a new key: the key in force stays',
      hint: 'asks for the guid of the backups and changes nothing',
      recommended: true,
    },
    {
      event: { type: 'operator.rotate' },
      label: 'with a new key: this is a rotation',
      hint: 'older backups may no longer be offered for download; the name is asked for first',
    },
    stop,
  ]);
}

function askForOrigin({ preflight: { facts } }: RunContext): RunQuestion {
  const least = facts?.baseline.minKeyLength ?? 0;
  return choice('where does the new key come from?', [
    {
      event: { type: 'operator.generate' },
      label: 'generate it here',
      hint: `32 random bytes, base64url, ${GENERATED_KEY_LENGTH} characters`,
      recommended: true,
      ...(least > GENERATED_KEY_LENGTH
        ? { disabled: `the service requires at least ${least} characters, more than a generated key has` }
        : {}),
    },
    { event: { type: 'operator.enterKey' }, label: 'enter one', hint: 'typed or pasted twice, never shown' },
    stop,
  ]);
}

function askForKey({ preflight: { facts } }: RunContext): RunQuestion {
  return {
    kind: 'secret',
    prompt: 'the new key',
    event: 'operator.provideKey',
    twice: true,
    isNew: true,
    minLength: facts?.baseline.minKeyLength ?? 8,
    options: [{ event: { type: 'operator.back' }, label: 'back', hint: 'choose another origin' }],
  };
}

/** Whether the config asked for sealed copies when the run began. */
export function keepsEscrow({ preflight: { facts } }: RunContext): boolean {
  return facts?.escrow !== undefined;
}

/** Before anything is sent. A policy that cannot be met stops the run here: nothing leads on without it. */
export function escrow({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  const head = { title: 'seal copies of the new key', like: 'escrow', fallback: escrowFallback, exits };
  return phase(head, (step) =>
    task('sealing', {
      verb: 'escrowKey',
      title: 'sealing copies of the new key',
      input: (context) => ({ fingerprint: heldKey(context).fingerprint }),
      keep: (context, escrowed) => changed(context, 'key', { escrowed }),
      next: 'over',
      failed: {
        step,
        title: 'the new key is not in escrow',
        stop: to(exits.stop),
        ways: {
          retry: 'seals the copies again; nothing has been sent to the service',
          skip: { disabled: 'the config asks for sealed copies before a key is sent' },
          markDone: { disabled: 'the copies are checked from here' },
        },
      },
    }),
  );
}
