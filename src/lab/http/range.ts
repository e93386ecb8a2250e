/**
 * The part of `size` bytes that a `Range` field asks for (RFC 9110, 14.1.2): from `start` up to before `end`.
 * `beyond` when there is none such (416); undefined for what a server answers with the whole: no field,
 * another unit, one that is malformed, several ranges at once.
 */
export function rangeIn(
  field: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | 'beyond' | undefined {
  const parts = /^bytes=\s*(?<first>\d*)-(?<last>\d*)\s*$/iu.exec(field ?? '')?.groups;
  if (parts === undefined) return undefined;
  const [first = '', last = ''] = [parts['first'], parts['last']];
  if (first === '') {
    if (last === '') return undefined;
    return Number(last) === 0 ? 'beyond' : { start: Math.max(0, size - Number(last)), end: size };
  }
  if (last !== '' && Number(last) < Number(first)) return undefined;
  if (Number(first) >= size) return 'beyond';
  return { start: Number(first), end: last === '' ? size : Math.min(size, Number(last) + 1) };
}
