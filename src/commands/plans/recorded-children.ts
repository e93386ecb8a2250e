import type { PlanContext } from '../../../machines/plan.ts';
import { msOf } from '../../base/instant.ts';
import type { ShownChild } from '../../plans/conductor-port.ts';
import { placeOf } from '../../plans/facts.ts';
import { answerOfPlan, isAsking, isTakenOut, standingOf, whereOfOut, whyLeft } from '../../plans/standing.ts';
import type { JournalReader } from '../../store/journal.ts';
import type { ChildRow } from '../../store/projections/plan-children.ts';
import { changesSince } from './child-snapshot.ts';
import { snapshotOnRecord } from './snapshot-on-record.ts';

/** A child of a plan's run by the record alone: nobody here drives it. */
export interface ShownRecord extends ShownChild {
  readonly runId: string;
  readonly asks: string | undefined;
  readonly cause: string | undefined;
}

interface Of {
  readonly context: PlanContext;
  readonly isStopped: (group: string) => boolean;
  /** The plan's steps are left to the workers. */
  readonly areForWorkers: boolean;
}

/** With what they ask. Reads the journals of open children only: ended ones take no time. */
export function recordedChildren(
  journal: Pick<JournalReader, 'read'>,
  rows: readonly ChildRow[],
  of: Of,
): Promise<readonly ShownRecord[]> {
  return Promise.all(rows.map((row) => recorded(journal, row, of)));
}

async function recorded(
  journal: Pick<JournalReader, 'read'>,
  row: ChildRow,
  { context, isStopped, areForWorkers }: Of,
): Promise<ShownRecord> {
  const { group, step, lane, attempt, runId, result, startedAt, endedAt, where, cause, isLeft, awaits } = row;
  const startedMs = msOf(startedAt);
  const base: ShownRecord = {
    ...{ group, step, lane, attempt, runId, startedMs, where, cause, asks: undefined },
    ...{ question: undefined, isAnswered: false, isPaused: false, isInDoubt: false, isLeft: false },
    sinceMs: undefined,
    problem: result === 'failed' ? cause : undefined,
    state: result ?? (isLeft ? 'waiting' : 'at-work'),
    endedMs: endedAt === undefined ? undefined : msOf(endedAt),
  };
  if (result !== undefined) return base;
  const found = await snapshotOnRecord(journal, runId);
  // Only the version that began it can fold it.
  if (found === undefined) return base;
  const seen = { ...found, paused: undefined };
  const isOut = isTakenOut(context, row);
  if (seen.question === undefined && isLeft) {
    if (found.paused === undefined && isOut)
      return { ...base, state: 'at-work', where: whereOfOut(seen.where) };
    if (found.paused === undefined && areForWorkers && awaits !== 'person')
      return { ...base, state: 'at-work', where: whereOfQueued(seen.where) };
    // It goes on with the plan, perhaps with credentials.
    return { ...base, where: seen.where };
  }
  const of = placeOf(context.input, row).step;
  const decided = { context, isStopped: isStopped(group), differences: changesSince };
  const answer = answerOfPlan(row, of, seen, decided);
  const standing = standingOf(of, startedMs, seen, {
    isAutomatic: answer !== undefined,
    isOut,
    nowMs: Date.now(),
  });
  const { problem, question } = standing;
  const asks = problem ?? (answer === undefined ? question?.prompt : undefined);
  const isLeftNow = isAsking(standing) && whyLeft(row, of, seen, decided) !== undefined;
  return { ...base, ...standing, asks, isLeft: isLeftNow };
}

function whereOfQueued(where: string | undefined): string {
  return `left to the workers: ${where ?? 'just begun'}`;
}
