import type { AnyMachineSnapshot } from 'xstate';
import { withDeadlines } from '../../machines/parts/deadlines.ts';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import { stepOf, stepsOf } from '../../machines/parts/phases.ts';
import type { Fact, Runbook, StateMeta } from '../../machines/parts/runbook.ts';
import { isFinalAt, metaAt, statePath } from '../../machines/parts/states.ts';
import type { Failure } from '../base/failure.ts';
import { formatTime, formatValue, readable } from '../base/format.ts';
import { show } from '../base/text.ts';
import { timelineOf } from '../report/measure/timeline.ts';
import type { Entry } from '../store/journal.ts';
import type { ProseSection } from './prose.ts';
import { LOG_LINES, type RunRecord, recordOf } from './run-record.ts';
import type { ActivityView, FactLine, OutcomeView, QuestionView, RailStep, RunView } from './run-view.ts';
import { approvalsIn } from './view-approval.ts';
import { FOLLOW_UPS_LABEL, remarksOn, viewFollowUp, viewOpen } from './view-follow-ups.ts';
import { viewObjectives } from './view-objectives.ts';
import { besideQuestion, type OverdueFacts, overdueBanner } from './view-overdue.ts';
import { type Asked, viewQuestion } from './view-question.ts';

/** What the runner knows of a run; everything below is computed from it and the clock. */
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
  readonly now: Date;
}

type ProgressFacts = Stand & { readonly overdue?: OverdueFacts | undefined };

type Stand =
  | { readonly kind: 'bytes'; readonly done: number; readonly total: number | undefined }
  | { readonly kind: 'task'; readonly status: string }
  | { readonly kind: 'wait'; readonly untilMs: number };

type Meta = StateMeta<unknown, never>;

/**
 * The whole screen as data. Pure: the same facts and clock give the same view. Of entries that grow only the
 * new ones are read, so what a frame costs does not grow with the run.
 */
export function buildRunView(facts: RunFacts): RunView {
  const { runbook, snapshot, entries, now } = facts;
  const record = recordOf(entries);
  const { started, promised } = record;
  const head = (started?.body ?? {}) as { mode?: 'LIVE' | 'REHEARSAL'; operator?: string };
  const state = statePath(snapshot);
  const meta = metaAt(runbook.machine, state);
  const section = facts.prose.get(state);
  const movedMs = timelineOf(entries)?.clockMovedMs ?? 0;
  const operator = head.operator ?? started?.by ?? 'the operator';
  const followUps = withDeadlines(runbook.followUps?.(snapshot.context as never) ?? [], promised);
  const question = askedNow(facts, meta, { operator, now, promised });
  const activity = viewActivity(facts, meta);
  const banner = viewBanner(facts, meta);
  const outcome = viewOutcome(facts, state, followUps, record);
  return {
    runId: facts.runId,
    runbook: runbook.id,
    title: runbook.title,
    instance: facts.instance,
    mode: head.mode ?? 'LIVE',
    clock: formatTime(now.toISOString()),
    elapsed:
      started === undefined ? 0 : Math.max(0, (now.getTime() - movedMs - Date.parse(started.at)) / 1000),
    paused: facts.paused !== undefined,
    rail: viewRail(facts, state, record),
    prose: section ?? { title: meta?.title ?? state, markdown: '' },
    facts: factLines(facts, followUps),
    followUps: followUps.map((followUp) => viewFollowUp(followUp, operator, now)),
    objectives: viewObjectives(runbook, entries, followUps, now),
    log: record.log.slice(-LOG_LINES),
    ...(question === undefined ? {} : { question }),
    ...(activity === undefined ? {} : { activity }),
    ...(banner === undefined ? {} : { banner }),
    ...(facts.gone === undefined ? {} : { gone: facts.gone }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

/** One fact, formatted and cleaned. */
export function viewFact({ label, value, unit, tone }: Fact): FactLine {
  return { label, value: readable(formatValue(value, unit)), tone: tone ?? 'plain' };
}

function viewRail({ runbook, snapshot }: RunFacts, state: string, { states }: RunRecord): RailStep[] {
  const { machine } = runbook;
  const visited = [...states].filter((one) => !isFinalAt(machine, one)).map(stepOf);
  const passed = new Set(stepsOf(machine, snapshot.context).map(({ id }) => id));
  const steps = stepsOf(machine).filter(({ id }) => passed.has(id) || visited.includes(id));
  const reached = new Set([steps[0]?.id, ...visited]);
  const over = snapshot.status === 'done';
  const complete = over && runbook.closing(snapshot.context as never, state).outcome !== 'stopped';
  const here = over ? (visited.at(-1) ?? steps[0]?.id) : stepOf(state);
  const current = complete ? steps.length : steps.findIndex((step) => step.id === here);
  const skipped = new Map(
    runbook.skipped(snapshot.context as never).map(({ step, reason }) => [step, reason]),
  );
  return steps.map((step, index): RailStep => {
    const note = skipped.get(step.id);
    const noted = note === undefined ? step : { ...step, note: readable(note, 60) };
    if (index > current) return { ...step, state: 'ahead' };
    if (index === current)
      return { ...noted, state: over || snapshot.hasTag('failed' as never) ? 'failed' : 'current' };
    return { ...noted, state: note !== undefined || !reached.has(step.id) ? 'skipped' : 'done' };
  });
}

function askedNow(
  { snapshot, activity, paused }: RunFacts,
  meta: Meta | undefined,
  asked: Asked,
): QuestionView | undefined {
  if (snapshot.status !== 'active') return undefined;
  const question = meta?.question?.(snapshot.context);
  if (question !== undefined) return viewQuestion(question, asked);
  if (activity?.progress?.overdue === undefined || paused !== undefined) return undefined;
  return besideQuestion(meta?.beside?.(snapshot.context) ?? []);
}

/** The facts of the runbook, and how many follow-ups are open unless the runbook says so itself. */
function factLines({ runbook, snapshot }: RunFacts, followUps: readonly FollowUp[]): FactLine[] {
  const lines = runbook.facts(snapshot.context as never).map(viewFact);
  const open = snapshot.status === 'active' ? viewOpen(followUps) : undefined;
  const isSaid = lines.some(({ label }) => label === FOLLOW_UPS_LABEL);
  return open === undefined || isSaid ? lines : [open, ...lines];
}

function viewActivity({ activity, now }: RunFacts, meta: Meta | undefined): ActivityView | undefined {
  if (activity === undefined) return undefined;
  const age = Math.max(0, (now.getTime() - Date.parse(activity.since)) / 1000);
  const { progress } = activity;
  const overdue = progress?.overdue === undefined ? {} : { overdue: true as const };
  // A process that came later has waited for less time than the run has.
  const seconds = Math.max(age, progress?.overdue?.seconds ?? 0);
  const base = { title: meta?.title ?? 'working', seconds, ...overdue };
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
    if (progress?.overdue === undefined) return undefined;
    const status = progress.kind === 'task' ? progress.status : undefined;
    return overdueBanner(meta?.title ?? 'this step', status, progress.overdue, gone === undefined);
  }
  return {
    tone: inDoubt ? 'warn' : 'bad',
    text: readable(failure?.shortMessage ?? 'IN DOUBT: what the service did is not known'),
    hints: (failure?.hints ?? []).map((hint) => show(hint)),
  };
}

/**
 * How it ended. What was not done, or stands on somebody's word alone, comes before everything that went
 * well; a broken glass before all.
 */
function viewOutcome(
  { runbook, snapshot }: RunFacts,
  state: string,
  followUps: readonly FollowUp[],
  record: RunRecord,
): OutcomeView | undefined {
  if (snapshot.status !== 'done') return undefined;
  const closing = runbook.closing(snapshot.context as never, state);
  const skipped = remarksOn(followUps, 'skipped');
  const shown = new Set(skipped.map(({ id }) => id));
  const deviations = closing.deviations
    .filter(({ step }) => !shown.has(step))
    .map(({ step, reason }) => readable(`deviation at ${step}: ${reason}`));
  const undone = [...skipped.map(({ text }) => `not done: ${text}`), ...deviations];
  const byHand = remarksOn(followUps, 'hand').map(({ text }) => text);
  const approvals = approvalsIn(record.approvals);
  const lines = closing.summary.map(viewFact).map(({ label, value }) => `${label}: ${value}`);
  return {
    tone: closing.proven && undone.length === 0 && approvals.bypassed.length === 0 ? 'good' : 'warn',
    title: readable(closing.title),
    lines: [...approvals.bypassed, ...undone, ...byHand, ...approvals.given, ...lines],
  };
}
