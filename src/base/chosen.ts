/** The word for the newest of several; no id is written like this. */
export const LAST = 'last';

/**
 * What a person means by a word: the one with exactly this id; else those with an id that begins with it; for
 * `last` the newest. An empty word, as of a variable that is not set, means nothing. `idsOf` gives all ids by
 * which one is known, `atOf` its time, RFC 3339 in UTC.
 */
export function meantBy<Item>(
  word: string,
  items: readonly Item[],
  idsOf: (item: Item) => readonly string[],
  atOf: (item: Item) => string,
): readonly Item[] {
  if (word === '') return [];
  const exact = items.filter((item) => idsOf(item).includes(word));
  if (exact.length > 0) return exact;
  if (word !== LAST) return items.filter((item) => idsOf(item).some((id) => id.startsWith(word)));
  return items.toSorted((one, other) => atOf(one).localeCompare(atOf(other))).slice(-1);
}
