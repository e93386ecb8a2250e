import { besideWaiting } from '../parts/beside-waiting.ts';
import { adoptions, lookAgain, sendAgain } from '../parts/doubt-question.ts';
import { choice, type OptionEvent, type RecoveryQuestion, stop } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failOrOver, failure } from './failing.ts';
import { instanceUnsaid } from './instance-unsaid.ts';
import { recovery } from './setup.ts';

interface RestoreTask {
  /** Where facts are read anew before the name is asked for again. */
  readonly again: string;
  readonly on?: 'target' | undefined;
  readonly next: string;
  /** Whether the interface may have no call that says how the instance is: then a person is asked. */
  readonly mayBeUnsaid?: boolean;
}

/** What is lost by a restore, for the plan. */
export const RESTORE_FOREVER = 'everything that the instance holds now is replaced';

/** What becomes of the one send of a restore. Nothing is sent a second time but after the typed name. */
export function restoreTask({ again, on, next, mayBeUnsaid = false }: RestoreTask) {
  const task = 'restore' as const;
  const side = on === undefined ? {} : { on };
  const over = mayBeUnsaid ? 'checkingInterface' : 'waitingForInstance';
  return {
    weighingRestore: recovery.createStateConfig({
      meta: { step: 'restore', title: 'weighing the answer' },
      always: [
        { guard: { type: 'hasLanded', params: { task } }, target: 'waitingForRestore' },
        {
          target: 'restoreFailed',
          actions: { type: 'keepAbsence', params: { task, what: 'a restore' } },
        },
      ],
    }),
    restoreInDoubt: recovery.createStateConfig({
      tags: ['question', 'in-doubt'],
      meta: {
        step: 'restore',
        title: 'was the restore begun?',
        slice: 'human',
        question: askAboutLostRestore,
      },
      on: {
        'operator.adopt': {
          target: 'waitingForRestore',
          actions: { type: 'adopt', params: ({ event }) => ({ task, id: event.id }) },
        },
        'operator.lookAgain': { target: 'restoring', actions: 'clearFailure' },
        'operator.sendAgain': 'askingForRestoreAgain',
        'operator.stop': 'stopped',
      },
    }),
    askingForRestoreAgain: recovery.createStateConfig({
      meta: { step: 'restore', title: 'asking once more' },
      always: {
        target: again,
        actions: [
          'clearFailure',
          { type: 'forgetAbsences', params: { task } },
          { type: 'nextIntent', params: { task } },
        ],
      },
    }),
    restoreFailed: recovery.createStateConfig({
      ...failure({
        step: 'restore',
        title: 'there is no restore',
        retry: 'askingForRestoreAgain',
        ways: {
          retry: 'looks at the instance, asks for the name and sends it again',
          skip: { disabled: 'without the restore there is nothing to go on with; stop instead' },
          markDone: 'how was it restored, and when?',
        },
      }),
      on: {
        'operator.retry': 'askingForRestoreAgain',
        'operator.markDone': {
          target: over,
          actions: { type: 'keepTask', params: ({ event }) => ({ task, outside: event.text }) },
        },
        'operator.stop': 'stopped',
      },
    }),
    waitingForRestore: recovery.createStateConfig({
      tags: ['waiting'],
      meta: {
        step: 'restore',
        title: 'waiting for the restore',
        slice: 'execute',
        calls: [{ method: 'GET', path: '/restores/:id', what: 'its status, until it is done', ...side }],
        beside: () => besideWaiting('how do you know that the restore is done?'),
      },
      on: {
        'operator.lookAgain': { target: 'waitingForRestore', reenter: true },
        'operator.markDone': {
          target: over,
          actions: { type: 'keepTask', params: ({ event }) => ({ task, outside: event.text }) },
        },
        'operator.giveUp': {
          target: 'restoreWaitFailed',
          actions: { type: 'keepGivenUp', params: { what: 'the restore' } },
        },
      },
      invoke: {
        id: 'waitForRestore',
        src: 'waitForRestore',
        input: ({ context }) => ({ id: context.restore.landed?.id ?? 0, ...side }),
        onDone: {
          target: over,
          actions: { type: 'keepTask', params: ({ event }) => ({ task, restore: event.output }) },
        },
        onError: failOrOver('restoreBroken', 'restoreWaitFailed'),
      },
    }),
    restoreWaitFailed: recovery.createStateConfig({
      tags: ['question', 'failed'],
      meta: {
        ...failure({
          step: 'restore',
          title: 'the restore is not known to be done',
          retry: 'waitingForRestore',
          ways: {
            retry: 'looks at the same restore again; no other one is asked for',
            skip: { disabled: 'whether it is done decides all that follows' },
            markDone: 'how do you know that the restore is done?',
            stop: { disabled: 'it goes on at the service; leave the screen and go on later' },
          },
        }).meta,
        slice: 'human',
      },
      on: {
        'operator.retry': { target: 'waitingForRestore', actions: 'clearFailure' },
        'operator.markDone': {
          target: over,
          actions: { type: 'keepTask', params: ({ event }) => ({ task, outside: event.text }) },
        },
      },
    }),
    restoreBroken: recovery.createStateConfig({
      tags: ['question', 'failed'],
      meta: {
        ...failure({
          step: 'restore',
          title: 'the restore has failed at the service',
          retry: 'askingForRestoreAgain',
          ways: {
            retry: 'looks at the instance, asks for the name and sends another restore',
            skip: 'what the instance holds is not known; what is owed is seen to all the same',
            markDone: 'how was it restored, and when?',
          },
        }).meta,
        slice: 'human',
      },
      on: {
        'operator.retry': 'askingForRestoreAgain',
        'operator.skip': {
          target: over,
          actions: { type: 'noteSkip', params: ({ event }) => ({ step: 'restore', reason: event.text }) },
        },
        'operator.markDone': {
          target: over,
          actions: { type: 'keepTask', params: ({ event }) => ({ task, outside: event.text }) },
        },
        'operator.stop': 'stopped',
      },
    }),
    ...(mayBeUnsaid ? instanceUnsaid({ next }) : {}),
    ...instanceIsBack({ next, on, optional: mayBeUnsaid }),
  };
}

/** The instance after the change: only the service can say that it is available. */
function instanceIsBack({ next, on, optional }: Pick<RestoreTask, 'next' | 'on'> & { optional: boolean }) {
  const side = on === undefined ? {} : { on };
  return {
    waitingForInstance: recovery.createStateConfig({
      tags: ['waiting'],
      meta: {
        step: 'restore',
        title: 'waiting until the instance is available',
        slice: 'execute',
        calls: [{ method: 'GET', path: '', what: 'its state, until it is available', optional, ...side }],
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
        input: side,
        onDone: {
          target: next,
          actions: { type: 'keepReady', params: ({ event }) => ({ ready: event.output }) },
        },
        onError: {
          target: 'instanceFailed',
          actions: { type: 'keepFailure', params: ({ event }) => ({ error: event.error }) },
        },
      },
    }),
    instanceFailed: failure({
      step: 'restore',
      title: 'the instance is not known to be available',
      retry: 'waitingForInstance',
      next,
      ways: {
        retry: 'waits for it again; nothing is sent',
        skip: 'what is owed is seen to; the run does not count as proven',
        markDone: 'how do you know that it is available?',
        stop: {
          disabled: 'the data was replaced: skip this with a reason, or leave the screen and go on later',
        },
      },
    }),
  };
}

function askAboutLostRestore(context: RecoveryContext): RecoveryQuestion {
  return choice(context.failure?.shortMessage ?? 'the answer to the restore was lost', [
    ...adoptions<OptionEvent>(context.failure, 'restore'),
    lookAgain('its list of restores'),
    sendAgain('asks for the name again: a second restore loses what was written after the first'),
    stop,
  ]);
}
