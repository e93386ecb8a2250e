import type { AnyMachineSnapshot } from 'xstate';
import { type FollowUp, withDeadlines } from '../../machines/parts/follow-up.ts';
import type { Question } from '../../machines/parts/question.ts';
import type { Runbook, StateMeta } from '../../machines/parts/runbook.ts';
import { isFinalAt, metaAt, statePath, stepOf, stepsOf } from '../../machines/parts/states.ts';
import { stillOpen } from '../../machines/parts/unfinished.ts';
import { dateAt, timeOfDay } from '../base/date.ts';
import type { Failure } from '../base/failure.ts';
import { formatTime, readable } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { show, TRY_AGAIN_SOON } from '../base/text.ts';
import { type Timeline, timelineOf } from '../report/measure/timeline.ts';
import type { Entry } from '../store/journal.ts';
import { expectedEnd, expectedRunEnd, type UsualTimes, usualSeconds } from './app/usual-times.ts';
import type { ProseSection } from './prose.ts';
import { LOG_LINES, type RunRecord, recordOf, timeIn } from './run-record.ts';
import type { ActivityView, FactLine, QuestionView, RailStep, RunView } from './run-view.ts';
import { FOLLOW_UPS_LABEL, viewFollowUp, viewOpen } from './view-follow-ups.ts';
import { viewObjectives } from './view-objectives.ts';
import { viewFact, viewOutcome } from './view-outcome.ts';
import {
  type Asked,
  besideQuestion,
  type OverdueFacts,
  overdueBanner,
  viewQuestion,
  viewTrouble,
} from './view-question.ts';

/** The view is computed from these alone. */
export interface RunFacts {
  readonly runbook: Runbook;
  readonly runId: string;
  readonly instance: string;
  readonly snapshot: AnyMachineSnapshot;
  readonly entries: readonly Entry[];
  readonly activity: { readonly since: string; readonly progress: ProgressFacts | undefined } | undefined;
  readonly paused: Failure | undefined;
  readonly prose: ReadonlyMap<string, ProseSection>;
  /** See `RunView`. */
  readonly gone?: string | undefined;
  readonly chapter?: RunView['chapter'];
  /** From earlier runs of the kind, once read. */
  readonly usual?: UsualTimes | undefined;
  /** The config's recovery targets. */
  readonly targets?: readonly string[] | undefined;
  /** Of the driving process, now. */
  readonly awaited?: AwaitedFacts | undefined;
  readonly now: Date;
}

/** `what` is printable. */
export interface AwaitedFacts {
  readonly what: string;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Silence is shown after this time. */
const SILENT_MS = 5_000;

type ProgressFacts = ShownProgress & { readonly overdue?: OverdueFacts | undefined };

type ShownProgress =
  | { readonly kind: 'bytes'; readonly done: number; readonly total: number | undefined }
  | { readonly kind: 'task'; readonly status: string }
  | { readonly kind: 'wait'; readonly untilMs: number };

type Meta = StateMeta<unknown, never>;

/** Pure. Reads only new entries, so the cost of a frame does not grow with the run. */
export function buildRunView(facts: RunFacts): RunView {
  const { runbook, snapshot, entries, now } = facts;
  const record = recordOf(entries);
  const { started, promised } = record;
  const head = (started?.body ?? {}) as { mode?: 'LIVE' | 'REHEARSAL'; operator?: string; target?: string };
  const state = statePath(snapshot);
  const meta = metaAt(runbook.machine, state);
  const section = facts.prose.get(state);
  const timeline = timelineOf(entries);
  const operator = head.operator ?? started?.by ?? 'the operator';
  // An abandoned run also leaves the follow-ups of a change that it may have asked for.
  const leftIn = record.abandoned === undefined ? undefined : state;
  const followUps = withDeadlines(runbook.followUps?.(snapshot.context as never, leftIn) ?? [], promised);
  const outcome = viewOutcome({ ...facts, state, timeline, followUps, ...record });
  const isOver = outcome !== undefined;
  const question = isOver
    ? undefined
    : askedNow(facts, meta, { operator, now, promised, targets: facts.targets });
  const activity = isOver ? undefined : viewActivity(facts, meta, state, record);
  const banner = isOver ? undefined : viewBanner(facts, meta);
  return {
    runId: facts.runId,
    runbook: runbook.id,
    title: runbook.titleOf?.(snapshot.context as never) ?? runbook.title,
    instance: facts.instance,
    target: head.target === undefined ? undefined : show(head.target, 120),
    mode: head.mode ?? 'LIVE',
    clock: formatTime(now.toISOString()),
    elapsed: timeline === undefined ? 0 : elapsedOf(timeline, now),
    paused: facts.paused !== undefined,
    rail: viewRail({ ...facts, now: endOf(timeline) ?? now }, state, record, followUps),
    prose: section ?? { title: meta?.title ?? state, markdown: '' },
    facts: factLines(facts, followUps),
    followUps: followUps.map((followUp) => viewFollowUp(followUp, operator, now)),
    objectives: viewObjectives(runbook, entries, followUps, now),
    log: record.log.slice(-LOG_LINES),
    question,
    activity,
    banner,
    gone: facts.gone,
    chapter: facts.chapter,
    outcome,
  };
}

function elapsedOf({ firstMs, endedMs, clockMovedMs }: Timeline, now: Date): number {
  // Rounded like the duration of a run, so that the figures agree.
  if (endedMs !== undefined) return Math.ceil((endedMs - firstMs) / 1000);
  return Math.max(0, (now.getTime() - clockMovedMs - firstMs) / 1000);
}

/** By the clock that stamps the entries; undefined until the run ends. */
function endOf(timeline: Timeline | undefined): Date | undefined {
  if (timeline?.endedMs === undefined) return undefined;
  return dateAt(timeline.endedMs + timeline.clockMovedMs);
}

function viewRail(
  facts: RunFacts,
  state: string,
  record: RunRecord,
  followUps: readonly FollowUp[],
): RailStep[] {
  const { runbook, snapshot } = facts;
  const { states } = record;
  const { machine } = runbook;
  const visited = [...states].filter((one) => !isFinalAt(machine, one)).map(stepOf);
  const passed = new Set(stepsOf(machine, snapshot.context).map(({ id }) => id));
  const steps = stepsOf(machine).filter(({ id }) => passed.has(id) || visited.includes(id));
  const reached = new Set([steps[0]?.id, ...visited]);
  const done = snapshot.status === 'done';
  const over = done || record.abandoned !== undefined;
  const complete = done && runbook.closing(snapshot.context as never, state).outcome !== 'stopped';
  const here = done ? (visited.at(-1) ?? steps[0]?.id) : stepOf(state);
  const current = complete ? steps.length : steps.findIndex((step) => step.id === here);
  const skipped = new Map(
    runbook.skipped(snapshot.context as never).map(({ step, reason }) => [step, reason]),
  );
  return steps.map((plain, index): RailStep => {
    const step = { ...plain, ...lookedAt(facts, plain.id, index === 0, record) };
    const note = skipped.get(step.id);
    const noted = { ...step, note: note === undefined ? undefined : readable(note, 60) };
    const usual = over ? undefined : usualSeconds(facts.usual, step.id);
    if (index > current) return { ...step, usual, state: 'ahead' };
    if (index === current)
      return { ...noted, usual, state: over || snapshot.hasTag('failed' as never) ? 'failed' : 'current' };
    if (note !== undefined || !reached.has(step.id)) return { ...noted, state: 'skipped' };
    return { ...noted, state: step.id === FOLLOW_UPS_STEP && isLeft(followUps) ? 'open' : 'done' };
  });
}

/** A run leaves this phase, and returns to it, before all its follow-ups are closed. */
const FOLLOW_UPS_STEP = 'followUps';

/** Open, and not done by a step of the run. */
function isLeft(followUps: readonly FollowUp[]): boolean {
  return stillOpen(followUps).some(({ doable }) => doable !== 'run');
}

/** How long it took, and what the runbook says about it. */
function lookedAt(
  { prose, now }: RunFacts,
  id: string,
  isFirst: boolean,
  record: RunRecord,
): Partial<RailStep> {
  const { states, movedAt, started } = record;
  const last = [...states].findLast((one) => stepOf(one) === id);
  const before = isFirst && started !== undefined ? [(movedAt ?? now.getTime()) - msOf(started.at)] : [];
  const after = timeIn(record, now, (state) => stepOf(state) === id);
  const parts = after === undefined ? before : [...before, after];
  return {
    ...(parts.length === 0 ? {} : { seconds: parts.reduce((sum, ms) => sum + Math.max(0, ms), 0) / 1000 }),
    prose: prose.get(last ?? ''),
  };
}

function askedNow(
  { runbook, runId, entries, snapshot, activity, paused }: RunFacts,
  meta: Meta | undefined,
  asked: Asked,
): QuestionView | undefined {
  if (snapshot.status !== 'active') return undefined;
  const question = meta?.question?.(snapshot.context);
  if (question !== undefined) {
    const failure = runbook.failure(snapshot.context as never);
    return viewQuestion(question, asked, failure && viewTrouble(failure, entries, runId));
  }
  if (activity?.progress?.overdue === undefined || paused !== undefined) return undefined;
  return besideQuestion(meta?.beside?.(snapshot.context) ?? []);
}

/** The runbook's, plus the number of open follow-ups unless it is among them. */
function factLines({ runbook, snapshot }: RunFacts, followUps: readonly FollowUp[]): FactLine[] {
  const lines = runbook.facts(snapshot.context as never).map(viewFact);
  const open = snapshot.status === 'active' ? viewOpen(followUps) : undefined;
  const isSaid = lines.some(({ label }) => label === FOLLOW_UPS_LABEL);
  return open === undefined || isSaid ? lines : [open, ...lines];
}

function viewActivity(
  facts: RunFacts,
  meta: Meta | undefined,
  state: string,
  record: RunRecord,
): ActivityView | undefined {
  const { activity, now } = facts;
  if (activity === undefined) return undefined;
  const age = Math.max(0, (now.getTime() - msOf(activity.since)) / 1000);
  const { progress } = activity;
  const overdue = progress?.overdue && (true as const);
  // A later process has waited for less time than the run.
  const seconds = Math.max(age, progress?.overdue?.seconds ?? 0);
  // Overdue is a better measure, and a wait for credentials ends when they come.
  const isOpen = progress?.overdue === undefined && facts.paused === undefined;
  const end = isOpen ? endsExpected(facts, stepOf(state), record) : {};
  const awaited = awaitedWords(facts);
  const base = { title: meta?.title ?? 'working', seconds, overdue, awaited, ...end };
  if (progress === undefined) return base;
  if (progress.kind === 'task')
    return { ...base, progress: { kind: 'task', status: show(progress.status, 40) } };
  if (progress.kind === 'wait') {
    return {
      ...base,
      progress: { kind: 'wait', secondsLeft: Math.max(0, (progress.untilMs - now.getTime()) / 1000) },
    };
  }
  const rate = age > 0.5 ? progress.done / age : undefined;
  return {
    ...base,
    progress: { kind: 'bytes', done: progress.done, total: progress.total, bytesPerSecond: rate },
  };
}

/** `db.example.com has not answered GET … since 03:14:07; Lifeboat waits until 03:19:07 UTC at most` */
function awaitedWords({ awaited, now }: RunFacts): string | undefined {
  if (awaited === undefined || now.getTime() - awaited.sinceMs < SILENT_MS) return undefined;
  const { what, sinceMs, untilMs } = awaited;
  return `${what} since ${timeOfDay(sinceMs)}; Lifeboat waits until ${timeOfDay(untilMs)} UTC at most`;
}

/** Measured without the time in which the runs asked. */
function endsExpected(
  { runbook, usual, now }: RunFacts,
  step: string,
  record: RunRecord,
): Pick<ActivityView, 'expected' | 'runExpected'> {
  if (usual === undefined) return {};
  const working = [...record.states].filter(
    (state) => metaAt(runbook.machine, state)?.question === undefined,
  );
  const workedIn = (states: readonly string[]) => {
    const away = states.reduce((sum, state) => sum + (record.away.get(state) ?? 0), 0);
    return Math.max(0, (timeIn(record, now, (state) => states.includes(state)) ?? 0) - away) / 1000;
  };
  const inStep = workedIn(working.filter((state) => stepOf(state) === step));
  const expected = expectedEnd(usual, step, inStep, now);
  const runExpected = expectedRunEnd(usual, workedIn(working), now);
  return { expected, runExpected };
}

function viewBanner(
  { runbook, snapshot, paused, activity, gone }: RunFacts,
  meta: Meta | undefined,
): RunView['banner'] {
  if (paused !== undefined) {
    return {
      tone: 'warn',
      text: readable(`paused: ${paused.shortMessage}`),
      hints: [
        ...paused.hints.map((hint) => show(hint)),
        'get a new token, then press r; after leaving the run, resume it',
      ],
    };
  }
  if (snapshot.status !== 'active') return undefined;
  const failure = runbook.failure(snapshot.context as never);
  const inDoubt = snapshot.hasTag('in-doubt' as never);
  if (failure === undefined && !inDoubt) {
    const progress = activity?.progress;
    if (progress?.overdue === undefined) {
      const warning = meta?.warning?.(snapshot.context as never);
      return warning === undefined ? undefined : { tone: 'warn', text: readable(warning), hints: [] };
    }
    const status = progress.kind === 'task' ? progress.status : undefined;
    return overdueBanner(meta?.title ?? 'this step', status, progress.overdue, gone === undefined);
  }
  return {
    tone: inDoubt ? 'warn' : 'bad',
    text: readable(failure?.shortMessage ?? 'IN DOUBT: what the service did is not known'),
    hints: hintsOf(failure, meta?.question?.(snapshot.context)).map((hint) => show(hint)),
  };
}

/** If the instance may be lost, waiting does not help: the question says what another try takes. */
function hintsOf(failure: Failure | undefined, question: Question | undefined): readonly string[] {
  const ways = question?.kind === 'choice' ? (question.otherWays ?? []) : [];
  const isLost = ways.some(({ leadsTo }) => leadsTo.kind === 'recover');
  const hints = failure?.hints ?? [];
  return isLost ? hints.filter((hint) => hint !== TRY_AGAIN_SOON) : hints;
}
