import type { Lane } from '../../../machines/parts/plan.ts';
import type { Question } from '../../../machines/parts/question.ts';
import type { PlanContext } from '../../../machines/plan.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { EXIT } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { Action } from '../../cli/define.ts';
import { printResult, printTable, type ResultOf } from '../../cli/print-result.ts';
import { openReaderOf } from '../../compose/store-of.ts';
import { listedFacts } from '../../plans/facts.ts';
import { type GroupRecord, type LaneState, lanesOf } from '../../plans/schedule.ts';
import { isStopped } from '../../plans/standing.ts';
import { questionOf } from '../../runner/answer.ts';
import { fold } from '../../runner/fold.ts';
import { workersOf } from '../../runner/wakes.ts';
import { type Entry, fieldsOf, type JournalReader } from '../../store/journal.ts';
import { type ChildRow, childrenOf } from '../../store/projections/plan-children.ts';
import { touchedBy } from '../../store/projections/recoveries.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { openRuns } from '../../store/projections/runs.ts';
import { heldWords } from '../../view/plan/build-plan-view.ts';
import { findPlanRun } from './find-plan-run.ts';
import type { ShownRecord } from './recorded-children.ts';
import { leftWords } from './step-words.ts';

type Row = ResultOf<'plan-run'>['lanes'][number];
type Group = ResultOf<'plan-run'>['groups'][number];

/** `lifeboat plans show RUN`: where each instance stands, by the record. Holds nothing. */
export const plansShow: Action<object> = async (context, [word]) => {
  const journal = await openReaderOf(context);
  try {
    const result = await standingOf(journal, word);
    const { runId, mode, where, lanes } = result;
    await printResult(context, 'plan-run', result, () => {
      context.stdout.write(`plan ${show(result.plan)}, run ${runId}, ${mode}: ${show(where, 200)}\n`);
      if (result.asks !== undefined) context.stdout.write(`it asks: ${show(result.asks, 600)}\n`);
      for (const answer of result.answers ?? []) context.stdout.write(`to answer: ${answer}\n`);
      if (result.leftBecause !== undefined)
        context.stdout.write(`it was left: ${show(result.leftBecause, 600)}\n`);
      // What answers it goes on with it.
      if (result.leftBecause !== undefined && result.asks === undefined)
        context.stdout.write(`to go on: lifeboat resume ${runId}\n`);
      for (const { id, state, why = state, answers = [] } of result.groups)
        context.stdout.write(
          `  ${id}: ${show(why, 300)}\n${answers.map((answer) => `    to answer: ${answer}\n`).join('')}`,
        );
      printTable(
        context,
        [
          { title: 'group' },
          { title: 'instance' },
          { title: 'target' },
          { title: 'state' },
          { title: 'step' },
          { title: 'run' },
          { title: 'what', gives: true },
        ],
        lanes.map((lane) => [
          lane.group,
          lane.instance,
          lane.target ?? '',
          lane.state,
          lane.step ?? '',
          lane.runId ?? '',
          show(lane.cause ?? lane.asks ?? lane.where ?? '', 200),
        ]),
      );
      for (const line of answerLines(lanes)) context.stdout.write(`${line}\n`);
      for (const { group, instance, left = [] } of lanes)
        for (const { step, ...run } of left)
          context.stdout.write(
            `left open: ${leftWords({ group, lane: instance, step }, run)}; to go on: lifeboat resume ${run.runId}\n`,
          );
    });
    return EXIT.closed;
  } finally {
    await journal.close();
  }
};

/** Steps whose commands are printed: the others are answered in the same way. */
const MOST_ANSWERED = 2;

function answerLines(lanes: readonly Row[]): readonly string[] {
  const asking = lanes.filter(({ answers, left }) => answers !== undefined && left === undefined);
  const more = asking.length - MOST_ANSWERED;
  return [
    ...asking
      .slice(0, MOST_ANSWERED)
      .flatMap(({ group, instance, step = '', answers = [] }) =>
        answers.map(
          (answer) => `to answer ${show(`${group}/${instance}/${step}`, 200)}: ${show(answer, 400)}`,
        ),
      ),
    ...(more > 0 ? [`${more} more ask: --json has the commands that answer each`] : []),
  ];
}

/** Where each instance of the run of a plan stands, by the record. Rejects as `findPlanRun` does. */
export async function standingOf(
  journal: Pick<JournalReader, 'rows' | 'read'>,
  word: string | undefined,
): Promise<ResultOf<'plan-run'>> {
  const { summary, input, entries } = await findPlanRun(journal, word);
  const { snapshot } = fold(planRunbook, input, entries);
  const rows = await childrenOf(journal, summary.runId);
  const of = snapshot.context as PlanContext;
  const { records } = listedFacts(snapshot, [], Date.now());
  // Which loads every runbook.
  const { recordedChildren } = await import('./recorded-children.ts');
  const children = await recordedChildren(journal, rows, {
    context: of,
    isStopped: (group) => isStopped(of.groups[group], records[group]?.state),
    areForWorkers: workersOf(entries) !== undefined,
  });
  const facts = listedFacts(snapshot, children, Date.now());
  const blocking = await runsBeside(journal, summary.runId, rows);
  const newest = newestByPlace(children);
  const steps = new Set(rows.flatMap(({ runId, runbook }) => (runbook === 'plan-step' ? [runId] : [])));
  const left = Map.groupBy(
    children.filter(({ isLeft }) => isLeft),
    (child) => placeKey({ ...child, step: undefined }),
  );
  return {
    runId: summary.runId,
    plan: of.input.plan.plan,
    mode: summary.mode,
    status: summary.status,
    where: summary.where,
    ...askedBy(summary.runId, questionOf(snapshot)),
    ...leftBy(summary.status, entries),
    groups: facts.groups.map(({ id }) => groupOf(summary.runId, id, facts.records[id])),
    lanes: facts.groups.flatMap((group) =>
      lanesOf(group, facts).map(({ lane, state }) =>
        rowOf(group.id, lane, state, { planRun: summary.runId, steps, newest, left, blocking }),
      ),
    ),
  };
}

/** What the plan itself asks, and the commands that answer. */
function askedBy(
  runId: string,
  question: Question | undefined,
): Pick<ResultOf<'plan-run'>, 'asks' | 'answers'> {
  if (question === undefined) return {};
  const canLookAgain = question.options.some(({ event }) => event.type === 'operator.evaluateAgain');
  const lookAgain = canLookAgain ? [`lifeboat plans retry ${runId}`] : [];
  return { asks: question.prompt, answers: [...lookAgain, `lifeboat resume ${runId}`] };
}

/** Why nobody conducts it: what stands in its way is known only to the process that has left it. */
function leftBy(
  status: RunSummary['status'],
  entries: readonly Entry[],
): Pick<ResultOf<'plan-run'>, 'leftBecause'> {
  if (status !== 'open') return {};
  const newest = entries.findLast(({ type }) => type === 'run.detached' || type === 'run.resumed');
  if (newest === undefined && workersOf(entries) !== undefined)
    return { leftBecause: 'no worker has taken it yet' };
  const { why } = fieldsOf(newest?.type === 'run.detached' ? newest.body : undefined);
  return typeof why === 'string' && why !== '' ? { leftBecause: why } : {};
}

function groupOf(runId: string, id: string, record: GroupRecord | undefined): Group {
  const { state = 'waiting', held } = record ?? {};
  if (state !== 'held' || held === undefined) return { id, state };
  const why = heldWords(held, 'a person');
  return {
    ...{ id, state },
    why: held.text === undefined ? why : `${why}: ${held.text}`,
    answers: [`lifeboat plans resume ${runId} ${id}`, `lifeboat plans stop ${runId} ${id} --reason TEXT`],
  };
}

/** Open runs of others, by the instances that they concern: no step begins on these before they are over. */
async function runsBeside(
  journal: Pick<JournalReader, 'rows'>,
  planRun: string,
  children: readonly ChildRow[],
): Promise<ReadonlyMap<string, RunSummary>> {
  const own = new Set([planRun, ...children.map(({ runId }) => runId)]);
  const others = (await openRuns(journal)).filter(({ runId }) => !own.has(runId));
  return new Map(others.flatMap((run) => touchedBy(run).map((name) => [name, run] as const)));
}

function rowOf(group: string, { name, target }: Lane, state: LaneState, found: Found): Row {
  const { newest, left, blocking } = found;
  const step = 'step' in state ? state.step.id : undefined;
  const child = newest.get(placeKey({ group, lane: name, step }));
  const other = state.is === 'ready' ? (blocking.get(name) ?? blocking.get(target ?? name)) : undefined;
  const blocked = other && `waits for the end of run ${other.runId} on ${name}: ${other.where}`;
  const { runId, where = blocked, asks, cause } = child ?? {};
  return {
    group,
    instance: name,
    ...(target === undefined ? {} : { target }),
    state: state.is,
    ...(step === undefined ? {} : { step }),
    ...(runId === undefined ? {} : { runId }),
    ...(where === undefined ? {} : { where }),
    ...(asks === undefined || !isAsking(state) ? {} : { asks }),
    ...(asks === undefined || runId === undefined || !isAsking(state)
      ? {}
      : { answers: answersOf(found, `${group}/${name}/${step}`, runId, state) }),
    ...(cause === undefined ? {} : { cause }),
    ...leftOf(left.get(placeKey({ group, lane: name, step: undefined })) ?? []),
  };
}

/** A step that is no runbook is answered through the run of its plan. */
function answersOf({ planRun, steps }: Found, place: string, runId: string, { is }: LaneState) {
  if (!steps.has(runId)) return [`lifeboat resume ${runId}`];
  return [
    ...(is === 'failing' ? [`lifeboat plans retry ${planRun} ${place}`] : []),
    `lifeboat plans done ${planRun} ${place} --proof TEXT`,
    `lifeboat plans skip ${planRun} ${place} --reason TEXT`,
  ];
}

function leftOf(children: readonly ShownRecord[]): Pick<Row, 'left'> {
  if (children.length === 0) return {};
  return {
    left: children.map(({ step, runId, asks }) => ({ step, runId, ...(asks === undefined ? {} : { asks }) })),
  };
}

interface Found {
  readonly planRun: string;
  /** Runs of steps that are no runbooks. */
  readonly steps: ReadonlySet<string>;
  readonly newest: ReadonlyMap<string, ShownRecord>;
  /** Those that the plan has left. */
  readonly left: ReadonlyMap<string, readonly ShownRecord[]>;
  /** Open runs of others, by instance. */
  readonly blocking: ReadonlyMap<string, RunSummary>;
}

/** The newest child of each lane, and of each step of a lane: a plan may have thousands. */
function newestByPlace(children: readonly ShownRecord[]): ReadonlyMap<string, ShownRecord> {
  return new Map(
    children.flatMap((child) => [
      [placeKey({ ...child, step: undefined }), child],
      [placeKey(child), child],
    ]),
  );
}

function placeKey(place: {
  readonly group: string;
  readonly lane: string;
  readonly step: string | undefined;
}): string {
  return JSON.stringify([place.group, place.lane, place.step]);
}

function isAsking({ is }: LaneState): boolean {
  return is === 'waiting' || is === 'failing';
}
