import { besideWaiting } from '../parts/beside-waiting.ts';
import { adoptions, lookAgain, sendAgain } from '../parts/doubt-question.ts';
import { choice, noStop, type OptionEvent, OWING, type RecoveryQuestion, stop } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failOrDoubt, failOrOver, failure } from './failing.ts';
import { recovery } from './setup.ts';

interface BackupTask {
  /** The field of the context that keeps it. */
  readonly task: 'safety' | 'proof' | 'fresh';
  /** Part of the states' names: `Safety` gives `takingSafety`, `safetyInDoubt` and so on. */
  readonly name: string;
  readonly step: string;
  /** What is backed up, for the titles: `the present state`. */
  readonly what: string;
  readonly on?: 'target' | undefined;
  readonly next: string;
  /** Where the run goes on without the backup, and what that costs; none where it is the point of the run. */
  readonly without?: { readonly target: string; readonly hint: string };
  /** The obligation that the backup settles. */
  readonly settles?: string;
  readonly slice: 'decide' | 'rebind';
  readonly needs?: string;
}

/**
 * A backup that the run asks for: sent at most once for each intent, looked for when the answer is lost, sent again by itself only
 * when it is proven that nothing arrived, waited for.
 */
export function backupTask(given: BackupTask) {
  const { task, name, step, what, next, without, settles, slice } = given;
  const states = namesOf(name);
  const isOwed = settles !== undefined;
  const on = given.on === undefined ? {} : { on: given.on };
  const afterwards = isOwed ? ('rebind' as const) : slice;
  const failed = failure({
    step,
    title: `there is no backup of ${what}`,
    retry: states.asking,
    ...(without === undefined ? {} : { next: without.target }),
    settles,
    ways: {
      retry: 'asks for another backup',
      skip: without?.hint ?? { disabled: 'without a backup nothing is shown; stop instead' },
      markDone:
        without === undefined
          ? { disabled: 'create it with the service and begin this again' }
          : 'which backup is it, and how do you know?',
      ...(isOwed ? { stop: { disabled: OWING } } : {}),
    },
  });
  return {
    [states.taking]: recovery.createStateConfig({
      meta: {
        step,
        title: `asking for a backup of ${what}`,
        slice: afterwards,
        calls: [
          { method: 'GET', path: '/backups', what: 'what is there before', ...on },
          {
            method: 'POST',
            path: '/backups',
            what: `one backup of ${what}`,
            ...on,
            ...(given.needs === undefined ? {} : { needs: given.needs }),
          },
        ],
        wayBack: 'a backup too many is deleted by retention; nothing else changes',
      },
      invoke: {
        id: states.taking,
        src: 'createBackup',
        input: ({ context }) => ({ intent: `${task}-${context[task].intents}`, ...on }),
        onDone: {
          target: states.weighing,
          actions: { type: 'keepTriggered', params: ({ event }) => ({ task, output: event.output }) },
        },
        onError: failOrDoubt(states.inDoubt, states.failed),
      },
    }),
    [states.weighing]: recovery.createStateConfig({
      meta: { step, title: 'weighing the answer' },
      always: [
        { guard: { type: 'hasLanded', params: { task } }, target: states.waiting },
        {
          guard: { type: 'mayAskAgain', params: { task } },
          target: states.taking,
          actions: { type: 'nextIntent', params: { task } },
        },
        { target: states.failed, actions: { type: 'keepAbsence', params: { task, what: 'a backup' } } },
      ],
    }),
    [states.inDoubt]: recovery.createStateConfig({
      tags: ['question', 'in-doubt'],
      meta: {
        step,
        title: 'was the backup created?',
        slice: afterwards,
        question: askAboutLostBackup(isOwed),
      },
      on: {
        'operator.adopt': {
          target: states.waiting,
          actions: { type: 'adopt', params: ({ event }) => ({ task, id: event.id }) },
        },
        'operator.lookAgain': { target: states.taking, actions: 'clearFailure' },
        'operator.sendAgain': states.asking,
        ...(isOwed ? {} : { 'operator.stop': 'stopped' }),
      },
    }),
    /** Another intent is given out only where a person has decided it. */
    [states.asking]: recovery.createStateConfig({
      meta: { step, title: 'asking once more' },
      always: {
        target: states.taking,
        actions: [
          'clearFailure',
          { type: 'forgetAbsences', params: { task } },
          { type: 'nextIntent', params: { task } },
        ],
      },
    }),
    [states.waiting]: recovery.createStateConfig({
      tags: ['waiting'],
      meta: {
        step,
        title: `waiting for the backup of ${what}`,
        slice: afterwards,
        calls: [{ method: 'GET', path: '/backups/:id', what: 'its status, until it is done', ...on }],
        beside: () => besideWaiting(),
      },
      on: {
        'operator.lookAgain': { target: states.waiting, reenter: true },
        'operator.giveUp': {
          target: states.waitFailed,
          actions: { type: 'keepGivenUp', params: { what: `the backup of ${what}` } },
        },
      },
      invoke: {
        id: states.waiting,
        src: 'waitForBackup',
        input: ({ context }) => ({ id: context[task].landed?.id ?? 0, ...on }),
        onDone: {
          target: next,
          actions: [
            { type: 'keepTask', params: ({ event }) => ({ task, backup: event.output }) },
            ...(settles === undefined
              ? []
              : [
                  {
                    type: 'settleByRun' as const,
                    params: ({
                      event,
                    }: {
                      event: { output: { id: number; finishedAt?: string | undefined } };
                    }) => ({
                      id: settles,
                      text: `backup ${event.output.id} is done`,
                      at: event.output.finishedAt,
                    }),
                  },
                ]),
          ],
        },
        onError: failOrOver(states.failed, states.waitFailed),
      },
    }),
    [states.waitFailed]: failure({
      step,
      title: 'the backup is not known to be done',
      retry: states.waiting,
      ...(without === undefined ? {} : { next: without.target }),
      settles,
      ways: {
        retry: 'looks at the same backup again; no other one is asked for',
        skip: without?.hint ?? { disabled: 'without a backup nothing is shown; stop instead' },
        markDone: { disabled: 'only the service can say that its backup is done' },
        ...(isOwed ? { stop: { disabled: OWING } } : {}),
      },
    }),
    [states.failed]: failed,
  };
}

function namesOf(name: string) {
  const small = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  return {
    taking: `taking${name}`,
    weighing: `weighing${name}`,
    inDoubt: `${small}InDoubt`,
    asking: `asking${name}Again`,
    waiting: `waitingFor${name}`,
    waitFailed: `${small}WaitFailed`,
    failed: `${small}Failed`,
  };
}

function askAboutLostBackup(isOwed: boolean) {
  return (context: RecoveryContext): RecoveryQuestion =>
    choice(context.failure?.shortMessage ?? 'the answer to the backup request was lost', [
      ...adoptions<OptionEvent>(context.failure, 'backup'),
      lookAgain('its list of backups'),
      sendAgain('creates one more backup; harmless, but it counts against retention'),
      isOwed ? noStop : stop,
    ]);
}
