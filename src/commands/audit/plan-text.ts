import { show } from '../../base/text.ts';
import type { PlanNames, PlannedStep } from '../../view/dry-run-view.ts';

/** The plan of a run as lines for people: what it asks, calls and changes, in order. Nothing is looked up. */
export function planText(
  title: string,
  { instance, target }: PlanNames,
  steps: readonly PlannedStep[],
): string {
  const on = target === undefined ? '' : `target: ${show(target, 80)}\n`;
  return `${show(title)}\ninstance: ${show(instance, 80)}\n${on}\n${steps.map(stepText).join('\n')}`;
}

function stepText(step: PlannedStep, at: number): string {
  const marks = `${step.changes ? ' [changes]' : ''}${step.destructive ? ' [destructive]' : ''}`;
  const lines = [
    ...(step.asks === undefined ? [] : ['asks the operator']),
    ...step.calls.map(
      ({ method, path, on, what }) =>
        `${method} ${path === '' ? 'the instance itself' : path} on ${on}: ${what}`,
    ),
    ...step.calls.flatMap(({ needs, forever }) => [
      ...(needs === undefined ? [] : [`what has to hold: ${needs}`]),
      ...(forever === undefined ? [] : [`what cannot be undone: ${forever}`]),
    ]),
    ...step.does,
    ...(step.wayBack === undefined ? [] : [`the way back: ${step.wayBack}`]),
  ];
  return `${at + 1}. ${step.title} (${step.state})${marks}\n${lines.map((line) => `   ${line}\n`).join('')}`;
}
