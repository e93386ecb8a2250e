import type { PlanInput } from '../../../machines/parts/plan.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { LAST } from '../../base/similar.ts';
import { inputOf } from '../../runner/run-log.ts';
import { findRun, listRuns } from '../../runner/runs.ts';
import type { Entry, JournalReader } from '../../store/journal.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { openRuns, runs, summariesOf } from '../../store/projections/runs.ts';

export interface PlanRun {
  readonly summary: RunSummary;
  readonly input: PlanInput;
  readonly entries: readonly Entry[];
}

/** A plan begins many runs after its own. */
const SEARCHED = 50_000;

/**
 * The run of a plan that a person means: its id, a prefix of one, `last` for the newest run of a plan, or,
 * without a word, the only open one. Rejects with a usage error.
 */
export async function findPlanRun(
  journal: Pick<JournalReader, 'rows' | 'read'>,
  word: string | undefined,
): Promise<PlanRun> {
  const summary =
    word === undefined || word === LAST ? await newest(journal, word) : await findRun(journal, word);
  const entries = await journal.read(`run/${summary.runId}`);
  const input = inputOf(entries) as unknown as PlanInput | undefined;
  if (summary.runbook === 'plan' && input !== undefined) return { summary, input, entries };
  throw usage(`run ${summary.runId} is no run of a plan`, ['`lifeboat runs` lists all runs']);
}

async function newest(journal: Pick<JournalReader, 'rows'>, word: string | undefined): Promise<RunSummary> {
  const rows = await journal.rows(runs.name, {
    ...(word === undefined ? { group: 'open' } : {}),
    limit: SEARCHED,
    order: 'descending',
  });
  const [first, second] = summariesOf(rows).filter(({ runbook }) => runbook === 'plan');
  if (first === undefined)
    throw usage(word === undefined ? 'no run of a plan is open' : 'there is no run of a plan', [
      'to begin one: lifeboat plans run PLAN',
    ]);
  if (word === undefined && second !== undefined)
    throw usage(
      'more than one run of a plan is open',
      [first, second].map(({ runId, instance }) => `${runId}  ${instance}`),
    );
  return first;
}

/**
 * Like `findRun`, but a plan's children mean their plan, unless named by id, or left open by an ended plan.
 */
export async function runToResume(
  journal: Pick<JournalReader, 'rows'>,
  word: string | undefined,
): Promise<RunSummary> {
  if (word !== undefined && word !== LAST) return findRun(journal, word);
  if (word === LAST) return lastMeant(journal);
  const open = await openRuns(journal);
  const plans = open.filter(({ runbook }) => runbook === 'plan');
  if (plans.length === 0) return findRun(journal, word);
  const children = new Set<string>();
  for (const plan of plans)
    for (const { runId } of await childrenOf(journal, plan.runId)) children.add(runId);
  const [only, another] = open.filter(({ runId }) => !children.has(runId));
  return only !== undefined && another === undefined ? only : findRun(journal, word);
}

/** Of `last`: as `findRun`, but a recovery that its plan has left goes on by itself. */
async function lastMeant(journal: Pick<JournalReader, 'rows'>): Promise<RunSummary> {
  const [newest] = await listRuns(journal, 1);
  const meant = await findRun(journal, LAST);
  return meant.status !== 'open' && newest?.status === 'open' ? newest : meant;
}

function usage(shortMessage: string, hints: readonly string[]): LifeboatError {
  return new LifeboatError('usage.plan', shortMessage, { hints, exitCode: EXIT.usage });
}
