import { distance } from 'fastest-levenshtein';

const MAX_EDITS = 3;
/** The minimum matching share of the longer word. */
const MIN_ALIKE = 0.4;

/** The closest known word, by the limits of Commander's own suggestions, for which it exports no function. */
function similarTo(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, edits: distance(word, candidate) }))
    .filter(({ candidate, edits }) => {
      const longer = Math.max(word.length, candidate.length);
      return edits <= MAX_EDITS && (longer - edits) / longer > MIN_ALIKE;
    });
  // Letters in the wrong order are the more likely slip.
  const isSwapped = (other: string) => Number(lettersOf(other) === lettersOf(word));
  return near.toSorted(
    (one, other) => one.edits - other.edits || isSwapped(other.candidate) - isSwapped(one.candidate),
  )[0]?.candidate;
}

function lettersOf(word: string): string {
  return [...word].sort().join('');
}

/** As a hint, or none. */
export function mostSimilar(word: string, known: readonly string[]): readonly string[] {
  const similar = similarTo(word, known);
  return similar === undefined ? [] : [`the most similar: ${similar}`];
}

/** The word for the newest of several; no id has this form. */
export const LAST = 'last';

/**
 * The item with exactly this id; else those whose id begins with the word; for `last` the newest. An empty
 * word, as from an unset variable, matches nothing. `idsOf` returns all ids of an item, `atOf` its time, RFC
 * 3339 in UTC.
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
