import type { RunContext } from '../context.ts';
import type { Step } from '../parts/plan.ts';
import type { Closing, Fact } from '../parts/runbook.ts';
import { landedOf } from '../parts/task-data.ts';
import { deviationsOf } from './closing.ts';

const TITLES: Readonly<Record<Step['kind'], string>> = {
  runbook: 'run a runbook',
  check: 'check',
  manual: 'have a person do it',
  approve: 'have it approved',
  command: 'run a command',
  notify: 'tell people',
  wait: 'wait',
};

export function titleOfStep({ run: { step } }: RunContext): string {
  return step === undefined ? 'a step of a plan' : `${step.id}: ${step.about ?? TITLES[step.kind]}`;
}

/** A step that rests on a person's word is done, but proves nothing. */
export function closingOfStep(context: RunContext, finalState: string): Closing {
  const { run, outside, act } = context;
  const id = run.step?.id ?? 'the step';
  const base = { summary: groupsOf(context), deviations: deviationsOf(context) };
  if (finalState === 'stopped') {
    const why = outside.expired === true ? ': it was not approved in time' : '';
    return { outcome: 'stopped', proven: false, title: `${id} was stopped${why}`, ...base };
  }
  const isSeen = outside.found !== undefined || landedOf(act) !== undefined || outside.approved > 0;
  const proven = finalState === 'done' && (isSeen || run.step?.kind === 'wait');
  if (finalState === 'unproven')
    return { outcome: 'done-unproven', proven: false, title: `${id} was passed by a person`, ...base };
  const how = outside.found ?? act.outside;
  return { outcome: 'done', proven, title: how === undefined ? `${id} is done` : `${id}: ${how}`, ...base };
}

export function factsOfStep({ run, outside }: RunContext): readonly Fact[] {
  return [
    ...(run.step === undefined ? [] : [{ label: 'step', value: run.step.id }]),
    ...(outside.found === undefined ? [] : [{ label: 'found', value: outside.found }]),
    ...(outside.approved === 0 ? [] : [{ label: 'approvals', value: outside.approved }]),
  ];
}

function groupsOf(context: RunContext): Closing['summary'] {
  const facts = factsOfStep(context);
  return facts.length === 0 ? [] : [{ title: 'step', facts }];
}
