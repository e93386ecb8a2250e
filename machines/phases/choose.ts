import { assign } from 'xstate';
import * as z from 'zod';
import { futureWords } from '../../src/base/quantity.ts';
import { isReachable, nearEdge } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { chooseBackupFallback, chooseTimeFallback } from '../fallback/restoring.ts';
import { ReachableRange, RestorableBackups } from '../parts/recovery-data.ts';
import { BackupFacts, opensWords } from '../parts/task-data.ts';
import { changed } from '../setup.ts';
import { choice, type Option, type RunQuestion, sizeOf, stop } from './asking.ts';
import { noteReason } from './failing.ts';
import { when, whenEvent } from './guards.ts';
import { door, type Exits, type Phase, phase, type States, state, to } from './phase.ts';
import { task } from './task.ts';

export const ChooseSlice = () =>
  z.object({
    backups: RestorableBackups().optional(),
    backup: BackupFacts().optional(),
    range: ReachableRange().optional(),
    time: z.string().optional(),
  });

const WORDS = {
  listing: {
    title: 'listing the backups that can be restored',
    calls: [{ method: 'GET', path: '/backups', what: 'the backups that are done' }],
  },
  listingFailed: {
    title: 'the backups could not be listed',
    ways: {
      retry: 'asks the service again; nothing has been changed',
      skip: { disabled: 'without a backup there is nothing to restore' },
      markDone: { disabled: 'only the service knows its backups' },
    },
  },
} as const;

export function chooseBackup({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  const head = {
    title: 'choose the backup',
    slice: 'decide' as const,
    fallback: chooseBackupFallback,
    exits,
  };
  const leave = to(exits.stop);
  return phase(head, (step) => ({
    ...task('listing', {
      verb: 'listBackups',
      ...WORDS.listing,
      input: () => ({}),
      keep: (context, backups) => changed(context, 'choose', { backups }),
      next: 'evaluating',
      failed: {
        step,
        ...WORDS.listingFailed,
        stop: leave,
      },
    }),
    evaluating: state({
      meta: { title: 'whether a backup was named at the start' },
      always: [
        {
          guard: when(
            'a backup was named at the start',
            (context) => backupOf(context, context.run.asked.backup) !== undefined,
          ),
          target: 'over',
          actions: assign(({ context }) =>
            changed(context, 'choose', { backup: backupOf(context, context.run.asked.backup) }),
          ),
        },
        { target: 'asking' },
      ],
    }),
    asking: state({
      tags: ['question'],
      meta: {
        title: 'which backup is restored',
        question: askForBackup,
        when: ({ choose: { backup } }) => backup === undefined,
      },
      on: {
        'operator.chooseBackup': {
          guard: whenEvent<{ id: number }>(
            'it is listed',
            (context, event) => backupOf(context, event.id) !== undefined,
          ),
          target: 'over',
          actions: assign(({ context, event }) =>
            changed(context, 'choose', { backup: backupOf(context, event.id) }),
          ),
        },
        'operator.lookAgain': 'listing',
        'operator.stop': leave,
      },
    }),
  }));
}

const SHOWN = 20;

/** A restore replaces all data, so no backup is recommended. */
function askForBackup({ choose: { backups }, run: { asked, instance } }: RunContext): RunQuestion {
  const { newest = [], total = 0 } = backups ?? {};
  const more =
    total > SHOWN
      ? `, the ${Math.min(SHOWN, newest.length)} newest of ${total} (an older one: --backup ID)`
      : '';
  const unknown =
    asked.backup === undefined ? '' : `backup ${asked.backup} is not among the backups that are done: `;
  const prompt =
    newest.length === 0
      ? `${instance} has no backup that could be restored`
      : `${unknown}which backup replaces the data of ${instance}${more}?`;
  return choice(prompt, [
    ...newest.slice(0, SHOWN).map(optionOf),
    { event: { type: 'operator.lookAgain' }, label: 'look again', hint: 'asks the service for its list' },
    stop,
  ]);
}

function optionOf(backup: BackupFacts): Option {
  const { id, triggeredAt, finishedAt, size, aheadSeconds, downloadable } = backup;
  const loss = aheadSeconds === undefined ? 'everything written after it is lost' : futureWords(aheadSeconds);
  const unoffered = downloadable === false ? '; the service does not offer it for download' : '';
  return {
    event: { type: 'operator.chooseBackup', id },
    label: `backup ${id} of ${triggeredAt ?? finishedAt ?? 'an unknown time'}`,
    hint: `${sizeOf(size)}; ${loss}${opensWords(backup)}${unoffered}`,
    ...(backup.opens?.how === 'verified' ? { isProven: true } : {}),
  };
}

function backupOf({ choose: { backups } }: RunContext, wanted: number | undefined): BackupFacts | undefined {
  return backups?.newest.find(({ id }) => id === wanted);
}

const RANGE_CALLS = [
  { method: 'GET', path: '/pitr', what: 'which times the instance can be brought back to' },
] as const;

const RANGE_FAILED = {
  title: 'no point in time can be reached',
  ways: {
    retry: 'asks the service again; nothing has been changed',
    skip: { disabled: 'without a range there is no time to choose; a backup may be restored instead' },
    markDone: { disabled: 'only the service knows what it can reach' },
  },
} as const;

export function chooseTime({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  const head = { title: 'choose the moment', slice: 'decide' as const, fallback: chooseTimeFallback, exits };
  const leave = to(exits.stop);
  return phase(head, (step) => ({
    ...task('readingRange', {
      verb: 'pitrRange',
      id: 'readRange',
      title: 'reading the range of times',
      calls: RANGE_CALLS,
      input: () => ({}),
      keep: (context, range) => changed(context, 'choose', { range }),
      next: 'evaluating',
      failed: { step, ...RANGE_FAILED, stop: leave },
    }),
    evaluating: state({
      meta: { title: 'whether a time was named at the start' },
      always: [
        {
          guard: when('the time of the start can be reached', ({ choose, run }) =>
            isReachable(choose.range, run.asked.time),
          ),
          target: 'nearingEdge',
          actions: assign(({ context }) => changed(context, 'choose', { time: context.run.asked.time })),
        },
        { target: 'asking' },
      ],
    }),
    asking: state({
      id: door(step, 'time'),
      tags: ['question'],
      meta: {
        title: 'the moment that the data is brought back to',
        question: askForTime,
        when: ({ choose: { time } }) => time === undefined,
      },
      on: {
        'operator.chooseTime': {
          guard: whenEvent<{ time: string }>('it can be reached', ({ choose }, event) =>
            isReachable(choose.range, event.time),
          ),
          target: 'nearingEdge',
          // Drops the time named at the start: a growing range must not bring it back unasked.
          actions: assign(({ context, event }) => ({
            ...changed(context, 'choose', { time: event.time }),
            ...changed(context, 'run', { asked: { ...context.run.asked, time: undefined } }),
            ...changed(context, 'confirm', { drift: [] }),
          })),
        },
        'operator.lookAgain': 'readingRange',
        'operator.stop': leave,
      },
    }),
    nearingEdge: state({
      meta: { title: 'whether the time is close to an edge of the range' },
      always: [
        {
          guard: when(
            'it is close to an edge',
            ({ choose: { range, time } }) => nearEdge(range, time) !== undefined,
          ),
          target: 'nearEdge',
        },
        { target: 'over' },
      ],
    }),
    nearEdge: state({
      tags: ['question'],
      meta: { title: 'the moment is close to an edge of the range', question: askNearEdge },
      on: {
        'operator.goOnWithout': { target: 'over', actions: noteReason(step, 'close to an edge: ') },
        'operator.lookAgain': {
          target: 'readingRange',
          actions: assign(({ context }) => ({
            ...changed(context, 'choose', { time: undefined }),
            ...changed(context, 'run', { asked: { ...context.run.asked, time: undefined } }),
          })),
        },
        'operator.stop': leave,
      },
    }),
  }));
}

function askNearEdge({ choose: { range, time } }: RunContext): RunQuestion {
  return choice(`${nearEdge(range, time)}: go on with it?`, [
    {
      event: { type: 'operator.lookAgain' },
      label: 'choose another moment',
      hint: `clear of both edges: ${range?.earliest} to ${range?.latest}`,
    },
    {
      event: { type: 'operator.goOnWithout' },
      label: `go on with ${time}`,
      hint: 'the service may refuse it, or fail to restore',
      needs: { what: 'reason', prompt: 'why this moment?' },
    },
    stop,
  ]);
}

/** The range moves while people think. Exits: `readAgain` after a failure, `otherTime` to choose again. */
export function rereadRange(step: string, exits: Exits<'readAgain' | 'otherTime' | 'stop'>): States {
  return {
    ...task('readingRange', {
      verb: 'pitrRange',
      id: 'rereadRange',
      title: 'checking that the time can still be reached',
      calls: RANGE_CALLS,
      input: () => ({}),
      keep: (context, range) => changed(context, 'choose', { range }),
      next: 'comparingTime',
      failed: { step, ...RANGE_FAILED, retry: to(exits.readAgain), stop: to(exits.stop) },
    }),
    comparingTime: state({
      meta: { title: 'comparing the time with the range' },
      always: [
        {
          guard: when('the time can still be reached', ({ choose }) =>
            isReachable(choose.range, choose.time),
          ),
          target: 'over',
        },
        {
          target: to(exits.otherTime),
          actions: assign(({ context }) => {
            const { time, range } = context.choose;
            const gone = `${time} can no longer be reached: the range is now ${range?.start} to ${range?.end}`;
            return {
              ...changed(context, 'confirm', { drift: [gone] }),
              ...changed(context, 'run', { asked: { ...context.run.asked, time: undefined } }),
            };
          }),
        },
      ],
    }),
  };
}

function askForTime({ choose, confirm: { drift }, run, preflight, card }: RunContext): RunQuestion {
  const { range, time } = choose;
  const { asked, instance, incidentAt } = run;
  const suggested = time ?? asked.time;
  const unreachable =
    asked.time === undefined || time !== undefined ? '' : `${asked.time} cannot be reached: `;
  const before = drift.length === 0 ? unreachable : `${drift.join('; ')}: `;
  return {
    kind: 'time',
    prompt: `${before}which moment do you bring the data of ${instance} back to? everything after it is lost`,
    event: 'operator.chooseTime',
    earliest: range?.start ?? '',
    latest: range?.end ?? '',
    suggested,
    wentWrongAt: incidentAt,
    backupsAt: [preflight.facts?.newest, ...(card.onRecord?.proven ?? [])].flatMap(
      (backup) => backup?.triggeredAt ?? [],
    ),
    options: [
      {
        event: { type: 'operator.lookAgain' },
        label: 'read the range again',
        hint: 'it grows with time, and its beginning moves with retention',
      },
      stop,
    ],
  } as RunQuestion;
}
