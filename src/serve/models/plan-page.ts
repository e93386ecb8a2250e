import { isoOf } from '../../base/date.ts';
import { counted } from '../../base/format.ts';
import type { AskView, GroupView, LaneView, PlanView } from '../../view/plan/plan-view.ts';
import { SHARE_TO_WARN } from '../../view/run-view.ts';
import type { Asked, FollowUpRow, Objective, PageOf, PlanGroup, PlanLane, RunRow, Shared } from '../page.ts';
import { headlineOf, type Moment, objectiveWords, textOf, UNDRIVEN } from './headline.ts';
import { MOST_ROWS } from './run-page.ts';

interface Beside {
  readonly run: RunRow;
  readonly sinceMs: number | undefined;
  readonly changes: Pick<Shared, 'changes'> & { readonly more: number };
  readonly followUps: readonly FollowUpRow[];
  readonly forecast: string | undefined;
}

export function planPage(view: PlanView, beside: Beside, moment: Moment): PageOf<'page-plan'> {
  const { run, changes, forecast, sinceMs } = beside;
  const isOver = view.outcome !== undefined || run.status !== 'open';
  const whom = run.by ?? 'a person';
  const asks = isOver ? [] : view.asks.slice(0, MOST_ROWS).map((ask) => askedOf(ask, whom));
  const followUps = beside.followUps.slice(0, MOST_ROWS);
  const more = { changes: changes.more, followUps: beside.followUps.length - followUps.length };
  const objectives = [recoveryTime(view)];
  const groups = view.groups.map(groupOf);
  const what = `plan ${view.plan}`;
  const headline = headlineOf(
    {
      // The title of its end names the plan again.
      ...{ mode: view.mode, what, state: view.state.replace(`${what}: `, ''), asks },
      sinceMs: view.outcome?.endedMs ?? sinceMs,
      driver: isOver ? undefined : (run.driver ?? UNDRIVEN),
    },
    moment.at,
  );
  const lines = groups.map(({ id, words, counts }) => `${id}: ${words}; ${countWords(counts)}`);
  return {
    ...{ at: moment.at.toISOString(), log: moment.log },
    title: `${what}, run ${run.runId}`,
    headline,
    tone: view.outcome?.tone ?? (asks.length > 0 ? 'warn' : 'plain'),
    text: textOf(headline, { asks, followUps, more, objectives, forecast, lines }, moment),
    ...{ run, plan: view.plan, objectives, asks, followUps, more, groups, changes: changes.changes },
    ...(forecast === undefined ? {} : { forecast }),
  };
}

/** `3 done, 2 at work, 1 failed`: those that there are. */
export function countWords(counts: GroupView['counts']): string {
  const words = ORDER.flatMap(([key, word]) => (counts[key] === 0 ? [] : [`${counts[key]} ${word}`]));
  return words.length === 0 ? 'empty' : words.join(', ');
}

const ORDER: readonly (readonly [keyof GroupView['counts'], string])[] = [
  ['done', 'done'],
  ['atWork', 'at work'],
  ['waiting', 'waiting'],
  ['failed', 'failed'],
  ['later', 'later'],
  ['out', 'out'],
  ['left', 'left open'],
];

function askedOf({ prompt, lanes }: AskView, whom: string): Asked {
  const [only, another] = lanes;
  return {
    ...{ prompt, whom, count: Math.max(1, lanes.length) },
    ...(only?.runId === undefined || another !== undefined ? {} : { runId: only.runId }),
  };
}

function recoveryTime({ elapsedSeconds, rtoSeconds, outcome }: PlanView): Objective {
  const isOver = outcome !== undefined;
  const isLate = rtoSeconds !== undefined && elapsedSeconds > rtoSeconds;
  const isShort = rtoSeconds !== undefined && elapsedSeconds > rtoSeconds * SHARE_TO_WARN;
  // A plan that was stopped or abandoned in time has recovered nothing in time.
  const isMet = outcome?.tone === 'good' && rtoSeconds !== undefined;
  const verdict = isLate ? 'missed' : isMet ? 'met' : undefined;
  return {
    name: 'RTO',
    running: !isOver,
    tone: isLate ? 'bad' : verdict === 'met' ? 'good' : isShort ? 'warn' : 'plain',
    valueSeconds: elapsedSeconds,
    ...(rtoSeconds === undefined ? {} : { limitSeconds: rtoSeconds }),
    words: objectiveWords({ name: 'RTO', limit: rtoSeconds, value: elapsedSeconds }, verdict),
  };
}

function groupOf(group: GroupView): PlanGroup {
  const { id, words, tone, wave, counts, lanes, steps } = group;
  const failed = lanes.find(({ is }) => is === 'failing' || is === 'failed');
  return {
    ...{ id, words, tone, wave, counts },
    ...(failed === undefined ? {} : { firstFailure: `${failed.shown}: ${failed.words || failed.state}` }),
    lanes: lanes.map((lane) => laneOf(lane, steps)),
  };
}

function laneOf(lane: LaneView, steps: GroupView['steps']): PlanLane {
  const { shown, target, is, state, tone, words, at, runId, sinceMs } = lane;
  return {
    ...{ name: shown, is, state, tone, words },
    ...(target === undefined ? {} : { target }),
    ...(at === undefined ? {} : { step: `${steps[at - 1]?.id ?? ''} (${at} of ${steps.length})` }),
    ...(runId === undefined ? {} : { runId }),
    ...(sinceMs === undefined ? {} : { since: isoOf(sinceMs) }),
  };
}

/** `12 instances`: how many lanes a group has, in words. */
export function lanesWords({ lanes }: Pick<PlanGroup, 'lanes'>): string {
  return counted(lanes.length, 'instance');
}
