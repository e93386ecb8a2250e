import { dirname } from 'node:path';
import type { Step } from './trace.ts';

/*
 * What a disk may hold after a power cut, as in "All File Systems Are Not Created Equal" (OSDI 2014): until a
 * file is synced, any of its writes may be missing, in any order and in pieces; until a folder is synced, so
 * may any change of its names.
 */

/** The files of a home at one moment, by their absolute paths. */
export interface Image {
  readonly files: ReadonlyMap<string, Buffer>;
  readonly folders: ReadonlySet<string>;
}

export interface Disk {
  take(step: Step): void;
  /** The state that running processes see, and that a killed process leaves behind. */
  seen(): Image;
  /** The same, with only the first `length` bytes of the next write. */
  torn(step: Step & { readonly do: 'write' }, length: number): Image;
  /**
   * The certain part, and those of the rest that `draw` (numbers in [0, 1)) lets survive. Always 1: none of
   * the rest.
   */
  afterPowerCut(draw: () => number): Image;
}

type Change = { readonly offset: number; readonly bytes: Buffer } | { readonly length: number };

interface File {
  seen: Buffer;
  certain: Buffer;
  pending: Change[];
}

interface Renaming {
  /** Each name and what it now refers to. */
  readonly names: readonly (readonly [string, File | 'folder' | undefined])[];
}

/** A disk on which these files are synced. */
export function createDisk({ files, folders }: Image): Disk {
  const seen = new Map<string, File | 'folder'>([...folders].map((path) => [path, 'folder']));
  for (const [path, bytes] of files)
    seen.set(path, { seen: copyOf(bytes), certain: copyOf(bytes), pending: [] });
  const certain = new Map(seen);
  let renamings: Renaming[] = [];

  const rename = (...names: Renaming['names']) => {
    for (const [path, to] of names) {
      if (to === undefined) seen.delete(path);
      else seen.set(path, to);
    }
    renamings.push({ names });
  };
  const change = (path: string, one: Change) => {
    const file = seen.get(path);
    if (file === undefined || file === 'folder') return;
    file.seen = changed(file.seen, one);
    file.pending.push(one);
  };
  const sync = (path: string) => {
    const file = seen.get(path);
    if (file === undefined) return;
    if (file !== 'folder') {
      file.certain = file.pending.reduce(changed, file.certain);
      file.pending = [];
      return;
    }
    const isHere = ({ names }: Renaming) => names.some(([name]) => dirname(name) === path);
    for (const { names } of renamings.filter(isHere)) apply(certain, names);
    renamings = renamings.filter((one) => !isHere(one));
  };

  return {
    take(step) {
      if (step.do === 'create' && !seen.has(step.path)) rename([step.path, emptyFile()]);
      else if (step.do === 'mkdir') rename([step.path, 'folder']);
      else if (step.do === 'unlink') rename([step.path, undefined]);
      else if (step.do === 'rename') rename([step.path, undefined], [step.to, seen.get(step.path)]);
      else if (step.do === 'link') rename([step.to, seen.get(step.path)]);
      else if (step.do === 'write') change(step.path, step);
      else if (step.do === 'truncate') change(step.path, step);
      else if (step.do === 'sync') sync(step.path);
    },
    seen: () => imageOf(seen, (file) => file.seen),
    torn({ path, offset, bytes }, length) {
      const half = { offset, bytes: bytes.subarray(0, length) };
      const target = seen.get(path);
      return imageOf(seen, (file) => (file === target ? changed(copyOf(file.seen), half) : file.seen));
    },
    afterPowerCut(draw) {
      const names = new Map(certain);
      // A journalling file system keeps the order of renames, others do not.
      const inOrder = draw() < 0.5;
      const survivors = inOrder ? prefixOf(renamings, draw) : shuffled(renamings, draw);
      for (const { names: some } of survivors) apply(names, some);
      return imageOf(names, (file) => survived(file, draw));
    },
  };
}

function emptyFile(): File {
  return { seen: Buffer.alloc(0), certain: Buffer.alloc(0), pending: [] };
}

function apply(names: Map<string, File | 'folder'>, changes: Renaming['names']): void {
  for (const [path, to] of changes) {
    if (to === undefined) names.delete(path);
    else names.set(path, to);
  }
}

/** Applies a change; in place when it fits. */
function changed(bytes: Buffer, change: Change): Buffer {
  if ('length' in change) {
    if (change.length <= bytes.length) return bytes.subarray(0, change.length);
    return grown(bytes, change.length);
  }
  const end = change.offset + change.bytes.length;
  const whole = end <= bytes.length ? bytes : grown(bytes, end);
  change.bytes.copy(whole, change.offset);
  return whole;
}

/** A longer view on the same memory if there is room, else on a larger copy. New bytes are zeros. */
function grown(bytes: Buffer, length: number): Buffer {
  const { buffer, byteOffset } = bytes;
  if (byteOffset + length <= buffer.byteLength) {
    const longer = Buffer.from(buffer, byteOffset, length);
    longer.fill(0, bytes.length);
    return longer;
  }
  return copyOf(bytes, Math.max(2 * length, 4096)).subarray(0, length);
}

/** With its own memory: small buffers of `Buffer.from` share theirs. */
function copyOf(bytes: Buffer, size = bytes.length): Buffer {
  const copy = Buffer.alloc(size);
  bytes.copy(copy);
  return copy;
}

/** Writes are split into the units in which a disk keeps or loses them. */
function survived(file: File, draw: () => number): Buffer {
  if (file.pending.length === 0) return file.certain;
  const piece = [512, 4096, Number.POSITIVE_INFINITY][Math.floor(draw() * 3)] ?? 512;
  const pieces = file.pending.flatMap((change) => cut(change, piece));
  const kept = draw() < 0.5 ? prefixOf(pieces, draw) : shuffled(pieces, draw);
  return kept.reduce(changed, copyOf(file.certain));
}

function cut(change: Change, size: number): Change[] {
  if ('length' in change) return [change];
  const { offset, bytes } = change;
  const pieces: Change[] = [];
  for (let from = 0; from < bytes.length; ) {
    // Units begin at multiples of their size on the disk, not in the write.
    const to = Math.min(
      bytes.length,
      size === Number.POSITIVE_INFINITY ? bytes.length : from + size - ((offset + from) % size),
    );
    pieces.push({ offset: offset + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return pieces;
}

function prefixOf<T>(items: readonly T[], draw: () => number): T[] {
  return items.slice(0, Math.round((1 - draw()) * items.length));
}

/** A random subset in random order. */
function shuffled<T>(items: readonly T[], draw: () => number): T[] {
  const share = draw();
  return items
    .filter(() => draw() >= share)
    .map((item) => ({ item, at: draw() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

function imageOf(names: ReadonlyMap<string, File | 'folder'>, bytesOf: (file: File) => Buffer): Image {
  const files = new Map<string, Buffer>();
  const folders = new Set<string>();
  for (const [path, file] of names) {
    if (file === 'folder') folders.add(path);
    else files.set(path, bytesOf(file));
  }
  return { files, folders };
}
