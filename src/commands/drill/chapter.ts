import { secondsOf } from '../../base/format.ts';
import type { ResultOf } from '../../cli/print-result.ts';
import type { Query } from '../../lab/engine/engine.ts';
import type { InstanceWish } from '../../lab/instance-plan.ts';
import { type SampleDigest, type SampleTable, sampleDigest } from '../../lab/sample-data.ts';
import type { RecoveryPoint } from '../../report/measure/recovery-point.ts';
import type { Entry } from '../../store/journal.ts';
import type { ComparedTable } from '../../store/recovery-facts.ts';
import { measuresOfRun, slicesInWords } from '../run/run-report.ts';
import type { Stage } from './stage.ts';

/**
 * What one chapter of a drill has shown. Its checks query the databases themselves; `rowsLostSeconds` is not
 * the recovery point, which is measured from what a run knows and compared with the objective.
 */
export type ChapterProof = ResultOf<'drill'>['chapters'][number];

/** A part of the rehearsal: it damages the lab, and a run recovers it. */
export interface Chapter {
  readonly runbook: string;
  readonly title: string;
  readonly instance: string;
  /** The instances of the lab that it needs; those of the lab's default, and `instance`, without it. */
  readonly instances?: readonly InstanceWish[];
  /** Undefined if a run was not closed; `Stage.ended` then has its exit code. */
  play(stage: Stage): Promise<ChapterProof | undefined>;
}

/** An empty check proves nothing: tables must be compared, and each must have rows. */
export function allHold({ checks, tables }: Pick<ChapterProof, 'checks' | 'tables'>): boolean {
  const isCompared = checks.length > 0 && tables.length > 0;
  return (
    isCompared && checks.every(({ holds }) => holds) && tables.every(({ equal, rows }) => equal && rows > 0)
  );
}

/** The output of the last activity of that name in a run. */
export function outputOf<Output>(entries: readonly Entry[], activity: string): Output | undefined {
  const wanted = `xstate.done.actor.${activity}`;
  const found = entries.findLast(
    ({ type, body }) => type === 'event' && (body as { event?: { type?: string } }).event?.type === wanted,
  );
  return (found?.body as { event?: { output?: Output } } | undefined)?.event?.output;
}

/** How long a recovery took, in slices; undefined if it was not shown to be over. */
export function recoveryTimeOf(
  runbook: string,
  entries: readonly Entry[],
): Pick<ChapterProof['measures'], 'rtoSeconds' | 'rtoHow'> {
  const measures = measuresOfRun(runbook, entries);
  if (measures === undefined || measures.unshown !== undefined || measures.time.unbound !== undefined)
    return {};
  return { rtoSeconds: secondsOf(measures.time.totalMs), rtoHow: slicesInWords(measures) };
}

/** How much a recovery lost, as its run's report states it; undefined if that was not measured. */
export function recoveryPointOf(
  runbook: string,
  entries: readonly Entry[],
): Pick<ChapterProof['measures'], 'rpoSeconds' | 'rpoHow'> {
  const point = measuresOfRun(runbook, entries)?.point;
  if (point === undefined) return {};
  return { rpoSeconds: point.lostMs / 1000, rpoHow: `from ${RECOVERED[point.by]} to ${point.lostBy}` };
}

/** What was recovered, by how the recovery point was measured. */
const RECOVERED: Readonly<Record<RecoveryPoint['by'], string>> = {
  data: 'the newest restored record',
  restored_from: 'the moment that the service restored',
  'chosen-time': 'the chosen moment',
};

/** Compares tables with the expected ones, row by row: equal digests mean that every row is the same. */
export function compareTables(
  restored: Pick<SampleDigest, 'tables'>,
  expected: Pick<SampleDigest, 'tables'>,
): ComparedTable[] {
  return (Object.keys(restored.tables) as SampleTable[]).map((name) => {
    const { rows, md5 } = restored.tables[name];
    const wanted = expected.tables[name];
    return {
      name,
      rows,
      md5,
      expected: { rows: wanted.rows, md5: wanted.md5 },
      equal: md5 === wanted.md5 && rows === wanted.rows,
    };
  });
}

/** The newest order, up to and including `until` if given; undefined if there is none. */
export async function newestOrder(
  query: Query,
  until?: Date,
): Promise<{ readonly id: number; readonly at: Date } | undefined> {
  const [row] = await query<{ id: string; created_at: Date }>(
    `select id, created_at from orders where created_at <= coalesce($1::timestamptz, $2)
     order by id desc limit 1`,
    [until?.toISOString() ?? null, 'infinity'],
  );
  return row === undefined ? undefined : { id: Number(row.id), at: row.created_at };
}

/** Up to the same order; `balanced`: every transaction of the first is whole. */
export async function compareSamples(restored: Query, expected: Query, upTo: number) {
  const [ours, theirs] = [await sampleDigest(restored, upTo), await sampleDigest(expected, upTo)];
  return { tables: compareTables(ours, theirs), balanced: ours.unbalancedOrders === 0 };
}
