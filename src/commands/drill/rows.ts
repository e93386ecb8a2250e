import type { Query } from '../../lab/engine/engine.ts';
import { type SampleDigest, type SampleTable, sampleDigest } from '../../lab/sample-data.ts';
import type { ComparedTable } from '../../store/recovery-facts.ts';

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

/**
 * Compares the rows of two databases up to the same order, and checks that every transaction of the first is
 * whole.
 */
export async function compareSamples(restored: Query, expected: Query, upTo: number) {
  const [ours, theirs] = [await sampleDigest(restored, upTo), await sampleDigest(expected, upTo)];
  return { tables: compareTables(ours, theirs), balanced: ours.unbalancedOrders === 0 };
}
