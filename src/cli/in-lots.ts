const LOT = 64 * 1024;

/** Joined to parts of about this length: a call of the system for each row takes longer than the row. */
export function* inLots(parts: Iterable<string>): Generator<string> {
  let lot: string[] = [];
  let length = 0;
  for (const part of parts) {
    lot.push(part);
    length += part.length;
    if (length < LOT) continue;
    yield lot.join('');
    lot = [];
    length = 0;
  }
  yield lot.join('');
}
