// By hand, because it gives verdicts: libraries pass over records that they cannot read.

/**
 * Reads pax records (POSIX pax, extended header): `<length> <keyword>=<value>\n`, the length in bytes and of
 * the whole record. Of a keyword that is there twice the last one counts. Undefined when the bytes are no
 * such records.
 */
export function readPax(bytes: Buffer): Map<string, string> | undefined {
  const records = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const digits = bytes.toString('latin1', at, space < 0 ? at : space);
    const end = at + Number(digits);
    if (!/^\d{1,7}$/.test(digits) || end > bytes.length || bytes[end - 1] !== 0x0a) return undefined;
    const equals = bytes.indexOf(0x3d, space);
    if (equals < 0 || equals >= end) return undefined;
    records.set(bytes.toString('utf8', space + 1, equals), bytes.toString('utf8', equals + 1, end - 1));
    at = end;
  }
  return records;
}
