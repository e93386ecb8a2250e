import * as z from 'zod';
import type { Failure } from '../../src/base/failure.ts';
import type { RunContext } from '../context.ts';
import { approvalQuestion } from '../parts/approval-question.ts';
import type { Approve, Check, Step } from '../parts/plan.ts';
import { assignWith, changed } from '../setup.ts';
import { choice, type Option, type OptionEvent, type RunQuestion, stop } from './asking.ts';
import { noteReason } from './failing.ts';
import { when } from './guards.ts';
import { type OnceSlice, once, sending } from './once.ts';
import { type Exits, type Phase, phase, state, to } from './phase.ts';
import { task } from './task.ts';

/* The phases of a plan's step that runs no runbook; a run passes the one of its kind. */

export const OutsideSlice = () =>
  z.object({
    /** In words. */
    found: z.string().optional(),
    approved: z.number(),
    /** The step was stopped because nobody approved in time. */
    expired: z.boolean().optional(),
  });

type Stepped = { readonly exits: Exits<'stop'> };
type Of<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>;

/** Throws unless the step is of this kind. */
function stepOf<Kind extends Step['kind']>({ run }: RunContext, kind: Kind): Of<Kind> {
  if (run.step?.kind !== kind) throw new Error(`the step is no ${kind}`);
  return run.step as Of<Kind>;
}

const isOf =
  (kind: Step['kind']) =>
  ({ run }: RunContext) =>
    run.step?.kind === kind;

/** Asks until it is found or the time is over. */
export function checkOutside({ exits }: Stepped): Phase {
  return phase({ title: 'ask and compare', when: isOf('check'), exits }, (step) =>
    task('asking', {
      verb: 'askOutside',
      title: 'asking',
      does: ['asks what the check names: an address, a database, a port or a program'],
      input: (context) => {
        const { check, timeout, retries } = stepOf(context, 'check');
        return { check: withObjectives(check, context), timeoutMs: timeout, retries };
      },
      keep: (context, { found }) => changed(context, 'outside', { found }),
      next: 'over',
      failed: {
        step,
        title: 'it is not as it should be',
        ways: {
          retry: 'asks again',
          skip: 'the plan continues without this check, and its report says so',
          markDone: 'how do you know that it is as it should be?',
        },
        next: 'over',
        stop: to(exits.stop),
      },
    }),
  );
}

/** Fills in `{rpo}` and `{rto}` of the plan. */
function withObjectives(check: Check, { run: { objectives } }: RunContext): Check {
  const { age } = check.expect ?? {};
  if (age === undefined) return check;
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : `${Math.round(ms / 1000)}s`);
  const filled = age
    .replace('{rpo}', seconds(objectives?.rpo) ?? '{rpo}')
    .replace('{rto}', seconds(objectives?.rto) ?? '{rto}');
  return { ...check, expect: { ...check.expect, age: filled } };
}

export function runCommand({ exits }: Stepped): Phase {
  const isRepeatable = (context: RunContext) =>
    isOf('command')(context) && stepOf(context, 'command').command.kind === 'repeatable';
  return phase({ title: 'run a command', when: isRepeatable, exits }, (step) =>
    task('running', {
      verb: 'runCommand',
      title: 'running the command',
      does: ['runs the program of the step, without a shell'],
      wayBack: 'the `undo` of the step',
      input: (context) => {
        const { command, retries } = stepOf(context, 'command');
        return { argv: command.argv, timeoutMs: command.timeout, retries };
      },
      keep: (context, { found }) => changed(context, 'outside', { found }),
      next: 'over',
      failed: {
        step,
        title: 'the command failed',
        ways: {
          retry: 'runs it again',
          skip: 'the plan continues without it, and its report says so',
          markDone: 'how do you know that it is done?',
        },
        next: 'over',
        stop: to(exits.stop),
      },
    }),
  );
}

/** The program must not run twice; another one says whether a lost run of it has happened. */
export function runOnce({ exits }: Stepped): Phase {
  const isOnce = (context: RunContext) =>
    isOf('command')(context) && stepOf(context, 'command').command.kind === 'once';
  const outside = {
    target: 'over',
    actions: assignWith<{ text: string }>(({ context, event }) =>
      changed(context, 'act', { outside: event.text }),
    ),
  };
  return phase({ title: 'run a command once', when: isOnce, exits }, (key) =>
    once(
      {
        sending: sending('act', 'runOnce', {
          verb: 'runOnce',
          title: 'running the command',
          input: (context) => {
            const { argv, landed, timeout } = stepOf(context, 'command').command;
            return { argv, landed: landed ?? [], timeoutMs: timeout };
          },
          calls: [],
          wayBack: 'the `undo` of the step',
        }),
      },
      {
        key,
        task: 'act',
        what: 'the command',
        landed: 'over',
        stop: to(exits.stop),
        again: to(key),
        doubt: {
          title: 'has it happened?',
          otherwise: () => 'the command was begun, and its end is not known',
          again: () => 'runs it once more: it may then have happened twice',
          shown: {
            looksAt: 'what the `landed` command says',
            begun: {
              event: { type: 'operator.hasBegun' },
              label: 'it has happened',
              hint: 'the plan continues',
              needs: { what: 'evidence', prompt: 'how do you know?' },
            },
          },
        },
        failed: {
          title: 'it has not happened',
          never: notLanded,
          ways: {
            retry: 'runs it, unless its `landed` program says by then that it has happened',
            skip: { disabled: 'say that it was done outside, or stop this step' },
            markDone: 'how was it done, and when?',
          },
          on: { 'operator.retry': 'sendingAgain', 'operator.markDone': outside },
        },
      },
    ),
  );
}

/** An exit code other than 0 is a failure; a process that died was only not seen to end. */
function notLanded({ send }: Pick<OnceSlice, 'send'>): Failure {
  const { lost, evidence } = send.is === 'absent' ? send : {};
  if (lost !== undefined)
    return { ...lost, hints: ['its `landed` program says that it has not happened', ...lost.hints] };
  return {
    code: 'command.not-landed',
    shortMessage: 'the command was begun, and its `landed` program says that it has not happened',
    hints: ['it no longer runs', 'look at what it may have done in part, then run it once more'],
    evidence: { shown: evidence ?? null },
  };
}

export function manual({ exits }: Stepped): Phase {
  return phase({ title: 'done by a person', slice: 'human', when: isOf('manual'), exits }, (step) => ({
    asking: state({
      tags: ['question'],
      meta: { title: 'waits until a person has done it', question: askManual },
      on: {
        'operator.markDone': {
          target: 'over',
          actions: assignWith<{ text: string }>(({ context, event }) =>
            changed(context, 'act', { outside: event.text }),
          ),
        },
        'operator.skip': { target: 'over', actions: noteReason(step) },
        'operator.stop': to(exits.stop),
      },
    }),
  }));
}

const SKIP: Option = {
  event: { type: 'operator.skip' },
  label: 'skip this step',
  hint: 'the plan continues without it, and its report says so',
  needs: { what: 'reason', prompt: 'why is it skipped?' },
};

function askManual(context: RunContext): RunQuestion {
  const { step } = context.run;
  const given = step?.kind === 'manual' ? step.manual : undefined;
  const owner = given?.owner === undefined ? '' : ` (${given.owner})`;
  return choice(`${given?.do ?? 'the step is done by a person'}${owner}`, [
    {
      event: { type: 'operator.markDone' },
      label: 'it is done',
      needs: { what: 'evidence', prompt: given?.proof ?? 'how do you know that it is done?' },
    },
    SKIP,
    stop,
  ]);
}

/** The name is typed for each approval, once its signature is there. */
export function approveStep({ exits }: Stepped): Phase {
  return phase({ title: 'approved by others', slice: 'human', when: isOf('approve'), exits }, (step) => ({
    asking: state({
      tags: ['question'],
      meta: { title: 'waits for approval', question: askApproval },
      on: {
        'operator.confirm': [
          {
            guard: when('enough have approved', (context) => {
              const { quorum } = stepOf(context, 'approve').approve;
              return context.outside.approved + 1 >= quorum;
            }),
            target: 'over',
            actions: countApproval,
          },
          { target: 'asking', reenter: true, actions: countApproval },
        ],
        'approval.expired': [
          {
            guard: when(
              'the step stops then',
              (context) => stepOf(context, 'approve').approve.onExpiry === 'stop',
            ),
            target: to(exits.stop),
            actions: noteExpiry,
          },
          { target: 'asking', reenter: true },
        ],
        'operator.skip': { target: 'over', actions: noteReason(step) },
        'operator.stop': to(exits.stop),
      },
    }),
  }));
}

const countApproval = assignWith(({ context }) =>
  changed(context, 'outside', { approved: context.outside.approved + 1 }),
);

const noteExpiry = assignWith(({ context }) => changed(context, 'outside', { expired: true }));

/** The question is also read, for its kind, in a run without a step. */
const BY_ANYBODY: Approve = { quorum: 1, within: 3_600_000, notBy: 'starter', onExpiry: 'pause' };

function askApproval(context: RunContext): RunQuestion {
  const { step } = context.run;
  const { id = 'the step', about } = step ?? {};
  return approvalQuestion<OptionEvent>({
    approve: step?.kind === 'approve' ? step.approve : BY_ANYBODY,
    given: context.outside.approved,
    name: id,
    order: `go on with ${about ?? id}`,
    shows: [],
    stakes: {
      overwritten: 'nothing by this step; the plan continues with what comes after it',
      lost: 'nothing by this step',
      wayBack: 'until it is given, the plan waits here',
    },
    options: [SKIP, stop],
  }) as RunQuestion;
}

export function tellPeople({ exits }: Stepped): Phase {
  return phase({ title: 'tell people', when: isOf('notify'), exits }, (step) =>
    task('telling', {
      verb: 'tellPeople',
      title: 'telling people',
      does: ['sends the text of the step to the targets of lifeboat.yaml'],
      input: (context) => stepOf(context, 'notify').notify,
      keep: (context, { told }) => changed(context, 'outside', { found: told.join(', ') }),
      next: 'over',
      failed: {
        step,
        title: 'nobody could be told',
        ways: {
          retry: 'sends it again',
          skip: 'the plan continues without it, and its report says so',
          markDone: 'who told them, and how?',
        },
        next: 'over',
        stop: to(exits.stop),
      },
    }),
  );
}

export function waitStep({ exits }: Stepped): Phase {
  return phase({ title: 'let time pass', when: isOf('wait'), exits }, (step) =>
    task('waiting', {
      verb: 'waitFor',
      title: 'waiting',
      tags: ['waiting'],
      does: ['lets the time of the step pass'],
      input: (context) => ({ ms: stepOf(context, 'wait').wait }),
      next: 'over',
      failed: {
        step,
        title: 'the wait was ended',
        ways: {
          retry: 'waits for the rest of the time',
          skip: 'the plan continues now, and its report says so',
          markDone: { disabled: 'time passes by itself' },
        },
        next: 'over',
        stop: to(exits.stop),
      },
    }),
  );
}
