import type { Report } from '../report/model/model.ts';
import type { PlanReport } from '../report/plan/plan-report.ts';
import type { Entry } from '../store/journal.ts';
import {
  assertOver,
  backupsIn,
  configurationWith,
  type Mark,
  marksOf,
  marksOfObjectives,
  marksOfOutcome,
  type Statement,
  statementWith,
} from './statement.ts';

/** What a run that the plan started proved. */
export interface StartedRun {
  readonly outcome: Report['outcome'];
  readonly marks: ReadonlyMap<string, Mark>;
  /** SHA-256 of those that it verified. */
  readonly backups: readonly string[];
}

export function startedRun(report: Report, entries: readonly Entry[]): StartedRun {
  return { outcome: report.outcome, marks: marksOf(report, entries), backups: backupsIn(entries) };
}

/**
 * What the run of a plan proved, as a statement about its report and the backups that its runs verified. It
 * is PASSED only if the report says that the plan is closed and proven, on a service that is not simulated,
 * and each step of each instance ended in a run that is proven. The tests of those runs are below their
 * group, the worst of all instances. Throws `receipt.open` (exit 3) for a run that is not over.
 */
export function planStatementOf(
  plan: PlanReport,
  children: ReadonlyMap<string, StartedRun>,
  reportText: string,
): Statement {
  assertOver(plan);
  const { run, evidence } = plan;
  const marks = new Map([...marksOfOutcome(plan), ...marksOfObjectives(plan.measured)]);
  for (const group of plan.groups)
    for (const [test, mark] of marksOfGroup(group, children)) put(marks, `${placeOf(group)}/${test}`, mark);
  const { id, kind, source, startedAt, endedAt, tool } = run;
  return statementWith({
    reportText,
    backups: [...children.values()].flatMap(({ backups }) => backups),
    marks,
    configuration: configurationWith({
      ...{ id, plans: [run.sha256], evidence, tool },
      facts: { kind, plan: run.plan, source, startedAt, endedAt },
    }),
  });
}

type Group = PlanReport['groups'][number];
type Row = Group['lanes'][number]['steps'][number];

/** The checks of health and what is done in the end are groups without a name of their own. */
function placeOf({ phase, id }: Group): string {
  return phase === 'groups' ? `group/${id}` : phase;
}

function marksOfGroup(
  { ended, lanes, rto, rpo }: Group,
  children: ReadonlyMap<string, StartedRun>,
): ReadonlyMap<string, Mark> {
  const isDone = ended === 'done' && lanes.every(({ state }) => state === 'done');
  const rows = lanes.flatMap(({ steps }) => steps);
  const marks = new Map<string, Mark>([
    ['done', !isDone ? 'failed' : rows.some(isDoneOtherwise) ? 'warned' : 'passed'],
    ...marksOfObjectives({ rto, rpo }),
  ]);
  for (const { runs } of rows) {
    const last = runs.at(-1);
    const child = last && children.get(last.run);
    if (last === undefined) continue;
    if (child === undefined) put(marks, 'run/proven', 'failed');
    else
      for (const [test, mark] of child.marks)
        put(marks, test, test === 'run/proven' && isPersonsWord(last, child) ? 'warned' : mark);
  }
  return marks;
}

/** It was passed by a person, or failed before. */
function isDoneOtherwise({ state, runs }: Row): boolean {
  return state === 'skipped' || state === 'done outside' || runs.length > 1;
}

/** A step that is done by what a person says proves nothing; it did not fail either. */
function isPersonsWord({ runbook, result }: Row['runs'][number], { outcome }: StartedRun): boolean {
  const { status, proven, simulated } = outcome;
  return (
    runbook === 'plan-step' &&
    result === 'done' &&
    status === 'closed' &&
    proven === false &&
    simulated !== true
  );
}

const WORST: readonly Mark[] = ['passed', 'warned', 'failed'];

function put(marks: Map<string, Mark>, test: string, mark: Mark): void {
  const before = marks.get(test);
  if (before === undefined || WORST.indexOf(before) < WORST.indexOf(mark)) marks.set(test, mark);
}
