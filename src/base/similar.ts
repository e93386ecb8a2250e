/** More edits than these, and it is another word. */
const MOST_EDITS = 3;
/** The part of the longer word that has to be right. */
const LEAST_ALIKE = 0.4;

/**
 * The known word that somebody may have meant: the one with the fewest letters wrong, left out, added or
 * exchanged; undefined where none comes near. It suggests what commander suggests for commands and flags,
 * whose function is not exported.
 */
function similarTo(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, edits: editsBetween(word, candidate) }))
    .filter(({ candidate, edits }) => {
      const longer = Math.max(word.length, candidate.length);
      return edits <= MOST_EDITS && (longer - edits) / longer > LEAST_ALIKE;
    });
  return near.toSorted((one, other) => one.edits - other.edits)[0]?.candidate;
}

/** The same as a hint, or none. */
export function mostSimilar(word: string, known: readonly string[]): readonly string[] {
  const similar = similarTo(word, known);
  return similar === undefined ? [] : [`the most similar: ${similar}`];
}

/** Optimal string alignment: single letters changed, and neighbours exchanged. */
function editsBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MOST_EDITS) return MOST_EDITS + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isExchanged =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isExchanged ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
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
