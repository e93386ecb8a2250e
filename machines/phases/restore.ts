import { type ManualRestore, restoreFallback } from '../fallback/restoring.ts';
import type { PlannedCall } from '../parts/runbook.ts';
import { landedOf, type RestoreFacts } from '../parts/task-data.ts';
import { assignWith, changed } from '../setup.ts';
import { failure } from './failing.ts';
import { once, type Send, sending } from './once.ts';
import { type Exits, type Phase, phase, to } from './phase.ts';
import { waiting } from './task.ts';

interface Restore<Verb extends 'restoreBackup' | 'restoreToTime' | 'performRecovery'>
  extends Omit<Send<Verb>, 'calls' | 'when'> {
  readonly on?: 'target';
  /** The one call that changes the instance. */
  readonly call: Required<Pick<PlannedCall, 'path' | 'what' | 'needs' | 'forever'>>;
  readonly fallback: ManualRestore;
  /** `again`: where facts are read and the name is asked for before another send. */
  readonly exits: Exits<'again' | 'stop'>;
}

/** The loss that a dry run names. */
export const RESTORE_FOREVER = 'everything that the instance holds now is replaced';

/** Sends a restore and waits for it. Another send needs the typed name again. */
export function restore<Verb extends 'restoreBackup' | 'restoreToTime' | 'performRecovery'>(
  given: Restore<Verb>,
): Phase {
  const { on, call, exits } = given;
  const stop = to(exits.stop);
  const task = 'restore' as const;
  const outside = {
    target: 'over',
    actions: assignWith<{ text: string }>(({ context, event }) =>
      changed(context, task, { outside: event.text }),
    ),
  };
  const head = {
    title: on === undefined ? 'restore the data' : 'recover the data',
    like: 'restore',
    slice: 'execute' as const,
    fallback: restoreFallback(given.fallback),
    exits,
  };
  return phase(head, (key) => ({
    ...once(
      {
        sending: sending(task, 'restore', {
          ...given,
          calls: [
            { method: 'GET', path: '/restores', what: 'what is there before', on },
            { method: 'POST', ...call, on },
          ],
        }),
      },
      {
        key,
        task,
        what: 'a restore',
        tags: ['sent'],
        again: to(exits.again),
        landed: 'waiting',
        stop,
        doubt: {
          title: 'did the restore start?',
          otherwise: () => 'the answer to the restore was lost',
          shown: { task: 'restore' },
          again: () => 'asks for the name again: a second restore loses what was written after the first',
        },
        failed: {
          title: 'there is no restore',
          ways: {
            retry: 'looks at the instance, asks for the name and sends it again',
            skip: { disabled: 'the run cannot go on without the restore; stop instead' },
            markDone: 'how was it restored, and when?',
          },
          on: { 'operator.retry': 'sendingAgain', 'operator.markDone': outside },
        },
      },
    ),
    ...waiting({
      key,
      verb: 'waitForRestore',
      what: 'the restore',
      title: 'waiting for the restore',
      tags: ['sent'],
      input: (context) => ({ id: landedOf(context.restore)?.id ?? 0, on }),
      calls: [{ method: 'GET', path: '/restores/:id', what: 'its status, until it is done', on }],
      done: { prompt: 'how do you know that the restore is done?', way: outside },
      onDone: {
        target: 'over',
        actions: assignWith<{ output: RestoreFacts }>(({ context, event }) =>
          changed(context, task, { restore: event.output }),
        ),
      },
      onOver: 'broken',
      failed: failure({
        step: key,
        title: 'the restore is not known to be done',
        retry: 'waiting',
        stop,
        ways: {
          retry: 'looks at the same restore again; no other one is asked for',
          skip: { disabled: 'all that follows depends on it' },
          markDone: 'how do you know that the restore is done?',
          stop: { disabled: 'the service goes on with it: leave the run and resume it later' },
        },
        on: { 'operator.markDone': outside },
      }),
    }),
    broken: {
      ...failure({
        step: key,
        title: 'the restore has failed at the service',
        retry: 'sendingAgain',
        next: 'over',
        stop,
        ways: {
          retry:
            on === undefined
              ? 'looks at the instance, asks for the name and sends another restore'
              : 'looks at the target, offers another key, asks for the name and sends another restore',
          skip: 'what the instance holds is not known; the run goes on to its follow-ups',
          markDone: 'how was it restored, and when?',
        },
        on: { 'operator.retry': 'sendingAgain', 'operator.markDone': outside },
      }),
      // Nothing is bound to a target whose restore has failed, and nothing may be.
      tags: on === undefined ? ['question', 'failed', 'sent'] : ['question', 'failed'],
    },
  }));
}
