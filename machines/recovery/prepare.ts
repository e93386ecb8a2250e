import { assign } from 'xstate';
import { choice, type RecoveryQuestion, stop } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

/** The guid by which the backups are recovered elsewhere, without a key unless a rotation is wanted, and whether it can be right. */
export function prepareGuid({ next }: { readonly next: string }) {
  return {
    choosingPreparation: recovery.createStateConfig({
      tags: ['question'],
      meta: { step: 'prepare', title: 'how the recovery is prepared', question: askForPreparation },
      on: {
        'operator.goOn': 'preparing',
        'operator.rotate': 'choosingKey',
        'operator.stop': 'stopped',
      },
    }),
    preparing: recovery.createStateConfig({
      meta: {
        step: 'prepare',
        title: 'asking for the guid of the backups',
        calls: [
          {
            method: 'POST',
            path: '/disaster-recovery/prepare',
            what: 'the guid, without a key',
            needs: 'no key is in the body, so none is changed',
          },
        ],
        wayBack: 'nothing is changed by it',
      },
      invoke: {
        id: 'prepare',
        src: 'prepareRecovery',
        input: {},
        onDone: {
          target: 'crossChecking',
          actions: assign({ guid: ({ event }) => event.output.backupGuid, failure: undefined }),
        },
        onError: failTo('prepareFailed'),
      },
    }),
    preparingWithKey: recovery.createStateConfig({
      tags: ['destructive'],
      meta: {
        step: 'prepare',
        title: 'asking for the guid and setting the new key',
        calls: [
          {
            method: 'POST',
            path: '/disaster-recovery/prepare',
            what: 'the guid, and encryption_key = the new key',
            needs: 'the name was typed, and nothing has changed since',
            forever: 'backups made before can no longer be downloaded',
          },
        ],
        wayBack: 'set the old key again; backups made meanwhile keep the key they were made with',
      },
      invoke: {
        id: 'prepareWithKey',
        src: 'prepareRecovery',
        input: ({ context }) => ({
          fingerprint: context.key?.fingerprint,
          previous: context.facts?.currentKey,
        }),
        onDone: {
          target: 'weighingPreparation',
          actions: assign({
            setting: ({ event }) => {
              const { answer, status, failure: why } = event.output;
              return {
                answer,
                ...(status === undefined ? {} : { status }),
                ...(why === undefined ? {} : { failure: why }),
              };
            },
            guid: ({ event }) => event.output.backupGuid,
            failure: undefined,
          }),
        },
        onError: failTo('keyFailed'),
      },
    }),
    weighingPreparation: recovery.createStateConfig({
      meta: { step: 'prepare', title: 'weighing the answer' },
      always: [{ guard: 'answerWasLost', target: 'keyUncertain' }, { target: 'crossChecking' }],
    }),
    keyUncertain: recovery.createStateConfig({
      tags: ['question', 'in-doubt'],
      meta: { step: 'prepare', title: 'KEY UNCERTAIN', question: askAboutUncertainKey },
      on: {
        'operator.goOn': 'preparing',
        'operator.setAgain': 'recheckingKey',
        'operator.stop': 'stopped',
      },
    }),
    prepareFailed: recovery.createStateConfig({
      ...failure({
        step: 'prepare',
        title: 'there is no guid',
        retry: 'preparing',
        ways: {
          retry: 'asks for the guid again; nothing is changed by it',
          skip: { disabled: 'a card without a guid recovers nothing' },
          markDone: 'the guid of the backups, from the dashboard or an older card',
        },
      }),
      on: {
        'operator.retry': { target: 'preparing', actions: 'clearFailure' },
        'operator.markDone': {
          target: 'crossChecking',
          actions: [
            assign({ guid: ({ event }) => event.text, failure: undefined }),
            {
              type: 'noteSkip',
              params: ({ event }) => ({ step: 'prepare', reason: `done outside: the guid ${event.text}` }),
            },
          ],
        },
        'operator.stop': 'stopped',
      },
    }),
    crossChecking: recovery.createStateConfig({
      meta: { step: 'prepare', title: 'comparing the guid with the ids of the backups' },
      always: [
        {
          guard: 'hasNoGuid',
          target: 'prepareFailed',
          actions: assign({
            failure: {
              code: 'recovery.no-guid',
              shortMessage: 'the service gave no guid for the backups',
              hints: ['ask again, or look for it in the dashboard'],
              evidence: {},
            },
          }),
        },
        { guard: 'idsAgree', target: next, actions: assign({ crossCheck: 'agrees' as const }) },
        { guard: 'idsSayNothing', target: next, actions: assign({ crossCheck: 'unknown' as const }) },
        { target: 'guidMismatch' },
      ],
    }),
    guidMismatch: recovery.createStateConfig({
      tags: ['question'],
      meta: {
        step: 'prepare',
        title: 'the guid is not that of the newest backup',
        question: askAboutMismatch,
      },
      on: {
        'operator.lookAgain': 'preparing',
        'operator.takeGuid': {
          target: next,
          actions: [
            assign({ crossCheck: 'overridden' as const }),
            {
              type: 'noteSkip',
              params: ({ event }) => ({ step: 'prepare', reason: `guid taken all the same: ${event.text}` }),
            },
          ],
        },
        'operator.stop': 'stopped',
      },
    }),
  };
}

function askForPreparation({ instance }: RecoveryContext): RecoveryQuestion {
  return choice(`how is the recovery of ${instance} prepared?`, [
    {
      event: { type: 'operator.goOn' },
      label: 'without a key: the key in force stays',
      hint: 'asks for the guid of the backups and changes nothing',
      recommended: true,
    },
    {
      event: { type: 'operator.rotate' },
      label: 'with a new key, which is a rotation',
      hint: 'older backups can no longer be downloaded; the name is asked for first',
    },
    stop,
  ]);
}

function askAboutUncertainKey({ key }: RecoveryContext): RecoveryQuestion {
  return choice('KEY UNCERTAIN: the answer to the change was lost; the old and the new key are both kept', [
    {
      event: { type: 'operator.goOn' },
      label: 'ask for the guid alone, and let a new backup judge the key',
      hint: 'nothing is changed by it; whichever key opens the next backup is in force',
      recommended: true,
    },
    {
      event: { type: 'operator.setAgain' },
      label: 'send the same key again',
      hint: `setting key ${key?.fingerprint} twice changes nothing more`,
    },
    stop,
  ]);
}

function askAboutMismatch({ guid, facts }: RecoveryContext): RecoveryQuestion {
  return choice(
    `the guid ${guid} is not what the id of backup ${facts?.newest?.id} begins with (${facts?.newest?.backupId})`,
    [
      { event: { type: 'operator.lookAgain' }, label: 'ask for it again', hint: 'nothing is changed by it' },
      {
        event: { type: 'operator.takeGuid' },
        label: 'take it all the same',
        hint: 'a card with a wrong guid recovers other data, or none',
        needs: { what: 'reason', prompt: 'why is it the right guid?' },
      },
      stop,
    ],
  );
}
