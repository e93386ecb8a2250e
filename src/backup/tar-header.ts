// By hand, because it gives verdicts: libraries derive some number even from a damaged size.
import { type Untrusted, untrust } from '../base/text.ts';
import { backupProblem } from './backup-file.ts';

/** Headers and padding come in blocks of this size (POSIX ustar). */
export const TAR_BLOCK = 512;

/** The fields needed for a walk. Names come from the archive: clean them before showing them. */
export interface TarHeader {
  /** The raw type flag: `0` file, `1` hard link, `2` symlink, `5` directory, and others. */
  readonly type: string;
  /** Bytes of content that follow, without padding. */
  readonly size: number;
  readonly name: Untrusted;
  /** GNU sparse map (type `S`): more blocks of it follow. */
  readonly moreSparse: boolean;
}

/**
 * Hard link, symlink, device, directory, FIFO: no content follows, whatever the size in the header (POSIX
 * ustar, typeflag).
 */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['1', '2', '3', '4', '5', '6']);

const MAGIC_AT = 257;
const CHECKSUM_AT = 148;
const CHECKSUM_LENGTH = 8;

/** Whether content is a tar: the checksum of its first block is right, or at least its magic is there. */
export function looksLikeTar(head: Buffer): boolean {
  return checksumHolds(head) || hasMagic(head);
}

export function isBlank(block: Buffer): boolean {
  return block[0] === 0 && block.compare(block, 1, TAR_BLOCK, 0, TAR_BLOCK - 1) === 0;
}

/** Reads a header block that begins at byte `offset` of the tar. Throws `backup.corrupt`. */
export function readTarHeader(block: Buffer, offset: number): TarHeader {
  if (!checksumHolds(block)) {
    throw backupProblem('corrupt', `the tar header at byte ${offset} of the content has a wrong checksum`);
  }
  const type = String.fromCharCode(block[156] ?? 0).replace('\0', '0');
  const size = mayHaveContent(type) ? readNumber(block, 124, 12) : 0;
  if (size === undefined) {
    throw backupProblem('corrupt', `the tar header at byte ${offset} of the content has no valid size`);
  }
  const posix = block[MAGIC_AT + 5] === 0 && hasMagic(block);
  const prefix = posix ? readText(block, 345, 155) : '';
  const name = readText(block, 0, 100);
  return {
    type,
    size,
    name: untrust(prefix === '' ? name : `${prefix}/${name}`),
    moreSparse: type === 'S' && block[482] === 1,
  };
}

/** Whether content can follow a header of this type flag. */
export function mayHaveContent(type: string): boolean {
  return !WITHOUT_CONTENT.has(type);
}

function hasMagic(block: Buffer): boolean {
  return block.toString('latin1', MAGIC_AT, MAGIC_AT + 5) === 'ustar';
}

/** The sum of all bytes with the field itself read as spaces; some old writers summed signed bytes. */
function checksumHolds(block: Buffer): boolean {
  if (block.length < TAR_BLOCK) return false;
  let sum = 0;
  let high = 0;
  for (let at = 0; at < TAR_BLOCK; at++) {
    const byte = block[at] ?? 0;
    sum += byte;
    high += byte >> 7;
  }
  for (let at = CHECKSUM_AT; at < CHECKSUM_AT + CHECKSUM_LENGTH; at++) {
    const byte = block[at] ?? 0;
    sum += 0x20 - byte;
    high -= byte >> 7;
  }
  const stored = readNumber(block, CHECKSUM_AT, CHECKSUM_LENGTH);
  return stored !== undefined && sum !== 8 * 0x20 && (stored === sum || stored === sum - 256 * high);
}

/** Octal text, or base-256 if the top bit is set (GNU, for sizes from 8 GiB). Undefined if it is neither. */
function readNumber(block: Buffer, at: number, length: number): number | undefined {
  const first = block[at] ?? 0;
  if (first === 0x80) {
    let value = 0;
    for (let index = at + 1; index < at + length; index++) value = value * 256 + (block[index] ?? 0);
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const text = /^[ \0]*([0-7]*)(?:[ \0]|$)/.exec(block.toString('latin1', at, at + length));
  return text === null ? undefined : Number.parseInt(`0${text[1]}`, 8);
}

function readText(block: Buffer, at: number, length: number): string {
  const end = block.indexOf(0, at);
  return block.toString('utf8', at, end < 0 || end > at + length ? at + length : end);
}

// By hand, because it gives verdicts: libraries skip records that they cannot read.

/**
 * Reads pax records (POSIX pax, extended header): `<length> <keyword>=<value>\n`, with the length in bytes of
 * the whole record. The last one counts if a keyword repeats. Undefined if the bytes are not such records.
 */
export function readPax(bytes: Buffer): Map<string, string> | undefined {
  const records = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const digits = bytes.toString('latin1', at, space < 0 ? at : space);
    const end = at + Number(digits);
    if (!/^\d{1,9}$/.test(digits) || end > bytes.length || bytes[end - 1] !== 0x0a) return undefined;
    const equals = bytes.indexOf(0x3d, space);
    if (equals < 0 || equals >= end) return undefined;
    records.set(bytes.toString('utf8', space + 1, equals), bytes.toString('utf8', equals + 1, end - 1));
    at = end;
  }
  return records;
}
