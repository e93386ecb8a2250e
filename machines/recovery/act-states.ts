import { besideWaiting } from '../parts/beside-waiting.ts';
import { lookAgain, sendAgain } from '../parts/doubt-question.ts';
import { choice, type RecoveryQuestion, stop } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failOrDoubt, failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

/** What becomes of the one send of an action. It leaves no task, so a lost answer is nearly always a question. */
export function actionTask() {
  const task = 'act' as const;
  return {
    weighingAct: recovery.createStateConfig({
      meta: { step: 'act', title: 'weighing the answer' },
      always: [{ guard: { type: 'hasLanded', params: { task } }, target: 'waitingForInstance' }],
    }),
    actInDoubt: recovery.createStateConfig({
      tags: ['question', 'in-doubt'],
      meta: { step: 'act', title: 'has it begun?', slice: 'human', question: askAboutLostAct },
      on: {
        'operator.hasBegun': {
          target: 'waitingForInstance',
          actions: { type: 'keepTask', params: ({ event }) => ({ task, outside: event.text }) },
        },
        'operator.lookAgain': { target: 'acting', actions: 'clearFailure' },
        'operator.sendAgain': 'askingToActAgain',
        'operator.stop': 'stopping',
      },
    }),
    askingToActAgain: recovery.createStateConfig({
      meta: { step: 'act', title: 'asking once more' },
      always: {
        target: 'refreshing',
        actions: ['clearFailure', { type: 'nextIntent', params: { task } }],
      },
    }),
    actFailed: recovery.createStateConfig({
      ...failure({
        step: 'act',
        title: 'it was not done',
        retry: 'askingToActAgain',
        ways: {
          retry: 'looks at the instance, asks for the name and sends it again',
          skip: { disabled: 'without it there is nothing to go on with; stop instead' },
          markDone: 'how was it done, and when?',
        },
      }),
      on: {
        'operator.retry': 'askingToActAgain',
        'operator.markDone': {
          target: 'waitingForInstance',
          actions: { type: 'keepTask', params: ({ event }) => ({ task, outside: event.text }) },
        },
        'operator.stop': 'stopping',
      },
    }),
    waitingForInstance: recovery.createStateConfig({
      tags: ['waiting'],
      meta: {
        step: 'wait',
        title: 'waiting until the instance is available',
        slice: 'execute',
        calls: [{ method: 'GET', path: '', what: 'its state, until it is available' }],
        beside: () => besideWaiting(),
      },
      on: {
        'operator.lookAgain': { target: 'waitingForInstance', reenter: true },
        'operator.giveUp': {
          target: 'instanceFailed',
          actions: { type: 'keepGivenUp', params: { what: 'the instance' } },
        },
      },
      invoke: {
        id: 'waitForInstance',
        src: 'waitForInstance',
        input: ({ context: { action, facts } }) => ({
          action,
          updatedAt: facts?.ground.updatedAt,
          updates: facts?.ground.updates,
        }),
        onDone: {
          target: 'weighingRelease',
          actions: { type: 'keepReady', params: ({ event }) => ({ ready: event.output }) },
        },
        onError: failTo('instanceFailed'),
      },
    }),
    instanceFailed: failure({
      step: 'wait',
      title: 'the instance is not known to be available',
      retry: 'waitingForInstance',
      next: 'weighingRelease',
      stopped: 'stopping',
      ways: {
        retry: 'waits for it again; nothing is sent',
        skip: 'the run does not count as proven',
        markDone: 'how do you know that it is available?',
      },
    }),
  };
}

function askAboutLostAct({ failure: lost, action }: RecoveryContext): RecoveryQuestion {
  return choice(lost?.shortMessage ?? `the answer to the ${action} was lost`, [
    {
      event: { type: 'operator.hasBegun' },
      label: 'it has begun',
      hint: 'goes on by waiting for the instance',
      needs: { what: 'evidence', prompt: 'how do you know?' },
    },
    lookAgain('the state of the instance'),
    sendAgain(`asks for the name again: a second ${action ?? 'action'} takes the instance away once more`),
    stop,
  ]);
}

/** The one send of an action, however it is called. */
export function acting(src: 'restart' | 'recreate' | 'update') {
  const paths = { restart: '/restart', recreate: '/recreate', update: '/updates' };
  const meta = {
    step: 'act',
    title: `asking for the ${src}`,
    slice: 'execute' as const,
    calls: [
      {
        method: 'PATCH' as const,
        path: paths[src],
        what: `one ${src} of the instance`,
        needs: `the run is begun for it (${src}), the name was typed, and nothing has changed since`,
        forever: 'connections are lost while the instance is away',
      },
    ],
    wayBack: src === 'update' ? 'none: the version of before does not come back' : 'none is needed',
  };
  const onDone = {
    target: 'weighingAct',
    actions: {
      type: 'keepTriggered' as const,
      params: ({ event }: { event: { output: { landed: true; adopted: boolean } } }) => ({
        task: 'act' as const,
        output: event.output,
      }),
    },
  };
  const input = ({ context }: { context: RecoveryContext }) => ({ intent: `${src}-${context.act.intents}` });
  return recovery.createStateConfig({
    tags: ['destructive'],
    meta,
    invoke: { id: src, src, input, onDone, onError: failOrDoubt('actInDoubt', 'actFailed') } as never,
  });
}
