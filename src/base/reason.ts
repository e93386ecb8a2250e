/** Words that answer a question for a reason without giving one. */
const NO_REASONS: ReadonlySet<string> = new Set([
  ...['yes', 'y', 'yep', 'no', 'n', 'nope', 'ok', 'okay', 'sure', 'fine', 'none', 'nothing', 'na', 'nil'],
  ...['skip', 'stop', 'reason', 'because', 'why', 'whatever', 'asdf', 'asd', 'qwerty', 'foo', 'bla', 'blah'],
]);

/**
 * Whether a text gives no reason: empty, a single repeated character, only punctuation, or a word such as
 * `no`. Short reasons are accepted: only text without meaning in any language is refused.
 */
export function isNoReason(text: string): boolean {
  const letters = text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return new Set(letters).size < 2 || NO_REASONS.has(letters);
}

/** The message for such a text. */
export function noReasonWords(text: string): string {
  return text.trim() === ''
    ? 'a reason is missing'
    : `"${text.trim()}" is no reason: write why, in a few words`;
}
