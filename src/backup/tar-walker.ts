// By hand, because it gives verdicts: libraries skip or guess damaged parts, and do not say at which byte.
import type { LifeboatError } from '../base/errors.ts';
import { type Untrusted, untrust } from '../base/text.ts';
import { backupProblem } from './backup-file.ts';
import { isBlank, mayHaveContent, readPax, readTarHeader, TAR_BLOCK, type TarHeader } from './tar-header.ts';

/** An entry of a tar. Clean its name before showing it, and never use it as a path unchecked. */
export interface TarEntry {
  readonly name: Untrusted;
  /** Bytes of content. */
  readonly size: number;
}

/**
 * Long names and pax records are small; with access lists or comments they can reach some MiB. Larger ones
 * are not read into memory.
 */
const META_LIMIT = 32 * 1024 * 1024;

/**
 * Long names (`L`, `K`) and pax records (`x`, Solaris's `X`, and `g` for all entries) describe entries and
 * are not entries themselves.
 */
const META_TYPES = new Set(['L', 'K', 'x', 'X', 'g']);

/**
 * Walks a tar that is pushed through it: ustar, pax, GNU long names, sparse files, sizes over 8 GiB. Content
 * is skipped, not copied. It ends where `tar -t` ends: the first block of zeros ends the tar, and what
 * follows is ignored; a tar that just stops between two entries is whole. Every header checksum must be
 * right.
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

  /** Entries met so far. */
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
