/** A POSIX shell word with exactly this text: unquoted if nothing in it is special. */
export function shellQuoted(word: string): string {
  return /^[\w@%+:,./-]+$/u.test(word) ? word : singleQuoted(word);
}

export function singleQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
