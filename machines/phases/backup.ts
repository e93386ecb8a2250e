import { endOf } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { backupFallback } from '../fallback/backing-up.ts';
import type { FallbackPart, PlannedCall, TimeSlice } from '../parts/runbook.ts';
import { type BackupFacts, landedOf } from '../parts/task-data.ts';
import { assignWith, changed } from '../setup.ts';
import { FOLLOW_UPS_OPEN } from './asking.ts';
import { type FailureWays, failure } from './failing.ts';
import { once, sending, type TaskName } from './once.ts';
import { closed } from './open-follow-ups.ts';
import { type Exits, type Phase, type PhaseConfig, phase, to } from './phase.ts';
import { waiting } from './task.ts';

export interface Backup {
  readonly title: string;
  readonly task: Exclude<TaskName, 'restore' | 'act'>;
  /** For the titles: `the present state`. */
  readonly what: string;
  readonly on?: 'target' | undefined;
  readonly slice?: TimeSlice;
  /** States that come first and lead to `sending`. */
  readonly offer?: (key: string) => Readonly<Record<string, PhaseConfig>>;
  /** Where the run continues without the backup, and the cost; undefined if the run exists for the backup. */
  readonly without?: { readonly exit?: string; readonly hint: string };
  readonly closes?: string;
  readonly needs?: string;
  readonly fallback?: FallbackPart<RunContext>;
  /** Without `stop`, the run cannot be stopped here, because the backup closes a follow-up. */
  readonly exits: Exits & { readonly stop?: string };
}

/** A lost answer is looked for; only if nothing arrived is it sent again without a person. */
export function backup(given: Backup): Phase {
  const { title, task, what, on, without, closes, slice, needs, exits, fallback, offer } = given;
  const isFollowUp = closes !== undefined;
  const stop = exits.stop && to(exits.stop);
  const unstoppable = isFollowUp ? { stop: { disabled: FOLLOW_UPS_OPEN } } : {};
  const next = without && (without.exit === undefined ? 'over' : to(without.exit));
  const passing = closes === undefined ? undefined : closing(closes, next);
  const failed: FailureWays = {
    retry: 'asks for another backup',
    skip: without?.hint ?? { disabled: 'without a backup nothing is proven; stop instead' },
    markDone:
      without === undefined
        ? { disabled: 'create it with the service, then run this again' }
        : 'which backup is it, and how do you know?',
    ...unstoppable,
  };
  return phase({ title, like: 'backup', slice, fallback, exits }, (key) => ({
    ...offer?.(key),
    ...once(
      {
        sending: sending(task, `createBackup-${key}`, {
          verb: 'createBackup',
          title: `asking for a backup of ${what}`,
          // Data restored elsewhere was opened with the key of the source: the target's own key may not be
          // set.
          input: () => ({ on, ...(isFollowUp && on === 'target' ? { needsKey: true } : {}) }),
          calls: callsFor(what, on, needs),
          wayBack: EXTRA,
        }),
      },
      {
        key,
        task,
        what: 'a backup',
        landed: 'waiting',
        stop,
        without: next,
        doubt: DOUBT,
        failed: {
          title: `there is no backup of ${what}`,
          ways: failed,
          on: passing,
        },
      },
    ),
    ...waiting({
      key,
      verb: 'waitForBackup',
      what: `the backup of ${what}`,
      title: `waiting for the backup of ${what}`,
      input: (context) => ({
        id: landedOf(context[task])?.id ?? 0,
        on,
        ...(isFollowUp ? { mustOpen: true } : {}),
      }),
      calls: [{ method: 'GET', path: '/backups/:id', what: 'its status, until it is done', on }],
      onDone: {
        target: 'over',
        actions: assignWith<{ output: BackupFacts }>(({ context, event }) => ({
          ...changed(context, task, { backup: event.output }),
          ...(closes === undefined
            ? {}
            : closed(context, closes, {
                how: 'run',
                text: `backup ${event.output.id} is done`,
                at: endOf(event.output),
              })),
        })),
      },
      onOver: 'failed',
      failed: failure({
        step: key,
        title: 'the backup is not known to be done',
        retry: 'waiting',
        next,
        stop,
        ways: {
          retry: 'looks at the same backup again; no other one is asked for',
          backUp: ONE_MORE,
          skip: failed.skip,
          markDone: { disabled: 'only the service can say that its backup is done' },
          ...unstoppable,
        },
        on: {
          'operator.backUp': { target: 'sendingAgain', actions: 'clearFailure' },
          ...(passing && { 'operator.skip': passing['operator.skip'] }),
        },
      }),
    }),
  }));
}

const ONE_MORE = 'creates one more backup; harmless, but it counts against retention';
const EXTRA = 'an extra backup is deleted by retention; nothing else changes';
const DOUBT = {
  title: 'was the backup created?',
  otherwise: () => 'the answer to the backup request was lost',
  shown: { task: 'backup' as const },
  again: () => ONE_MORE,
};

function callsFor(what: string, on?: 'target', needs?: string): readonly PlannedCall[] {
  return [
    { method: 'GET', path: '/backups', what: 'what is there before', on },
    { method: 'POST', path: '/backups', what: `one backup of ${what}`, on, needs },
  ];
}

/** `again` is where another backup is asked for. */
interface Plain {
  readonly exits: Exits<'again' | 'stop'>;
}

/** Over when the service has named the backup. Only a person sends another request. */
export function askForBackup({ exits }: Plain): Phase {
  const head = {
    title: 'ask for the backup',
    fallback: backupFallback(() => 'ask for a backup'),
    exits,
  };
  return phase(head, (key) =>
    once(
      {
        sending: sending('backup', 'createBackup', {
          verb: 'createBackup',
          title: 'asking for a backup',
          input: () => ({}),
          calls: callsFor('the instance'),
          wayBack: EXTRA,
        }),
      },
      {
        key,
        task: 'backup',
        what: 'a backup',
        again: to(exits.again),
        landed: 'over',
        stop: to(exits.stop),
        doubt: DOUBT,
        failed: {
          title: 'there is no backup',
          ways: {
            retry: 'asks for another backup',
            skip: { disabled: 'the run is there for the backup; stop instead' },
            markDone: { disabled: 'create it with the service, then stop this run' },
          },
        },
      },
    ),
  );
}

const WAIT_WORDS = {
  waiting: {
    what: 'the backup',
    title: 'waiting for the backup',
    calls: [{ method: 'GET', path: '/backups/:id', what: 'its status, until it is done' }],
  },
} as const;

export function waitForBackup({ exits }: Plain): Phase {
  return phase({ title: 'wait for the backup', exits }, (key) => {
    const failed = failure({
      step: key,
      title: 'the backup is not known to be done',
      retry: 'waiting',
      stop: to(exits.stop),
      ways: {
        retry: 'looks at the same backup again; no other one is asked for',
        backUp: ONE_MORE,
        skip: { disabled: 'stop instead: the service goes on with it' },
        markDone: { disabled: 'only the service can say that its backup is done' },
      },
      on: { 'operator.backUp': { target: to(exits.again), actions: 'clearFailure' } },
    });
    return waiting({
      key,
      verb: 'waitForBackup',
      ...WAIT_WORDS.waiting,
      input: (context) => ({ id: landedOf(context.backup)?.id ?? 0 }),
      onDone: {
        target: 'over',
        actions: assignWith<{ output: BackupFacts }>(({ context, event }) =>
          changed(context, 'backup', { backup: event.output }),
        ),
      },
      failed,
    });
  });
}

/** Close the follow-up when its step is skipped or was done by hand. */
export function closing(id: string, target: string | undefined) {
  const as = (how: 'hand' | 'skipped') => ({
    target,
    actions: assignWith<{ text: string }>(({ context, event }) =>
      closed(context, id, { how, text: event.text }),
    ),
  });
  return { 'operator.skip': as('skipped'), 'operator.markDone': as('hand') };
}
