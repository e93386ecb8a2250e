import type { AnyMachineSnapshot } from 'xstate';
import {
  FINALLY,
  HEALTHY,
  type Lane,
  NO_INSTANCE,
  type ResolvedGroup,
  type Step,
} from '../../../machines/parts/plan.ts';
import { type GroupState, NEW_GROUP } from '../../../machines/parts/plan-events.ts';
import type { Question } from '../../../machines/parts/question.ts';
import type { PlanContext } from '../../../machines/plan.ts';
import { counted, formatSpan } from '../../base/format.ts';
import type { ShownChild } from '../../plans/conductor-port.ts';
import { groupsOf, isAt, listedFacts, type SteppedPhase } from '../../plans/facts.ts';
import { endOfLane, type GroupRecord, type LaneState, lanesOf } from '../../plans/schedule.ts';
import type { Tone } from '../run-view.ts';
import { asksOf } from './plan-asks.ts';
import type { GroupView, LaneCounts, LaneStep, LaneView, PlanOutcome, PlanView } from './plan-view.ts';

/** A plan's run at a moment. */
export interface PlanFold {
  readonly runId: string;
  readonly snapshot: Pick<AnyMachineSnapshot, 'value' | 'context'>;
  /** Of its state. */
  readonly title: string;
  readonly question: Question | undefined;
  readonly children: readonly ShownChild[];
  /** Start of the incident, or of the run. All times are milliseconds since 1970. */
  readonly startedMs: number;
  readonly outcome: PlanOutcome | undefined;
  readonly nowMs: number;
  /** `you` conducts the plan. */
  readonly whom: 'you' | 'a person';
}

const PHASES: readonly SteppedPhase[] = ['groups', HEALTHY, FINALLY];

/** Plain data. Pure. */
export function planView(fold: PlanFold): PlanView {
  const { runId, snapshot, title, children, startedMs, outcome } = fold;
  // A plan that is over grows no older.
  const nowMs = outcome?.endedMs ?? fold.nowMs;
  const context = snapshot.context as PlanContext;
  const { plan, rehearsal } = context.input;
  const drawn = groupViews(fold, context, nowMs);
  const asks = asksOf(fold.question, drawn, children);
  const askOf = new Map(asks.flatMap(({ key, lanes }) => lanes.map((lane) => [lane.key, key] as const)));
  const groups = drawn.map((group) => ({
    ...group,
    lanes: group.lanes.map((lane) => (askOf.has(lane.key) ? { ...lane, ask: askOf.get(lane.key) } : lane)),
  }));
  const { rto } = plan.objectives;
  return {
    runId,
    plan: plan.plan,
    mode: rehearsal ? 'REHEARSAL' : 'LIVE',
    state: outcome?.title ?? title,
    elapsedSeconds: Math.max(0, (nowMs - startedMs) / 1000),
    rtoSeconds: rto === undefined ? undefined : rto / 1000,
    outcome,
    groups,
    asks,
    nowMs,
  };
}

function groupViews(
  { snapshot, children, whom }: PlanFold,
  context: PlanContext,
  nowMs: number,
): readonly GroupView[] {
  const byStep = new Map<string, ShownChild>();
  const hasLeft = children.some(({ isLeft }) => isLeft);
  for (const child of children) {
    const key = `${child.group}/${child.lane}/${child.step}`;
    if ((byStep.get(key)?.attempt ?? 0) < child.attempt) byStep.set(key, child);
  }
  const facts = listedFacts(snapshot, children, nowMs);
  return PHASES.flatMap((phase) => {
    const groups = groupsOf(context, phase).filter(({ lanes }) => lanes.length > 0);
    const isNow = isAt(snapshot, phase);
    return groups.map((group) => {
      const record = facts.records[group.id] ?? { ...NEW_GROUP, state: 'waiting' };
      const hasPassed = Object.keys(record.passed).length > 0;
      const lanes = lanesOf(group, facts).map(({ lane, state }) =>
        laneView(group, record, lane, { state, hasPassed, hasLeft, byStep, nowMs, whom }),
      );
      return groupView(group, record, lanes, { isNow, whom });
    });
  });
}

function groupView(
  group: ResolvedGroup,
  record: GroupRecord,
  lanes: readonly LaneView[],
  { isNow, whom }: { readonly isNow: boolean } & Pick<PlanFold, 'whom'>,
): GroupView {
  const { state } = record;
  const held = state === 'held' ? record.held : undefined;
  return {
    id: group.id,
    about: group.about,
    state,
    words: groupWords(group, record, lanes, whom),
    tone: groupTone(state, lanes),
    isNow,
    held: held && { why: held.why, lanes: held.lanes },
    wave: { at: record.waves, of: group.sizes.length },
    counts: countsOf(lanes),
    stopRule:
      group.stopAt === undefined || record.ended !== undefined
        ? undefined
        : `stops with failure ${group.stopAt} of ${counted(group.lanes.length, 'instance')}`,
    steps: group.steps.map((step) => ({ id: step.id, words: step.about ?? kindWords(step) })),
    lanes,
  };
}

function countsOf(lanes: readonly LaneView[]): LaneCounts {
  const counts = { done: 0, atWork: 0, waiting: 0, failed: 0, later: 0, out: 0, left: 0 };
  for (const { is } of lanes) counts[COUNTED[is]] += 1;
  return counts;
}

const COUNTED: Readonly<Record<LaneView['is'], keyof LaneCounts>> = {
  done: 'done',
  'at-work': 'atWork',
  waiting: 'waiting',
  answered: 'waiting',
  failing: 'failed',
  failed: 'failed',
  later: 'later',
  ready: 'later',
  stopped: 'later',
  'not-run': 'later',
  out: 'out',
  left: 'left',
};

function groupWords(
  { after, steps }: ResolvedGroup,
  { state, held }: GroupRecord,
  lanes: readonly LaneView[],
  whom: PlanFold['whom'],
): string {
  switch (state) {
    case 'waiting':
      return after.length === 0 ? 'not begun' : `waits for ${after.join(', ')}`;
    case 'running': {
      const holdsBack = ({ is, at }: LaneView) =>
        is === 'failing' && steps[(at ?? 1) - 1]?.onFailure !== 'continue';
      return lanes.some(holdsBack) ? 'nothing new starts: a failure asks' : 'runs';
    }
    case 'held':
      return held === undefined ? `waits for ${whom}` : heldWords(held, whom);
    case 'stopping':
      return 'stops when what is under way has ended';
    case 'done':
      return 'done';
    case 'stopped':
      return 'stopped';
    case 'notRun':
      return 'not run';
  }
}

/** Why a group waits for a person. Pure. */
export function heldWords({ why, lanes }: NonNullable<GroupView['held']>, whom: PlanFold['whom']): string {
  switch (why) {
    case 'stop-rule':
      return `held by its stop rule: ${counted(lanes.length, 'failure')}`;
    case 'failed':
      return `held: ${fewOf(lanes)} failed`;
    case 'promotion':
      return whom === 'you'
        ? 'held until you let the next wave begin'
        : 'held until a person lets the next wave begin';
    case 'person':
      return 'paused by a person';
  }
}

const FEW = 3;

function fewOf(names: readonly string[]): string {
  const more = names.length - FEW;
  return more > 0 ? `${names.slice(0, FEW).join(', ')} and ${more} more` : names.join(', ');
}

function groupTone(state: GroupState, lanes: readonly LaneView[]): Tone {
  if (state === 'held' || state === 'stopped' || state === 'stopping') return 'warn';
  if (lanes.some(({ is }) => is === 'failing' || is === 'failed')) return 'bad';
  if (state === 'done') return 'good';
  return state === 'running' ? 'plain' : 'dim';
}

interface Standing {
  readonly state: LaneState;
  /** A person passed a step of the group. */
  readonly hasPassed: boolean;
  /** The plan has left a run of a step. */
  readonly hasLeft: boolean;
  readonly byStep: ReadonlyMap<string, ShownChild>;
  readonly nowMs: number;
  readonly whom: PlanFold['whom'];
}

function laneView(
  group: ResolvedGroup,
  record: GroupRecord,
  { name, target }: Lane,
  { state, hasPassed, hasLeft, byStep, nowMs, whom }: Standing,
): LaneView {
  const at = 'step' in state ? group.steps.indexOf(state.step) + 1 : undefined;
  const child =
    at === undefined ? undefined : byStep.get(`${group.id}/${name}/${group.steps[at - 1]?.id ?? ''}`);
  const endedMs = endOfLane(state);
  const isOpen = state.is === 'at-work' || state.is === 'waiting' || state.is === 'failing';
  const open = isOpen ? child : undefined;
  const isStopped = record.state === 'stopping' || record.ended === 'stopped';
  const isAsking = state.is === 'waiting' || state.is === 'failing';
  const isLeft = isAsking && isStopped && open?.isLeft === true;
  const is = isLeft ? 'left' : open?.isAnswered === true ? 'answered' : state.is;
  const late = 'step' in state && is === 'waiting' ? lateWords(state.step, child, nowMs) : '';
  const left = hasLeft ? leftSteps(group, name, byStep) : [];
  // Most of many instances wait for their turn, and look the same.
  const isUntouched = (state.is === 'later' || state.is === 'not-run') && !hasPassed;
  const steps = group.steps.map(({ id }, index): LaneStep => {
    if (isUntouched) return AHEAD;
    const key = `${name}/${id}`;
    const passed = hasPassed ? record.passed[key] : undefined;
    const found = id === child?.step ? child : byStep.get(`${group.id}/${key}`);
    const leftAt = left.find(({ step }) => step === id);
    const again = found !== undefined && found.attempt > 1 ? `attempt ${found.attempt}` : '';
    const runId = found?.runId;
    if (passed !== undefined) {
      const how = passed.how === 'skipped' ? 'skipped' : 'done outside';
      const more = leftAt === undefined ? '' : `; ${goesOnBy(leftAt)}`;
      return { is: 'passed', runId, note: `${how}: ${passed.text}${more}` };
    }
    if (leftAt !== undefined) return { is: 'left', runId, note: goesOnBy(leftAt) };
    if (found === undefined) {
      const isBehind = endedMs !== undefined || (at !== undefined && index + 1 < at);
      return isBehind ? { ...AHEAD, is: 'left-out' } : AHEAD;
    }
    const standing = found.state === 'done' || found.state === 'failed' ? found.state : 'open';
    return { is: standing, runId, note: again };
  });
  return {
    key: `${group.id}/${name}`,
    group: group.id,
    name,
    shown: name === NO_INSTANCE ? group.id : name,
    target,
    is,
    state: is === 'waiting' ? `waits for ${whom}` : STATES[is],
    tone: late !== '' ? 'bad' : TONES[is],
    words: `${late}${laneWords(is, { open, failed: child, out: record.out[name], left })}`,
    at,
    sinceMs: endedMs === undefined ? child?.sinceMs : endedMs || undefined,
    steps,
    isOpen: isOpen || left.some(({ step }) => step === child?.step),
    runId: child?.runId,
    ask: undefined,
  };
}

/** Empty while a manual step still has time. */
function lateWords(step: Step, child: ShownChild | undefined, nowMs: number): string {
  const due = step.kind === 'manual' ? step.manual.due : undefined;
  if (due === undefined || child?.sinceMs === undefined) return '';
  const lateMs = nowMs - child.sinceMs - due;
  return lateMs <= 0 ? '' : `LATE by ${formatSpan(lateMs / 1000)}: `;
}

const AHEAD: LaneStep = { is: 'ahead', runId: undefined, note: '' };

function laneWords(
  is: LaneView['is'],
  {
    open,
    failed,
    out,
    left,
  }: Readonly<Record<'open' | 'failed', ShownChild | undefined>> & {
    readonly out: string | undefined;
    readonly left: readonly ShownChild[];
  },
): string {
  const goesOn = left.map((child) => `${child.step}: ${goesOnBy(child)}`);
  if (is === 'out') return [out ?? '', ...goesOn].join('; ');
  if (is === 'left' || is === 'done') return goesOn.join('; ');
  if (is === 'answered') return 'waits for a free slot';
  if (is === 'failed')
    return [...(failed?.problem === undefined ? [] : [failed.problem]), ...goesOn].join('; ');
  if (open === undefined) return '';
  if (open.problem !== undefined) return open.problem;
  return open.question !== undefined && is !== 'at-work' ? open.question.prompt : (open.where ?? '');
}

/** In the order of the steps. */
function leftSteps(
  { id, steps }: ResolvedGroup,
  lane: string,
  byStep: ReadonlyMap<string, ShownChild>,
): readonly ShownChild[] {
  return steps.flatMap((step) => {
    const child = byStep.get(`${id}/${lane}/${step.id}`);
    return child?.isLeft === true && child.state !== 'done' && child.state !== 'failed' ? [child] : [];
  });
}

/** The command that resumes a run that the plan has left, and its question. */
function goesOnBy({ runId, question }: ShownChild): string {
  const asks = question === undefined ? '' : `, which asks: ${question.prompt}`;
  return `lifeboat resume ${runId ?? ''}${asks}`;
}

const STATES: Readonly<Record<Exclude<LaneView['is'], 'waiting'>, string>> = {
  done: 'done',
  'at-work': 'at work',
  answered: 'answered',
  failing: 'failure asks',
  failed: 'failed',
  later: 'later',
  ready: 'next',
  stopped: 'stopped',
  'not-run': 'not run',
  out: 'out',
  left: 'left open',
};

const TONES: Readonly<Record<LaneView['is'], Tone>> = {
  done: 'good',
  'at-work': 'plain',
  waiting: 'warn',
  answered: 'plain',
  failing: 'bad',
  failed: 'bad',
  later: 'dim',
  ready: 'dim',
  stopped: 'dim',
  'not-run': 'dim',
  out: 'dim',
  left: 'warn',
};

function kindWords(step: Step): string {
  return step.kind === 'runbook' ? step.runbook : step.kind;
}
