/** The same value with this text instead of every other, but where `isKept` says so. */
export function withTexts(value: unknown, text: string, isKept: (kept: string) => boolean): unknown {
  if (typeof value === 'string') return isKept(value) ? value : text;
  if (Array.isArray(value)) return value.map((item) => withTexts(item, text, isKept));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, text, isKept)]));
}
