/**
 * A word of a POSIX shell that means just this text: as it is where nothing in it has a meaning, else quoted.
 */
export function shellQuoted(word: string): string {
  return /^[\w@%+:,./-]+$/u.test(word) ? word : singleQuoted(word);
}

/** The same, in quotes in any case. */
export function singleQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
