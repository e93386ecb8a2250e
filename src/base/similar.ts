import { distance } from 'fastest-levenshtein';

/** More edits than these, and it is another word. */
const MAX_EDITS = 3;
/** The part of the longer word that has to be right. */
const MIN_ALIKE = 0.4;

/**
 * The known word that was probably meant: the one with the fewest letters wrong, left out or added; undefined
 * where none comes near. Commander suggests commands and flags by the same limits, and exports no function.
 */
function similarTo(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, edits: distance(word, candidate) }))
    .filter(({ candidate, edits }) => {
      const longer = Math.max(word.length, candidate.length);
      return edits <= MAX_EDITS && (longer - edits) / longer > MIN_ALIKE;
    });
  return near.toSorted((one, other) => one.edits - other.edits)[0]?.candidate;
}

/** The same as a hint, or none. */
export function mostSimilar(word: string, known: readonly string[]): readonly string[] {
  const similar = similarTo(word, known);
  return similar === undefined ? [] : [`the most similar: ${similar}`];
}

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
