import { assign } from 'xstate';
import type { RunContext } from '../context.ts';
import { setKeyFallback } from '../fallback/keys.ts';
import { landedOf } from '../parts/task-data.ts';
import { assignWith, changed } from '../setup.ts';
import { choice, type RunQuestion, stop } from './asking.ts';
import { noteReason } from './failing.ts';
import { when } from './guards.ts';
import { heldKey } from './key.ts';
import { nextIntent } from './once.ts';
import { door, type Exits, type Phase, phase, type States, state, to } from './phase.ts';
import { task } from './task.ts';

/**
 * `again`: looks at the instance, then sends the same key again; `name`: asks for the typed name for it;
 * `another`: asks for another backup.
 */
type KeyExits = Exits<'again' | 'name' | 'another' | 'stop'>;

/** After a lost answer both keys are kept; sending the same key twice is harmless. */
export function changeKey({ exits }: { readonly exits: KeyExits }): Phase {
  const head = { title: 'change the key', fallback: setKeyFallback, exits };
  return phase(head, (step) => ({
    ...sendingKey(step, exits, JUDGE),
    notInForce: notInForce(step, exits),
  }));
}

/** For a run that makes no backup: nothing in it shows which key is in force. */
export function changeKeyOnly({ exits }: { readonly exits: Exits<'again' | 'stop'> }): Phase {
  const head = { title: 'change the key', fallback: setKeyFallback, exits };
  return phase(head, (step) => sendingKey(step, exits, LATER));
}

const WORDS = {
  sending: {
    title: 'setting the new key',
    calls: [{ method: 'PATCH', path: '/backups-config', what: 'encryption_key = the new key' }],
    wayBack: 'set the old key again the same way; backups made in between keep the key they were made with',
  },
  sendingFailed: {
    title: 'the key was not set',
    ways: {
      retry: 'checks the instance and sends the same key again',
      skip: 'no key is set by this run; the next backup shows which key is in force',
      markDone: 'how was the new key set, and when?',
    },
  },
} as const;

function sendingKey(step: string, exits: Exits<'again' | 'stop'>, judge: Uncertain['judge']): States {
  return {
    ...task('sending', {
      verb: 'setKey',
      ...WORDS.sending,
      tags: ['destructive'],
      input: (context) => ({
        fingerprint: heldKey(context).fingerprint,
        previous: context.preflight.facts?.currentKey,
      }),
      keep: (context, setting) => changed(context, 'key', { setting }),
      next: 'evaluating',
      failed: {
        step,
        ...WORDS.sendingFailed,
        retry: to(exits.again),
        next: 'over',
        stop: to(exits.stop),
        on: {
          'operator.markDone': {
            target: 'over',
            actions: assignWith<{ text: string }>(({ context, event }) =>
              changed(context, 'key', { setting: { answer: 'unknown', outside: event.text } }),
            ),
          },
        },
      },
    }),
    evaluating: state({
      meta: { title: 'checking the answer' },
      always: [{ guard: when('the answer was lost', answerWasLost), target: 'inDoubt' }, { target: 'over' }],
    }),
    inDoubt: uncertain({ exits, goOn: 'over', judge }),
  };
}

const JUDGE = {
  label: 'let a new backup decide',
  hint: 'a backup is made now; whichever key opens it is in force',
};

const LATER = {
  label: 'close the run without knowing',
  hint: 'both keys are kept; whichever key opens the next backup is in force',
};

export function answerWasLost({ key }: RunContext): boolean {
  return key.setting?.answer === 'unknown';
}

interface Uncertain {
  readonly exits: Exits<'again' | 'stop'>;
  readonly goOn: string;
  readonly judge: { readonly label: string; readonly hint: string };
}

export function uncertain({ exits, goOn, judge }: Uncertain) {
  const question = ({ key: { stored } }: RunContext): RunQuestion =>
    choice('KEY UNCERTAIN: the answer to the change was lost; the old and the new key are both kept', [
      { event: { type: 'operator.goOn' }, ...judge, recommended: true },
      {
        event: { type: 'operator.setAgain' },
        label: 'send the same key again',
        hint: `setting key ${stored?.fingerprint} twice changes nothing more`,
      },
      stop,
    ]);
  return state({
    tags: ['question', 'in-doubt'],
    meta: { title: 'KEY UNCERTAIN', question },
    on: {
      'operator.goOn': goOn,
      'operator.setAgain': to(exits.again),
      'operator.stop': to(exits.stop),
    },
  });
}

/** The backup opens with another key than the new one. `keyOnRecord`: where the run continues with it. */
export function notInForce(step: string, exits: KeyExits, keyOnRecord?: string) {
  const afresh = assignWith(({ context }) => changed(context, 'proof', FORGOTTEN));
  return state({
    id: door(step, 'notInForce'),
    tags: ['question', 'failed'],
    meta: {
      title: 'the new key is not in force',
      question: askAboutKeyNotInForce(keyOnRecord !== undefined),
    },
    on: {
      // A backup adopted after a lost answer may predate the new key, so it proves nothing against it.
      'operator.retry': { target: to(exits.another), actions: afresh },
      'operator.setAgain': {
        target: to(exits.name),
        actions: [
          afresh,
          nextIntent('backup'),
          assign(({ context }) => changed(context, 'key', { setting: undefined })),
        ],
      },
      ...(keyOnRecord === undefined
        ? {}
        : {
            'operator.goOnWithout': {
              target: to(keyOnRecord),
              actions: [
                assignWith(({ context }) => changed(context, 'key', { stored: undefined })),
                noteReason('key'),
              ],
            },
          }),
      'operator.stop': to(exits.stop),
    },
  });
}

const FORGOTTEN = { verification: undefined, file: undefined };

function askAboutKeyNotInForce(mayGoWithout: boolean) {
  return ({ backup, proof: { verification } }: RunContext): RunQuestion => {
    const { id, adopted } = landedOf(backup) ?? {};
    const finding = `backup ${id} opens with key ${verification?.opens}, not with the new one`;
    const prompt = adopted
      ? `${finding}; it was found in the list after a lost answer, and may be from before the change`
      : `${finding}: the change did not take`;
    return choice(prompt, [
      // Another backup tells more only if this one may predate the change.
      adopted === true
        ? {
            event: { type: 'operator.retry' },
            label: 'let another backup decide',
            hint: 'asks for one more backup: only one that was made after the change tells whether it took',
          }
        : undefined,
      {
        event: { type: 'operator.setAgain' },
        label: 'set the new key again',
        hint: 'asks for the typed name once more',
      },
      mayGoWithout
        ? {
            event: { type: 'operator.goOnWithout' },
            label: 'make the card name the key that opens it',
            hint: 'the new key stays in the key store, unused',
            needs: { what: 'reason', prompt: 'why is the key not set again?' },
          }
        : undefined,
      stop,
    ]);
  };
}
