import type { Json } from '../../../src/store/journal.ts';
import type { Projection } from '../../../src/store/projections/projection.ts';

/**
 * A projection for tests: a row for each stream, counting its notes, in the group `odd` or `even`, sorted by
 * the last text; an entry `gone` removes the row. Another version counts in tens.
 */
export function notesProjection(version = 1): Projection {
  const step = version === 1 ? 1 : 10;
  return {
    name: 'notes',
    version,
    keysOf: ({ type, stream }) => (type === 'note' || type === 'gone' ? [stream] : []),
    fold(row, { type, body }) {
      if (type === 'gone') return undefined;
      const count = (row === undefined ? 0 : countIn(row.value)) + step;
      const { text = '' } = body as { readonly text?: string };
      return { group: count % 2 === 0 ? 'even' : 'odd', sort: text, value: { count } };
    },
  };
}

export const NOTES: readonly Projection[] = [notesProjection()];

function countIn(value: Json): number {
  return (value as { readonly count: number }).count;
}
