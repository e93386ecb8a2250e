import type { DrivenChild } from '../../plans/conductor-port.ts';
import { placeOf } from '../../plans/facts.ts';
import type { Start } from '../../plans/schedule.ts';
import { answerOfPlan } from '../../plans/standing.ts';
import { changesSince } from '../plans/child-snapshot.ts';
import type { PlanRecord } from './plan-records.ts';

/**
 * Gives a child the answers of its plan, and leaves it, resumable, at the first question that only a person
 * can answer, or when the service refuses its credentials. Resolves when this process is done with it.
 */
export async function followAsChild(
  child: DrivenChild,
  start: Start,
  planOf: () => Promise<PlanRecord>,
): Promise<void> {
  const given = new Set<string>();
  let isBusy = false;
  let isLeft = false;
  const leave = async (why: string) => {
    isLeft = true;
    await child.detach(why);
  };
  const look = async (): Promise<void> => {
    const state = child.state();
    if (isBusy || isLeft || (state.question === undefined && state.paused === undefined)) return;
    isBusy = true;
    try {
      if (state.paused !== undefined) return await leave(state.paused.shortMessage);
      const { context, isStopped } = await planOf();
      const { step } = placeOf(context.input, start);
      const decided = { context, isStopped: isStopped(start.group), differences: changesSince };
      const answer = answerOfPlan(start, step, child.state(), decided);
      const mark = JSON.stringify([child.state().question, answer?.event, answer?.id]);
      // The same answer to the same question did not help, and never would.
      if (answer === undefined || given.has(mark)) return await leave('it waits for a person');
      given.add(mark);
      await child.answer(answer);
    } catch {
      // A refusal, such as a missing approval, leaves the question open for a person.
      await leave('it waits for a person');
    } finally {
      isBusy = false;
    }
    void look();
  };
  const unsubscribe = child.subscribe(() => void look());
  void look();
  try {
    await child.ended;
  } finally {
    unsubscribe();
  }
}
