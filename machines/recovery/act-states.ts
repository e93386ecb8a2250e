import { assign } from 'xstate';
import { choice, type RecoveryQuestion, stop } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failOrDoubt, failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

const TYPE = 'general';

/** Maintenance updates are forbidden for the time of the run, where the service offers it. */
export function freezeUpdates({ next }: { readonly next: string }) {
  const skipped = {
    target: next,
    actions: {
      type: 'noteSkip' as const,
      params: ({ context }: { context: RecoveryContext }) => ({
        step: 'freeze',
        reason: context.updatesChangeable?.why ?? 'the service does not offer it',
      }),
    },
  };
  return {
    askingUpdates: recovery.createStateConfig({
      meta: { step: 'freeze', title: 'whether maintenance updates can be held back', slice: 'decide' },
      invoke: {
        id: 'updatesChangeable',
        src: 'updatesChangeable',
        input: {},
        onDone: {
          target: 'weighingUpdates',
          actions: assign({
            updatesChangeable: ({ event }) => {
              const { changeable, why } = event.output;
              return { changeable, ...(why === undefined ? {} : { why }) };
            },
            failure: undefined,
          }),
        },
        onError: failTo('freezeFailed'),
      },
    }),
    weighingUpdates: recovery.createStateConfig({
      meta: { step: 'freeze', title: 'weighing it' },
      always: [{ guard: 'mayFreeze', target: 'freezingUpdates', actions: 'oweRelease' }, skipped],
    }),
    freezingUpdates: recovery.createStateConfig({
      meta: {
        step: 'freeze',
        title: 'forbidding maintenance updates for the time of the run',
        slice: 'decide',
        calls: [
          {
            method: 'PATCH',
            path: '/broker/edit',
            what: 'maintenance updates forbidden',
            needs: 'revision 61, and the operator of the platform allows it',
            optional: true,
          },
        ],
        wayBack: 'they are allowed again at the end of the run',
      },
      invoke: {
        id: 'freezeUpdates',
        src: 'changeUpdateSetting',
        input: { setting: { type: TYPE, allowed: false } },
        onDone: {
          target: next,
          actions: assign({ updates: ({ event }) => event.output, failure: undefined }),
        },
        onError: [
          {
            guard: { type: 'mayBeInForce', params: ({ event }) => ({ error: event.error }) },
            ...failTo('freezeFailed'),
          },
          {
            target: 'freezeFailed',
            actions: [
              { type: 'keepFailure', params: ({ event }) => ({ error: event.error }) },
              'forgetRelease',
            ],
          },
        ],
      },
    }),
    freezeFailed: freezeFailed(next),
  };
}

/** Whether they are forbidden may not be known. Then, and when a person has forbidden them, they are allowed again at the end. */
function freezeFailed(next: string) {
  const asked = failure({
    step: 'freeze',
    title: 'maintenance updates are not held back',
    retry: 'askingUpdates',
    next,
    stopped: 'stopping',
    ways: {
      retry: 'asks again; the same setting twice changes nothing more',
      skip: 'an update may begin while the instance is being changed',
      markDone: 'how were they forbidden?',
    },
  });
  return recovery.createStateConfig({
    ...asked,
    on: {
      ...asked.on,
      'operator.markDone': {
        target: next,
        actions: [
          {
            type: 'noteSkip',
            params: ({ event }) => ({ step: 'freeze', reason: `done outside: ${event.text}` }),
          },
          'oweRelease',
        ],
      },
    },
  });
}

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
      },
      invoke: {
        id: 'waitForInstance',
        src: 'waitForInstance',
        input: ({ context }) => ({ updatedAt: context.facts?.ground.updatedAt }),
        onDone: {
          target: 'weighingRelease',
          actions: { type: 'keepReady', params: ({ event }) => ({ ready: event.output }) },
        },
        onError: failTo('instanceFailed'),
      },
    }),
    instanceFailed: failure({
      step: 'wait',
      title: 'the instance is not available',
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

/** Updates are allowed again, also when the run is stopped. What cannot be put back is owed. */
export function releaseUpdates({ next }: { readonly next: string }) {
  return {
    stopping: recovery.createStateConfig({
      meta: { step: 'release', title: 'what has to be put back before the run is stopped' },
      always: [
        { guard: 'isFrozen', target: 'releasingUpdates', actions: assign({ stopping: true }) },
        { target: 'stopped' },
      ],
    }),
    weighingRelease: recovery.createStateConfig({
      meta: { step: 'release', title: 'whether there is something to put back' },
      always: [{ guard: 'isFrozen', target: 'releasingUpdates' }, { target: next }],
    }),
    releasingUpdates: recovery.createStateConfig({
      meta: {
        step: 'release',
        title: 'allowing maintenance updates again',
        slice: 'rebind',
        calls: [
          { method: 'PATCH', path: '/broker/edit', what: 'maintenance updates allowed', optional: true },
        ],
        wayBack: 'forbid them again',
      },
      invoke: {
        id: 'releaseUpdates',
        src: 'changeUpdateSetting',
        input: ({ context }) => ({ setting: { type: context.updates?.type ?? TYPE, allowed: true } }),
        onDone: {
          target: 'weighingOwed',
          actions: [
            assign({ updates: undefined }),
            {
              type: 'settleByRun',
              params: { id: 'release-updates', text: 'maintenance updates are allowed again' },
            },
          ],
        },
        onError: {
          target: 'owing',
          actions: [{ type: 'keepFailure', params: ({ event }) => ({ error: event.error }) }, 'oweRelease'],
        },
      },
    }),
    /** Nothing is owed any more; a run that was to be stopped is. */
    weighingStop: recovery.createStateConfig({
      meta: { step: 'record', title: 'whether the run was to be stopped' },
      always: [{ guard: 'isStopping', target: 'stopped' }, { target: next }],
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
    {
      event: { type: 'operator.lookAgain' },
      label: 'wait and look again',
      hint: 'asks the service for the state of the instance; nothing is sent',
    },
    {
      event: { type: 'operator.sendAgain' },
      label: 'it never happened, send it',
      hint: 'asks for the name again',
    },
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
        needs: `the run is for a ${src}, the name was typed, and nothing has changed since`,
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
