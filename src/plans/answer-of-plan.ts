import type { Step } from '../../machines/parts/plan.ts';
import type { Answer } from '../../machines/parts/question.ts';
import type { PlanContext } from '../../machines/plan.ts';
import { automaticAnswer } from './automatic-answer.ts';
import type { ChildSnapshot, ConductorPort } from './conductor-port.ts';
import type { Start } from './schedule.ts';

/**
 * The answer that the run of a plan gives to what one of its children asks, by what was decided for it so
 * far; undefined where a person has to. Pure.
 */
export function answerOfPlan(
  context: PlanContext,
  { start, step }: { readonly start: Start; readonly step: Step },
  state: ChildSnapshot,
  differences: ConductorPort['differences'],
): Answer | undefined {
  if (state.question === undefined || state.paused !== undefined) return undefined;
  const { group, lane, attempt } = start;
  const seen = context.lanes.find((one) => one.group === group && one.lane === lane)?.seen;
  const isSame =
    seen === undefined || state.targetNow === undefined
      ? state.targetNow === undefined
      : differences(seen, state.targetNow).length === 0;
  const place = `${lane}/${start.step}`;
  const { passed = {}, attempts = {} } = context.groups[group] ?? {};
  return automaticAnswer(step, state, {
    isConfirmed: context.confirmed.includes(group) && isSame,
    isRepeated: attempt < (attempts[place] ?? 1),
    rehearsal: context.input.rehearsal,
    passed: passed[place],
  });
}
