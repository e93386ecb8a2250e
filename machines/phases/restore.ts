import type { RunContext } from '../context.ts';
import { type ManualRestore, restoreFallback } from '../fallback/restoring.ts';
import type { FallbackPart, PlannedCall } from '../parts/runbook.ts';
import { landedOf, type RestoreFacts } from '../parts/task-data.ts';
import { assignWith, changed } from '../setup.ts';
import { failure } from './failing.ts';
import { once, type Send, sending } from './once.ts';
import { type Exits, type Phase, type PhaseConfig, phase, type States, to } from './phase.ts';
import { waiting } from './task.ts';

type RestoreVerb = 'restoreBackup' | 'restoreToTime' | 'performRecovery';

interface Ask<Verb extends RestoreVerb> extends Omit<Send<Verb>, 'calls'> {
  readonly on?: 'target' | undefined;
  readonly call: Required<Pick<PlannedCall, 'path' | 'what' | 'needs' | 'forever'>>;
}

interface Restore<Verb extends RestoreVerb> extends Ask<Verb> {
  readonly fallback: ManualRestore;
  /** `again`: reads facts and asks for the name before another send. */
  readonly exits: Exits<'again' | 'stop'>;
}

const TASK = 'restore' as const;

export const RESTORE_FOREVER = 'everything that the instance holds now is replaced';

/** Another send needs the typed name again. */
export function restore<Verb extends RestoreVerb>(given: Restore<Verb>): Phase {
  const { on, exits } = given;
  const stop = to(exits.stop);
  const head = {
    title: on === undefined ? 'restore the data' : 'recover the data',
    like: 'restore',
    slice: 'execute' as const,
    fallback: restoreFallback(given.fallback),
    exits,
  };
  return phase(head, (key) => ({
    ...asking({ sending: sendingRestore('restore', given) }, { key, exits, landed: 'waiting' }),
    ...awaiting({ key, on, again: 'sendingAgain', stop }),
  }));
}

/**
 * Sends the first of `sends` that the run passes; over when the service has named the restore. Another send
 * needs the typed name again.
 */
export function askForRestore(
  sends: Readonly<Record<string, PhaseConfig>>,
  byHand: (context: RunContext) => ManualRestore,
  exits: Exits<'again' | 'stop'>,
): Phase {
  const head = {
    title: 'ask for the restore',
    slice: 'execute' as const,
    fallback: ((left) => restoreFallback(byHand(left.context))(left)) as FallbackPart<RunContext>,
    exits,
  };
  return phase(head, (key) => asking(sends, { key, exits, landed: 'over' }));
}

/** `again`: the door by which another restore is sent. */
export function waitForRestore({ exits }: { readonly exits: Exits<'again' | 'stop'> }): Phase {
  const head = {
    title: 'wait for the restore',
    slice: 'execute' as const,
    tags: ['sent'] as const,
    exits,
  };
  return phase(head, (key) => awaiting({ key, on: undefined, again: to(exits.again), stop: to(exits.stop) }));
}

export function sendingRestore<Verb extends RestoreVerb>(id: string, given: Ask<Verb>): PhaseConfig {
  const { on, call } = given;
  return sending(TASK, id, {
    ...given,
    calls: [
      { method: 'GET', path: '/restores', what: 'what is there before', on },
      { method: 'POST', ...call, on },
    ],
  });
}

const outside = {
  target: 'over',
  actions: assignWith<{ text: string }>(({ context, event }) =>
    changed(context, TASK, { outside: event.text }),
  ),
};

function asking(
  sends: Readonly<Record<string, PhaseConfig>>,
  given: { readonly key: string; readonly exits: Exits<'again' | 'stop'>; readonly landed: string },
): States {
  const { key, exits, landed } = given;
  return once(sends, {
    key,
    task: TASK,
    what: 'a restore',
    tags: ['sent'],
    again: to(exits.again),
    landed,
    stop: to(exits.stop),
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
  });
}

interface Awaiting {
  readonly key: string;
  readonly on: 'target' | undefined;
  readonly again: string;
  readonly stop: string;
}

const AWAITING_WORDS = {
  waiting: { what: 'the restore', title: 'waiting for the restore' },
  failed: {
    title: 'the restore is not known to be done',
    ways: {
      retry: 'looks at the same restore again; no other one is asked for',
      skip: { disabled: 'all that follows depends on it' },
      markDone: 'how do you know that the restore is done?',
      stop: { disabled: 'the service goes on with it: leave the run and resume it later' },
    },
  },
} as const;

function awaiting({ key, on, again, stop }: Awaiting): States {
  return {
    ...waiting({
      key,
      verb: 'waitForRestore',
      ...AWAITING_WORDS.waiting,
      tags: ['sent'],
      input: (context: RunContext) => ({ id: landedOf(context.restore)?.id ?? 0, on }),
      calls: [{ method: 'GET', path: '/restores/:id', what: 'its status, until it is done', on }],
      done: { prompt: 'how do you know that the restore is done?', way: outside },
      onDone: {
        target: 'over',
        actions: assignWith<{ output: RestoreFacts }>(({ context, event }) =>
          changed(context, TASK, { restore: event.output }),
        ),
      },
      onOver: 'broken',
      failed: failure({
        step: key,
        ...AWAITING_WORDS.failed,
        retry: 'waiting',
        stop,
        on: { 'operator.markDone': outside },
      }),
    }),
    broken: {
      ...failure({
        step: key,
        title: 'the restore has failed at the service',
        retry: again,
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
        on: { 'operator.retry': again, 'operator.markDone': outside },
      }),
      // After a failed restore, nothing is bound to a target, and nothing may be.
      tags: on === undefined ? ['question', 'failed', 'sent'] : ['question', 'failed'],
    },
  };
}
