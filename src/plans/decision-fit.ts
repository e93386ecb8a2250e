import type { AnyMachineSnapshot } from 'xstate';
import {
  type GroupData,
  type GroupDecision,
  type GroupState,
  NEW_GROUP,
} from '../../machines/parts/plan-events.ts';
import type { PlanContext } from '../../machines/plan.ts';
import { LifeboatError } from '../base/errors.ts';
import { isAt, listedFacts, planFacts } from './facts.ts';

/** By a person, about a plan's run. */
export type PlanDecision =
  | GroupDecision
  | { readonly type: 'operator.setSource'; readonly source: 'up' | 'down' }
  | { readonly type: 'operator.evaluateAgain' }
  | { readonly type: 'operator.stop'; readonly text: string };

/** In words: why a decision changes nothing, or does not fit and what does. */
export type Fit =
  | { readonly is: 'fit' }
  | { readonly is: 'so-already'; readonly why: string }
  | { readonly is: 'misfit'; readonly why: string };

const FIT: Fit = { is: 'fit' };
const soAlready = (why: string): Fit => ({ is: 'so-already', why });

/** Throws `answer.misfit` if it does not fit. */
export function assertFits(fit: Fit): void {
  if (fit.is === 'fit') return;
  throw new LifeboatError('answer.misfit', fit.why, { hints: ['the run is unchanged'] });
}

/** For the plan's run as it is. Pure. */
export function fitOf(snapshot: Pick<AnyMachineSnapshot, 'value' | 'context'>, event: PlanDecision): Fit {
  const { source, stopped, groups } = snapshot.context as PlanContext;
  if (event.type === 'operator.setSource')
    return source === event.source ? soAlready(`the source counts as ${source} already`) : FIT;
  if (event.type === 'operator.evaluateAgain') return fitOfEvaluation(snapshot);
  const now = planFacts(snapshot, [], 0)?.records;
  const records = now ?? {};
  if (event.type === 'operator.stop') {
    // The last steps of a stopped plan can be stopped, too.
    const goesOn = Object.values(records).some(({ state }) => !isOver(state) && state !== 'stopping');
    return stopped === undefined || goesOn ? FIT : soAlready('the plan is being stopped already');
  }
  const data = groups[event.group] ?? NEW_GROUP;
  const state = records[event.group]?.state;
  if (state !== undefined) return fitOfGroup(event, state, data);
  if (listedFacts(snapshot, [], 0).records[event.group]?.state !== 'waiting')
    return misfit(`group ${event.group} is over: the rest of the plan can only be stopped as a whole`);
  const first = now === undefined ? 'answer first what the plan asks' : AHEAD;
  return misfit(`group ${event.group} has not begun: ${first}`);
}

function fitOfEvaluation(snapshot: Pick<AnyMachineSnapshot, 'value'>): Fit {
  if (isAt(snapshot, 'evaluate', 'notReady')) return FIT;
  if (isAt(snapshot, 'evaluate')) return soAlready('the instances are looked at already');
  return misfit('the instances have been looked at: name a step to try it again');
}

const AHEAD = 'it begins when what comes before it is over';

function fitOfGroup(event: GroupDecision, state: GroupState, data: GroupData): Fit {
  const { group } = event;
  const not = misfit(`group ${group} ${STATES[state].is}: it ${STATES[state].takes}`);
  switch (event.type) {
    case 'operator.pauseGroup':
      if (state === 'held') return soAlready(`group ${group} waits for a person already`);
      return state === 'running' ? FIT : not;
    case 'operator.resumeGroup':
      if (state === 'running') return soAlready(`group ${group} runs already`);
      return state === 'held' ? FIT : not;
    case 'operator.stopGroup':
      if (state === 'stopping' || state === 'stopped') return soAlready(`group ${group} ${STATES[state].is}`);
      return isOver(state) ? not : FIT;
    default:
      return isOver(state) ? not : fitOfLane(event, data);
  }
}

function fitOfLane(
  event: Extract<GroupDecision, { readonly lane: string }>,
  { out, passed }: GroupData,
): Fit {
  const { lane, type } = event;
  const isOut = Object.hasOwn(out, lane);
  if (type === 'operator.takeOut') return isOut ? soAlready(`${lane} is out already: ${out[lane]}`) : FIT;
  if (type === 'operator.takeUp') return isOut ? FIT : soAlready(`${lane} is not out`);
  if (type === 'operator.tryAgain') return FIT;
  const how = type === 'operator.skipStep' ? 'skipped' : 'done-outside';
  const before = passed[`${lane}/${event.step}`];
  if (before?.how !== how) return FIT;
  const place = `${event.group}/${lane}/${event.step}`;
  return soAlready(`${place} ${how === 'skipped' ? 'is skipped' : 'counts as done'} already: ${before.text}`);
}

function isOver(state: GroupState): boolean {
  return state === 'done' || state === 'stopped' || state === 'notRun';
}

function misfit(why: string): Fit {
  return { is: 'misfit', why };
}

/** The state of a group, and its possible decisions. */
const STATES: Readonly<Record<GroupState, { readonly is: string; readonly takes: string }>> = {
  waiting: { is: 'has not begun', takes: 'can be stopped, and begins when the groups before it are done' },
  running: { is: 'runs', takes: 'can be paused or stopped' },
  held: { is: 'waits for a person', takes: 'can be resumed or stopped' },
  stopping: { is: 'is stopping already', takes: 'ends when what is under way has ended' },
  done: { is: 'is done', takes: 'takes no decision any more' },
  stopped: { is: 'was stopped already', takes: 'takes no decision any more' },
  notRun: { is: 'was not run', takes: 'takes no decision any more' },
};
