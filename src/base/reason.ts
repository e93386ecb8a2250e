/** Words that answer a question for a reason without giving one. */
const NO_REASONS: ReadonlySet<string> = new Set([
  ...['yes', 'y', 'yep', 'no', 'n', 'nope', 'ok', 'okay', 'sure', 'fine', 'none', 'nothing', 'na', 'nil'],
  ...['skip', 'stop', 'reason', 'because', 'why', 'whatever', 'asdf', 'asd', 'qwerty', 'foo', 'bla', 'blah'],
]);

/**
 * Whether a text has no meaning in any language: empty, one character repeated, only punctuation, or a word
 * such as `no`. Short reasons are accepted.
 */
export function isNoReason(text: string): boolean {
  const letters = text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return new Set(letters).size < 2 || NO_REASONS.has(letters);
}

export function noReasonWords(text: string): string {
  return text.trim() === ''
    ? 'a reason is missing'
    : `"${text.trim()}" is no reason: write why, in a few words`;
}
