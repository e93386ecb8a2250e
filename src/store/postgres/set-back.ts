import type { StoredEntry } from '../journal.ts';
import { isStreamName } from '../new-entry.ts';

/** More rows of one stream would not fit into a hint. */
const MOST_NAMED = 12;

/**
 * What the owner of the database runs where the last rows are gone and the heads that were signed over them
 * bar the way: no member of the team may take a head away. What is left ends with the newest head that covers
 * only rows that are there; rows behind it go too, and so do `stray` ones: what is left of an append of which
 * others were removed, which nobody could sign again. `end`: one more than the number of the last leaf. Each
 * line is short enough for a hint. Pure.
 */
export function setBackSql(
  end: number,
  stray: readonly Pick<StoredEntry, 'stream' | 'seq'>[],
): readonly string[] {
  const behind = '(select coalesce(max(size), 0) from lifeboat.heads)';
  const guards = (how: string) =>
    ['heads', 'entries', 'leaves']
      .map((table) => `alter table lifeboat.${table} ${how} trigger ${table}_append_only;`)
      .join(' ');
  return [
    `begin; ${guards('disable')}`,
    `delete from lifeboat.heads where size > ${end};`,
    `delete from lifeboat.entries where id in (select id from lifeboat.leaves where leaf >= ${behind});`,
    `delete from lifeboat.leaves where leaf >= ${behind};`,
    ...deleteRows(stray),
    `${guards('enable always')} commit;`,
  ];
}

/** Of very many, or under names that cannot be printed, all that have no leaf. */
function deleteRows(stray: readonly Pick<StoredEntry, 'stream' | 'seq'>[]): readonly string[] {
  const streams = [...Map.groupBy(stray, ({ stream }) => stream)];
  const isPlain = streams.every(([stream, rows]) => isStreamName(stream) && rows.length <= MOST_NAMED);
  if (!isPlain || streams.length > MOST_NAMED)
    return [
      'delete from lifeboat.entries e where not exists (select from lifeboat.leaves l where l.id = e.id);',
    ];
  return streams.map(
    ([stream, rows]) =>
      `delete from lifeboat.entries where stream = '${stream}' and seq in (${rows.map(({ seq }) => seq).join(', ')});`,
  );
}
