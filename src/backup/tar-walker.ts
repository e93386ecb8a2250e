import type { LifeboatError } from '../base/errors.ts';
import { type Untrusted, untrust } from '../base/text.ts';
import { backupProblem } from './backup-file.ts';

// By hand, because it gives verdicts: libraries skip or guess damaged parts, and do not say at which byte.

/** An entry of a tar. Clean its name before showing it, and never use it as a path unchecked. */
export interface TarEntry {
  readonly name: Untrusted;
  readonly size: number;
}

/** Mostly small; some MiB with access lists or comments. Larger ones are not read into memory. */
const META_LIMIT = 32 * 1024 * 1024;

/** Long names (`L`, `K`) and pax records (`x`, Solaris `X`, `g` for all) only describe entries. */
const META_TYPES = new Set(['L', 'K', 'x', 'X', 'g']);

/**
 * Walks a pushed tar: ustar, pax, GNU long names, sparse files, sizes over 8 GiB. Skips content without a
 * copy. Ends as `tar -t` does: at the first block of zeros, or between two entries. Every header checksum
 * must be right.
 */
export class TarWalker {
  readonly #onEntry: ((entry: TarEntry) => void) | undefined;
  readonly #onContent: ((bytes: Uint8Array) => void) | undefined;
  readonly #block = Buffer.alloc(TAR_BLOCK);
  #filled = 0;
  #offset = 0;
  /** Content and padding still to skip. */
  #skip = 0;
  /** How much of that is padding. */
  #padding = 0;
  #meta: { readonly type: string; readonly bytes: Buffer; filled: number } | undefined;
  #sparse: { readonly size: number } | undefined;
  #next: { name?: Untrusted; size?: number } = {};
  #ended = false;
  #entries = 0;
  #contentBytes = 0;

  /** `onEntry` is called for every entry before its content, `onContent` with each piece of that. */
  constructor(onEntry?: (entry: TarEntry) => void, onContent?: (bytes: Uint8Array) => void) {
    this.#onEntry = onEntry;
    this.#onContent = onContent;
  }

  get entries(): number {
    return this.#entries;
  }

  /** Total content bytes of the entries so far, by their headers. */
  get contentBytes(): number {
    return this.#contentBytes;
  }

  /** Takes the next bytes. Throws `backup.corrupt`; the walker is unusable after that. */
  write(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    while (at < bytes.length && !this.#ended) {
      const step = this.#step(bytes, at);
      at += step;
      this.#offset += step;
    }
  }

  /** Throws `backup.truncated` if the tar stops inside an entry. */
  end(): void {
    const inside =
      this.#skip > 0 || this.#filled > 0 || this.#meta !== undefined || this.#sparse !== undefined;
    if (inside && !this.#ended) {
      throw backupProblem('truncated', `the tar inside ends early, at byte ${this.#offset} of the content`);
    }
  }

  #step(bytes: Buffer, at: number): number {
    const left = bytes.length - at;
    if (this.#skip > 0) {
      const step = Math.min(this.#skip, left);
      const content = Math.min(step, this.#skip - this.#padding);
      if (content > 0) this.#onContent?.(bytes.subarray(at, at + content));
      this.#skip -= step;
      return step;
    }
    if (this.#meta !== undefined) return this.#fillMeta(this.#meta, bytes, at);
    if (this.#filled === 0 && left >= TAR_BLOCK) {
      this.#readBlock(bytes.subarray(at, at + TAR_BLOCK), this.#offset);
      return TAR_BLOCK;
    }
    const step = bytes.copy(this.#block, this.#filled, at);
    this.#filled += step;
    if (this.#filled === TAR_BLOCK) {
      this.#filled = 0;
      this.#readBlock(this.#block, this.#offset + step - TAR_BLOCK);
    }
    return step;
  }

  #readBlock(block: Buffer, offset: number): void {
    if (this.#sparse !== undefined) {
      if (block[504] !== 1) {
        this.#passContent(this.#sparse.size);
        this.#sparse = undefined;
      }
      return;
    }
    if (isBlank(block)) {
      this.#ended = true;
      return;
    }
    const header = readTarHeader(block, offset);
    if (META_TYPES.has(header.type)) this.#beginMeta(header, offset);
    else this.#beginEntry(header);
  }

  #beginEntry(header: TarHeader): void {
    const { name, size } = this.#next;
    const length = size !== undefined && mayHaveContent(header.type) ? size : header.size;
    this.#next = {};
    this.#entries++;
    this.#contentBytes += length;
    if (header.moreSparse) this.#sparse = { size: length };
    else this.#passContent(length);
    this.#onEntry?.({ name: name ?? header.name, size: length });
  }

  #passContent(size: number): void {
    this.#padding = paddingOf(size);
    this.#skip = size + this.#padding;
  }

  #beginMeta({ type, size }: TarHeader, offset: number): void {
    if (size > META_LIMIT) throw badMeta(offset);
    if (size > 0) this.#meta = { type, bytes: Buffer.alloc(size), filled: 0 };
  }

  #fillMeta(meta: { type: string; bytes: Buffer; filled: number }, bytes: Buffer, at: number): number {
    const step = bytes.copy(meta.bytes, meta.filled, at);
    meta.filled += step;
    if (meta.filled < meta.bytes.length) return step;
    this.#meta = undefined;
    this.#padding = paddingOf(meta.filled);
    this.#skip = this.#padding;
    if (meta.type === 'L') this.#next.name = longName(meta.bytes);
    else if (meta.type === 'x' || meta.type === 'X') this.#applyPax(meta.bytes);
    return step;
  }

  #applyPax(bytes: Buffer): void {
    const records = readPax(bytes);
    if (records === undefined) throw badMeta(this.#offset);
    const path = records.get('GNU.sparse.name') ?? records.get('path');
    const size = records.get('size');
    if (path !== undefined) this.#next.name = untrust(path);
    if (size === undefined) return;
    this.#next.size = /^\d+$/.test(size) ? Number(size) : Number.NaN;
    if (!Number.isSafeInteger(this.#next.size)) throw badMeta(this.#offset);
  }
}

function paddingOf(size: number): number {
  return (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK;
}

function longName(bytes: Buffer): Untrusted {
  return untrust(bytes.toString('utf8').replace(/\0.*$/s, ''));
}

function badMeta(offset: number): LifeboatError {
  return backupProblem('corrupt', `the tar entry near byte ${offset} of the content has unreadable records`);
}

// By hand, because it gives verdicts: libraries derive some number even from a damaged size.

/** Headers and padding come in blocks of this size (POSIX ustar). */
export const TAR_BLOCK = 512;

/** The fields needed for a walk. Names come from the archive: clean them before showing them. */
interface TarHeader {
  /** The raw type flag: `0` file, `1` hard link, `2` symlink, `5` directory, and others. */
  readonly type: string;
  /** Bytes of content that follow, without padding. */
  readonly size: number;
  readonly name: Untrusted;
  /** GNU sparse map (type `S`): more blocks of it follow. */
  readonly moreSparse: boolean;
}

/** Hard link, symlink, device, directory, FIFO: without content whatever the size (POSIX ustar, typeflag). */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['1', '2', '3', '4', '5', '6']);

const MAGIC_AT = 257;
const CHECKSUM_AT = 148;
const CHECKSUM_LENGTH = 8;

/** Whether content is a tar: the checksum of its first block is right, or at least its magic is there. */
export function looksLikeTar(head: Buffer): boolean {
  return checksumHolds(head) || hasMagic(head);
}

function isBlank(block: Buffer): boolean {
  return block[0] === 0 && block.compare(block, 1, TAR_BLOCK, 0, TAR_BLOCK - 1) === 0;
}

/** Reads a header block that begins at byte `offset` of the tar. Throws `backup.corrupt`. */
function readTarHeader(block: Buffer, offset: number): TarHeader {
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
function mayHaveContent(type: string): boolean {
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

/** POSIX pax records, `<length> <keyword>=<value>\n`; `length` in bytes of all. The last keyword counts. */
function readPax(bytes: Buffer): Map<string, string> | undefined {
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
