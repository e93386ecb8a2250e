import type { Lane, PlanInput, ResolvedGroup, Step } from '../../../machines/parts/plan.ts';
import type { ChildReport } from './child-report.ts';
import { isContinued, type PlanMoment, wordIn } from './plan-moments.ts';
import type { PlanGroup, PlanLane, PlanStepRow, StepState } from './plan-report.ts';

/** A run that a plan's run started, with what its own report says. */
export interface ReportedChild {
  readonly runId: string;
  readonly group: string;
  readonly step: string;
  readonly lane: string;
  readonly attempt: number;
  readonly runbook: string;
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  readonly result?: 'done' | 'failed' | undefined;
  readonly where?: string | undefined;
  readonly cause?: string | undefined;
  readonly report: ChildReport;
}

/** A group, its phase, and a text for each step by its id. */
export interface WordedGroup {
  readonly phase: PlanGroup['phase'];
  readonly group: ResolvedGroup;
  readonly words: Readonly<Record<string, string>>;
}

export interface LaneFacts {
  readonly input: PlanInput;
  readonly moments: readonly PlanMoment[];
  readonly children: readonly ReportedChild[];
  /** Whether the sources counted as reachable, at the end. */
  readonly source: 'up' | 'down';
  readonly isOver: boolean;
  /** When the record ends. */
  readonly until: string;
}

/** The lanes of a group, in the order of the plan. Pure. */
export function planLanes({ group, words }: WordedGroup, facts: LaneFacts): readonly PlanLane[] {
  const decided = decisionsAbout(group.id, facts.moments);
  const mine = facts.children.filter((child) => child.group === group.id);
  return group.lanes.map((lane, at) => {
    const own = mine.filter((child) => child.lane === lane.name);
    const isOut = decided.out.has(lane.name);
    const steps = group.steps.map((step): PlanStepRow => {
      const runs = own.filter((child) => child.step === step.id);
      const passed = decided.passed.get(`${lane.name}/${step.id}`);
      return {
        id: step.id,
        what: words[step.id] ?? step.id,
        state: stateOf(step, runs.at(-1), { passed, isOut, facts }),
        runs: runs.map(runRow),
      };
    });
    return {
      name: lane.name,
      ...targetOf(lane),
      wave: waveOf(group, at),
      state: laneState(steps, isOut, facts.isOver),
      ...spanOf(own),
      steps,
    };
  });
}

function targetOf({ target }: Lane): { readonly target?: string } {
  return target === undefined ? {} : { target };
}

function runRow(child: ReportedChild): PlanStepRow['runs'][number] {
  const { runId, attempt, runbook, result, startedAt, endedAt, where, cause } = child;
  return { run: runId, attempt, runbook, result: result ?? 'open', startedAt, endedAt, where, cause };
}

interface Decided {
  readonly out: ReadonlySet<string>;
  readonly passed: ReadonlyMap<string, 'skipped' | 'done outside'>;
}

/** At the end of the record: lanes that are out, and steps that people passed. */
function decisionsAbout(group: string, moments: readonly PlanMoment[]): Decided {
  const out = new Set<string>();
  const passed = new Map<string, 'skipped' | 'done outside'>();
  let problems: readonly string[] = [];
  for (const moment of moments) {
    if (moment.type === 'plan.looked' || moment.type === 'plan.evaluated')
      problems = [...(isContinued(moment) ? problems : []), ...problemLanes(moment, group)];
    if (moment.type === 'operator.leaveOut') for (const lane of problems) out.add(lane);
    if (wordIn(moment, 'group') !== group) continue;
    const lane = wordIn(moment, 'lane');
    const key = `${lane}/${wordIn(moment, 'step')}`;
    if (moment.type === 'operator.takeOut') out.add(lane);
    if (moment.type === 'operator.takeUp') out.delete(lane);
    if (moment.type === 'operator.skipStep') passed.set(key, 'skipped');
    if (moment.type === 'operator.doneOutside') passed.set(key, 'done outside');
  }
  return { out, passed };
}

function problemLanes({ event }: PlanMoment, group: string): readonly string[] {
  const lanes = event['lanes'] as readonly Readonly<Record<string, unknown>>[] | undefined;
  return (lanes ?? [])
    .filter((lane) => lane['group'] === group && lane['problem'] !== undefined)
    .map((lane) => String(lane['lane']));
}

function stateOf(
  step: Step,
  child: ReportedChild | undefined,
  {
    passed,
    isOut,
    facts,
  }: {
    readonly passed: 'skipped' | 'done outside' | undefined;
    readonly isOut: boolean;
    readonly facts: LaneFacts;
  },
): StepState {
  if (child?.result === 'done') return 'done';
  if (passed !== undefined) return passed;
  if (child?.result === 'failed') return 'failed';
  if (child !== undefined) return 'open';
  if (facts.input.rehearsal && step.rehearsal !== undefined) return 'left out';
  if (step.when !== undefined && step.when !== `source-${facts.source}`) return 'left out';
  return isOut ? 'taken out' : 'not begun';
}

function laneState(steps: readonly PlanStepRow[], isOut: boolean, isOver: boolean): PlanLane['state'] {
  const has = (state: StepState) => steps.some((step) => step.state === state);
  if (has('failed')) return 'failed';
  if (has('open')) return isOver ? 'left open' : 'open';
  if (isOut) return 'taken out';
  if (!has('not begun')) return 'done';
  if (isOver) return 'not run';
  return steps.every(({ runs }) => runs.length === 0) ? 'not begun' : 'open';
}

function spanOf(own: readonly ReportedChild[]): { readonly startedAt?: string; readonly endedAt?: string } {
  const [first] = own.map(({ startedAt }) => startedAt).toSorted();
  if (first === undefined) return {};
  const ends = own.map(({ endedAt }) => endedAt);
  const last = ends.every((end) => end !== undefined) ? ends.toSorted().at(-1) : undefined;
  return { startedAt: first, ...(last === undefined ? {} : { endedAt: last }) };
}

/** From 1. */
function waveOf({ sizes }: ResolvedGroup, lane: number): number {
  let begun = 0;
  const wave = sizes.findIndex((size) => {
    begun += size;
    return lane < begun;
  });
  return wave + 1;
}
