/** What a field holds after text came in, or why nothing was taken. */
type Entry = { readonly text: string } | { readonly problem: string };

/** Longest text a field takes. Keys and reasons are far shorter; a pasted file is a slip. */
const ENTRY_LIMIT = 4096;

/**
 * Adds text that came in one piece (a key, a paste, several keys from a slow line) to a field of one line. A
 * line break at its end is dropped and never submits. Inside, a reason gets blanks for line breaks; a name or
 * a secret is refused, because it has to be right to the character.
 */
export function takeText(raw: string, before: string, kind: 'exact' | 'reason'): Entry {
  const ended = raw.replace(/[\r\n]+$/u, '');
  const line = kind === 'exact' ? ended : ended.replace(/\s*[\r\n]+\s*|\t/gu, ' ');
  if (/\p{Cc}/u.test(line))
    return {
      problem: 'that text has line breaks or control characters: nothing was taken',
    };
  const text = before + line;
  return text.length > ENTRY_LIMIT
    ? { problem: `more than ${ENTRY_LIMIT} characters: nothing was taken` }
    : { text };
}
