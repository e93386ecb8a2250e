import { assign } from 'xstate';
import * as z from 'zod';
import type { Failure } from '../../src/base/failure.ts';
import type { RunContext } from '../context.ts';
import { BASELINE_CALLS, baselineDifferences, newRestores } from '../parts/baseline.ts';
import type { Stakes } from '../parts/question.ts';
import type { Baseline } from '../parts/task-data.ts';
import { changed } from '../setup.ts';
import { type RunQuestion, stop as stopOption, typedName } from './asking.ts';
import { failTo, failure } from './failing.ts';
import { when, whenEvent } from './guards.ts';
import { door, type Exits, type Phase, phase, type States, state, to } from './phase.ts';
import { task } from './task.ts';

export const ConfirmSlice = () =>
  z.object({
    /** Since the first look, as sentences. */
    drift: z.array(z.string()),
  });

interface Confirmation<More extends string = never> {
  /** `restore backup 3 into orders`. */
  readonly order: (context: RunContext) => string;
  readonly stakes: (context: RunContext) => Stakes;
  /** States that follow if nothing has changed; they may have exits of their own. */
  readonly last?: (key: string, exits: Exits<'stop' | More>) => States;
  readonly exits: Exits<'stop' | More>;
}

/** Facts, the typed name, and the facts again. Any change in between is confirmed again. */
export function confirm<More extends string = never>({
  order,
  stakes,
  last,
  exits,
}: Confirmation<More>): Phase {
  const stop = to(exits.stop);
  const head = {
    title: 'confirm by name',
    like: 'confirm',
    slice: 'decide' as const,
    exits,
  };
  return phase(head, (step) => {
    const lastly = last?.(step, exits) ?? {};
    return {
      looking: state({
        meta: { title: 'looking at the instance again', calls: BASELINE_CALLS },
        invoke: {
          id: 'refresh',
          src: 'recheck',
          input: ({ context }) => ({ instance: context.run.instance }),
          onDone: [
            {
              guard: whenEvent<{ output: Baseline }>(
                'another restore was begun',
                ({ preflight }, { output }) => newRestores(preflight.facts?.baseline, output).length > 0,
              ),
              target: 'restoreMeanwhile',
              actions: assign({ failure: ({ context, event }) => restoreRuns(context, event.output) }),
            },
            {
              target: 'asking',
              actions: assign(({ context, event }) => withBaseline(context, event.output, [])),
            },
          ],
          onError: failTo('lookFailed'),
        },
      }),
      ...askAndCompare({
        step,
        title: 'the last look before the change',
        question: askForConfirmation(order, stakes),
        stop,
        failed: 'lookFailed',
        next: Object.keys(lastly)[0] ?? 'over',
      }),
      ...lastly,
      lookFailed: lookFailed(step, 'looking', stop),
      restoreMeanwhile: failure({
        step,
        title: 'a restore has started meanwhile',
        retry: 'looking',
        next: 'asking',
        stop,
        ways: {
          retry: 'looks again, then asks for the name; nothing is sent before that',
          skip: 'asks for the name although it is under way: one of the two may spoil the other',
          markDone: { disabled: 'wait until it is over, then look again' },
        },
      }),
    };
  });
}

/** Like `confirm`, but relies on the look just before it instead of a first look of its own. */
export function confirmSeen({ order, stakes, exits }: Omit<Confirmation, 'last'>): Phase {
  const stop = to(exits.stop);
  return phase({ title: 'confirm by name', slice: 'decide', exits }, (step) => ({
    ...askAndCompare({
      step,
      title: 'the last look before the change',
      question: askForConfirmation(order, stakes),
      stop,
      failed: 'lookFailed',
      next: 'over',
    }),
    lookFailed: lookFailed(step, 'asking', stop),
  }));
}

function lookFailed(step: string, retry: string, stop: string) {
  return failure({
    step,
    title: 'the instance could not be read again',
    retry,
    stop,
    ways: {
      retry: 'asks the service again, then for the name; nothing is sent before that',
      skip: { disabled: 'the confirmation rests on these facts' },
      markDone: { disabled: 'only the service can give these facts' },
    },
  });
}

interface Asking {
  readonly step: string;
  readonly title: string;
  readonly question: (context: RunContext) => RunQuestion;
  readonly stop: string;
  /** Where a failed look leads. */
  readonly failed: string;
  readonly next: string;
}

function askAndCompare({ step, title, question, stop, failed, next }: Asking): States {
  return {
    asking: state({
      tags: ['question'],
      meta: { title, question },
      on: {
        'operator.confirm': {
          guard: whenEvent<{ typed: string }>(
            'the name fits',
            ({ run }, event) => event.typed === run.instance,
          ),
          target: 'lookingAgain',
        },
        'operator.stop': stop,
      },
    }),
    ...task('lookingAgain', {
      door: door(step, 'again'),
      verb: 'recheck',
      title: 'checking that nothing has changed',
      calls: BASELINE_CALLS,
      input: ({ run: { instance } }) => ({ instance }),
      keep: (context, baseline) => {
        const { facts } = context.preflight;
        return withBaseline(
          context,
          baseline,
          facts === undefined ? [] : baselineDifferences(facts.baseline, baseline),
        );
      },
      next: 'comparing',
      failed,
    }),
    comparing: state({
      meta: { title: 'comparing with what was confirmed' },
      always: [
        {
          guard: when('something has changed', ({ confirm: { drift } }) => drift.length > 0),
          target: 'asking',
        },
        { target: next },
      ],
    }),
  };
}

function withBaseline(context: RunContext, baseline: Baseline, drift: string[]): Partial<RunContext> {
  const { facts } = context.preflight;
  return {
    ...changed(context, 'preflight', { facts: facts && { ...facts, baseline } }),
    ...changed(context, 'confirm', { drift }),
  };
}

/** Keeps the baseline, so that the restore counts as new until a person has seen it. */
function restoreRuns({ preflight: { facts }, run: { instance } }: RunContext, baseline: Baseline): Failure {
  const ids = newRestores(facts?.baseline, baseline);
  return {
    code: 'service.restore-running',
    shortMessage: `restore ${ids.join(', ')} of ${instance} is under way`,
    hints: [`to wait for it: lifeboat restores get ${ids[0]} --wait --instance ${instance}`],
    evidence: { restores: [...ids] },
  };
}

/** Begins with the changes since the facts were shown. */
function askForConfirmation(orderOf: Confirmation['order'], stakes: Confirmation['stakes']) {
  return (context: RunContext): RunQuestion => {
    const { drift } = context.confirm;
    const order = orderOf(context);
    const prompt =
      drift.length === 0
        ? `type the instance's name to ${order}`
        : `it has changed (${drift.join('; ')}): type its name to ${order} anyway`;
    return typedName({ prompt, order }, context.run.instance, 'operator.confirm', stakes(context), [
      stopOption,
    ]);
  };
}
