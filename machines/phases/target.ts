import { assign } from 'xstate';
import * as z from 'zod';
import { isNeverPassed, restoredName } from '../closing/evaluate.ts';
import { stakesOfRestore } from '../closing/stakes.ts';
import type { RunContext } from '../context.ts';
import { targetFallback } from '../fallback/disaster-recovery.ts';
import { targetDifferences } from '../parts/baseline.ts';
import { TargetFacts } from '../parts/recovery-data.ts';
import type { PlannedCall } from '../parts/runbook.ts';
import { assignWith, changed } from '../setup.ts';
import { type Option, type RunQuestion, stop as stopOption, typedName } from './asking.ts';
import { expectedTarget } from './expected-origin.ts';
import { failureQuestion } from './failing.ts';
import { when, whenEvent } from './guards.ts';
import { door, type Exits, type Phase, phase, state, to } from './phase.ts';
import { doubtOfKey } from './source.ts';
import { task } from './task.ts';

export const TargetSlice = () =>
  z.object({
    facts: TargetFacts().optional(),
    /** Codes of overridden blockers. */
    overridden: z.array(z.string()),
  });

/** The instance that takes the data: the run's target, or its own. */
type Side = 'target' | undefined;

/** Show which instance the target is, and whether it can take the data. */
const callsOn = (on: Side): readonly PlannedCall[] => [
  { method: 'GET', path: '', what: 'the target, its service, plan and state', on },
  { method: 'GET', path: '/backups', what: 'whether it has backups of its own', on },
  { method: 'GET', path: '/restores', what: 'whether anything was restored into it', on },
  {
    method: 'GET',
    path: '/metrics',
    what: 'its disk, as far as the service reports it',
    on,
    notByHand: true,
  },
];

const WORDS = {
  looking: { title: 'looking at the target' },
  lookingFailed: {
    title: 'the target could not be read',
    ways: {
      retry: 'asks the target again, then for its name; nothing is sent before that',
      skip: { disabled: 'without these facts there is nothing to confirm' },
      markDone: { disabled: 'only the service can give these facts' },
    },
  },
} as const;

/** A blocker is overridden by the typed name, by a reason, or not at all. */
export function inspectTarget({ on, exits }: { readonly on: Side; readonly exits: Exits<'stop'> }): Phase {
  const stop = to(exits.stop);
  const head = {
    title: 'look at the target',
    slice: 'decide' as const,
    fallback: targetFallback,
    exits,
  };
  return phase(head, (step) => ({
    ...task('looking', {
      verb: 'inspectTarget',
      ...WORDS.looking,
      calls: callsOn(on),
      input: (context) => inspection(context, on),
      keep: (context, facts) => withTarget(context, facts, []),
      next: 'evaluating',
      failed: {
        step,
        ...WORDS.lookingFailed,
        door: door(step, 'unreadable'),
        stop,
      },
    }),
    evaluating: state({
      meta: { title: 'checking what was found' },
      always: [{ ...ifBlocked, target: 'blocked' }, { target: 'over' }],
    }),
    blocked: state({
      id: door(step, 'blocked'),
      tags: ['question', 'failed'],
      meta: { title: 'the target does not fit', question: askAboutTarget },
      on: {
        'operator.retry': { target: 'looking', actions: 'clearFailure' },
        'operator.override': {
          guard: whenEvent<{ typed: string }>(
            'the name fits',
            (context, event) => event.typed === restoredName(context),
          ),
          target: 'evaluating',
          actions: assign(({ context }) => overriding(context, step, 'the name of the target was typed')),
        },
        'operator.skip': {
          target: 'evaluating',
          actions: assign(({ context, event }) => overriding(context, step, event.text)),
        },
        'operator.markDone': {
          target: 'evaluating',
          actions: assign(({ context, event }) => overriding(context, step, `done outside: ${event.text}`)),
        },
        'operator.stop': stop,
      },
    }),
  }));
}

interface ConfirmTarget {
  /** `key`: back to the choice of the key. */
  readonly exits: Exits<'unreadable' | 'blocked' | 'key' | 'stop'>;
}

export function confirmTarget({ exits }: ConfirmTarget): Phase {
  const head = { title: 'confirm by the name of the target', slice: 'decide' as const, exits };
  return phase(head, () => ({
    asking: state({
      tags: ['question'],
      meta: { title: 'the last look before the recovery', question: askForConfirmation },
      on: {
        'operator.confirm': {
          guard: whenEvent<{ typed: string }>(
            'the name fits',
            (context, event) => event.typed === restoredName(context),
          ),
          target: 'lookingAgain',
        },
        'operator.back': to(exits.key),
        'operator.stop': to(exits.stop),
      },
    }),
    ...task('lookingAgain', {
      verb: 'inspectTarget',
      id: 'reinspectTarget',
      title: 'checking that the target has not changed',
      calls: callsOn('target'),
      input: (context) => inspection(context, 'target'),
      keep: (context, facts) => withTarget(context, facts, driftOf(context, facts)),
      next: 'comparing',
      failed: to(exits.unreadable),
    }),
    comparing: state({
      meta: { title: 'comparing with what was confirmed' },
      always: [
        { ...ifBlocked, target: to(exits.blocked) },
        {
          guard: when('the target has changed', ({ confirm: { drift } }) => drift.length > 0),
          target: 'asking',
        },
        { target: 'over' },
      ],
    }),
  }));
}

const ifBlocked = {
  guard: when('the target does not fit', (context) => openBlocker(context) !== undefined),
  actions: assignWith(({ context }) => ({ failure: openBlocker(context) })),
};

function openBlocker({ target: { facts, overridden } }: RunContext) {
  return facts?.blockers.find(({ code }) => !overridden.includes(code));
}

function withTarget(context: RunContext, facts: TargetFacts, drift: string[]): Partial<RunContext> {
  return { ...changed(context, 'target', { facts }), ...changed(context, 'confirm', { drift }) };
}

function driftOf({ target: { facts } }: RunContext, now: TargetFacts): string[] {
  return facts === undefined ? [] : targetDifferences(facts.identity, now.identity);
}

function overriding(context: RunContext, step: string, reason: string): Partial<RunContext> {
  const { failure: found, skipped, target } = context;
  return {
    ...changed(context, 'target', { overridden: [...target.overridden, found?.code ?? ''] }),
    skipped: [...skipped, { step, reason: `${found?.code}: ${reason}` }],
  };
}

function inspection({ run, card, source: { from } }: RunContext, on: Side) {
  const { instance, onlyApps, single } = run;
  if (single !== undefined) return { on, ...single.lost };
  const known = card.card ?? card.onRecord?.card;
  return { on, ...expectedTarget(instance, known, from?.guid), apps: onlyApps };
}

function askAboutTarget(context: RunContext): RunQuestion {
  const { failure: found } = context;
  const target = restoredName(context);
  const retry = 'looks at the target again; nothing has been changed';
  const isFull = found?.code === 'target.not-empty';
  const isNever = found !== undefined && isNeverPassed(found);
  const disabled = isFull
    ? `type ${target} to overwrite what it holds`
    : 'the data of the source would be lost, or unreadable in the target';
  const question = failureQuestion(found, {
    retry,
    skip: isFull || isNever ? { disabled } : 'the recovery goes on despite this finding',
    markDone: isFull || isNever ? { disabled } : 'how was it resolved?',
  }) as RunQuestion;
  if (!isFull) return question;
  const prompt = `${found?.shortMessage}: type its name to overwrite it`;
  return {
    ...typedName(
      { prompt, order: `overwrite ${target}` },
      target,
      'operator.override',
      stakesOfRestore(context),
      [],
    ),
    options: question.options,
  } as RunQuestion;
}

function askForConfirmation(context: RunContext): RunQuestion {
  const { from } = context.source;
  const { drift } = context.confirm;
  const { instance } = context.run;
  const target = restoredName(context);
  const what = from?.what === 'backup' ? `backup ${from.guid}` : `the newest backup of guid ${from?.guid}`;
  const order = `recover ${what} of ${instance} into ${target} with key ${from?.fingerprint}`;
  const doubts = [
    drift.length === 0 ? [] : `the target has changed (${drift.join('; ')})`,
    doubtOfKey(context) ?? [],
  ].flat();
  const prompt =
    doubts.length === 0
      ? `type the name of the TARGET to ${order}`
      : `${doubts.join(', and ')}: type the name of the TARGET to ${order} anyway`;
  const stakes = stakesOfRestore(context);
  return typedName({ prompt, order }, target, 'operator.confirm', stakes, [anotherKey, stopOption]);
}

const anotherKey: Option = {
  event: { type: 'operator.back' },
  label: 'choose another key',
  hint: 'asks again which key the backup was made with, then for the name',
};
