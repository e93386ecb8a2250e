import { assign } from 'xstate';
import { agreesWithIds } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { guidFallback } from '../fallback/keys.ts';
import { assignWith, changed } from '../setup.ts';
import { choice, type RunQuestion, stop } from './asking.ts';
import { answerWasLost, notInForce, uncertain } from './change-key.ts';
import { noteReason } from './failing.ts';
import { when } from './guards.ts';
import { type Exits, type Phase, phase, state, to } from './phase.ts';
import { type Task, task } from './task.ts';

interface Guid {
  /**
   * `again`: looks at the instance, then sends the same key again; `name`: asks for the typed name for it;
   * `another`: asks for another backup; `keyOnRecord`: continues with the key that opens the backup.
   */
  readonly exits: Exits<'again' | 'name' | 'another' | 'keyOnRecord' | 'stop'>;
}

const WORDS = {
  sendingFailed: {
    title: 'the key was not set',
    ways: {
      retry: 'asks for the name and sends the same key again',
      skip: 'the card is made without a new key; the next backup shows which key is in force',
      markDone: 'how was the new key set, and when?',
    },
  },
  askingFailed: {
    title: 'there is no guid',
    ways: {
      retry: 'asks for the guid again, which changes nothing',
      skip: { disabled: 'a card without a guid recovers nothing' },
      markDone: 'the guid of the backups, from the dashboard or an older card',
    },
  },
} as const;

/** Sets a new key with the same call if one is wanted. Checks the guid against the ids of the backups. */
export function learnGuid({ exits }: Guid): Phase {
  const stop = to(exits.stop);
  return phase({ title: 'learn the guid', fallback: guidFallback, exits }, (step) => ({
    evaluating: state({
      meta: { title: 'whether a new key is set with it' },
      always: [
        { guard: when('a new key is wanted', ({ key }) => key.isWanted), target: 'sending' },
        { target: 'asking' },
      ],
    }),
    ...task('sending', {
      ...PREPARE_WITH_KEY,
      when: ({ key }) => key.isWanted,
      next: 'evaluatingAnswer',
      failed: {
        step,
        ...WORDS.sendingFailed,
        retry: to(exits.name),
        next: 'asking',
        stop,
      },
    }),
    evaluatingAnswer: state({
      meta: { title: 'checking the answer' },
      always: [
        { guard: when('the answer was lost', answerWasLost), target: 'inDoubt' },
        { target: 'comparing' },
      ],
    }),
    inDoubt: uncertain({
      exits,
      goOn: 'asking',
      judge: {
        label: 'ask for the guid alone, and let a new backup decide',
        hint: 'it changes nothing; whichever key opens the next backup is in force',
      },
    }),
    notInForce: notInForce(step, exits, exits.keyOnRecord),
    ...task('asking', {
      ...PREPARE,
      id: 'prepare',
      when: ({ key }) => !key.isWanted,
      next: 'comparing',
      failed: {
        step,
        ...WORDS.askingFailed,
        stop,
        on: {
          'operator.markDone': {
            target: 'comparing',
            actions: [
              assignWith<{ text: string }>(({ context, event }) =>
                changed(context, 'card', { guid: event.text }),
              ),
              noteReason(step, 'done outside: the guid '),
            ],
          },
        },
      },
    }),
    comparing: state({
      meta: { title: 'comparing the guid with the ids of the backups' },
      always: [
        {
          guard: when('there is no guid', ({ card }) => card.guid === undefined),
          target: 'askingFailed',
          actions: assign({ failure: NO_GUID }),
        },
        {
          guard: when('no id of a backup contradicts it', (context) => agreesWithIds(context) !== false),
          target: 'over',
          actions: assign(({ context }) =>
            changed(context, 'card', { crossCheck: agreesWithIds(context) ? 'agrees' : 'unknown' }),
          ),
        },
        { target: 'mismatch' },
      ],
    }),
    mismatch: state({
      tags: ['question', 'aside'],
      meta: { title: 'the guid is not that of the newest backup', question: askAboutMismatch },
      on: {
        'operator.lookAgain': 'asking',
        'operator.takeGuid': {
          target: 'over',
          actions: [
            assign(({ context }) => changed(context, 'card', { crossCheck: 'overridden' })),
            noteReason(step, 'guid used anyway: '),
          ],
        },
        'operator.stop': stop,
      },
    }),
  }));
}

type Prepare = Omit<Task<'prepareRecovery'>, 'next' | 'failed'>;

export const PREPARE: Prepare = {
  verb: 'prepareRecovery',
  title: 'asking for the guid of the backups',
  calls: [
    {
      method: 'POST',
      path: '/disaster-recovery/prepare',
      what: 'the guid, without a key',
      needs: 'no key is in the body, so none is changed',
    },
  ],
  wayBack: 'it changes nothing',
  input: () => ({}),
  keep: (context, { backupGuid }) => changed(context, 'card', { guid: backupGuid }),
};

export const PREPARE_WITH_KEY: Prepare = {
  verb: 'prepareRecovery',
  id: 'prepareWithKey',
  title: 'asking for the guid and setting the new key',
  tags: ['destructive'],
  calls: [
    {
      method: 'POST',
      path: '/disaster-recovery/prepare',
      what: 'the guid, and encryption_key = the new key',
      needs: 'the name was typed, and nothing has changed since',
      forever: 'backups made before may no longer be offered for download',
    },
  ],
  wayBack: 'set the old key again; backups made in between keep the key they were made with',
  input: ({ key: { stored }, preflight: { facts } }) => ({
    fingerprint: stored?.fingerprint,
    previous: facts?.currentKey,
  }),
  keep: (context, { backupGuid, ...setting }) => ({
    ...changed(context, 'key', { setting }),
    ...changed(context, 'card', { guid: backupGuid }),
  }),
};

export const NO_GUID = {
  code: 'recovery.no-guid',
  shortMessage: 'the service gave no guid for the backups',
  hints: ['ask again, or look for it in the dashboard'],
  evidence: {},
};

function askAboutMismatch({ card: { guid }, preflight: { facts } }: RunContext): RunQuestion {
  return choice(
    `the guid ${guid} is not what the id of backup ${facts?.newest?.id} begins with (${facts?.newest?.backupId})`,
    [
      { event: { type: 'operator.lookAgain' }, label: 'ask for it again', hint: 'it changes nothing' },
      {
        event: { type: 'operator.takeGuid' },
        label: 'use it anyway',
        hint: 'a card with a wrong guid recovers other data, or none',
        needs: { what: 'reason', prompt: 'why is it the right guid?' },
      },
      stop,
    ],
  );
}
