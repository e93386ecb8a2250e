import { printableJson } from '../../base/text.ts';
import { linesOf } from './shown-log.ts';

/*
 * A bundle is a tar, or lines. The tar is written by hand, because its bytes must be reproducible, and any
 * other byte must be noticed.
 */

/** A run has a ledger for each of its instances and some dozens of checkpoints. */
const MAX_FILES = 10_000;
const BLOCK = 512;
/** Where a header has the folder of its file. */
const PREFIX = 345;

export type BundleFiles = ReadonlyMap<string, Buffer>;

/** Packs files into a tar (ustar) that depends only on them: sorted, without owners, with the time zero. */
export function packFiles(files: BundleFiles): Buffer {
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.concat([...sorted.flatMap(([name, bytes]) => tarBlocks(name, bytes)), TAR_END]);
}

/** Throws a `RangeError` for a folder of more than 154 bytes or a name of more than 99. */
export function tarBlocks(name: string, bytes: Buffer, folder = ''): readonly Buffer[] {
  return [header(name, bytes.length, folder), bytes, padding(bytes.length)];
}

/** What follows the last file of a tar. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK);

/**
 * Unpacks a bundle. `sound` is false if any byte of the tar differs from what `packFiles` would write, so
 * that nothing can hide between the files; what could be read before that is returned anyway. Never throws.
 */
export function unpackFiles(tar: Buffer): { readonly files: BundleFiles; readonly sound: boolean } {
  const files = new Map<string, Buffer>();
  let at = 0;
  let before = '';
  while (at + BLOCK <= tar.length && tar[at] !== 0 && files.size < MAX_FILES) {
    const head = tar.subarray(at, at + BLOCK);
    const name = head.toString('utf8', 0, head.indexOf(0));
    const size = Number.parseInt(head.toString('latin1', 124, 135), 8);
    const end = at + BLOCK + size;
    if (!(size >= 0) || end > tar.length || name <= before || !isHeader(head, name, size)) break;
    files.set(name, tar.subarray(at + BLOCK, end));
    if (!tar.subarray(end, end + padding(size).length).equals(padding(size))) break;
    at = end + padding(size).length;
    before = name;
  }
  return { files, sound: tar.subarray(at).equals(TAR_END) };
}

/** Whether a tar begins with a file in a folder, as that of an evidence pack does and none of a bundle. */
export function isOfFolder(tar: Buffer): boolean {
  return tar.toString('latin1', 257, 262) === 'ustar' && tar[PREFIX] !== 0;
}

function isHeader(head: Buffer, name: string, size: number): boolean {
  try {
    return head.equals(header(name, size));
  } catch {
    return false;
  }
}

function header(name: string, size: number, folder = ''): Buffer {
  if (Buffer.byteLength(name) > 99 || Buffer.byteLength(folder) > 154)
    throw new RangeError('the name of a file is too long for a tar');
  const block = Buffer.alloc(BLOCK);
  const field = (at: number, text: string) => void block.write(text, at);
  field(0, name);
  field(100, '0000644\0');
  field(108, '0000000\0');
  field(116, '0000000\0');
  field(124, `${size.toString(8).padStart(11, '0')}\0`);
  field(136, '00000000000\0');
  field(148, '        ');
  field(156, '0');
  field(257, 'ustar\x0000');
  field(PREFIX, folder);
  const sum = block.reduce((total, byte) => total + byte, 0);
  field(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

const ENTRIES = 'journal.jsonl';
/** Characters. Room for the proof of the longest run. */
const LONGEST_END = 16 * 1024 * 1024;

/** A run as printable ASCII lines: each entry's `leafText`, then a JSON object of the other files by name. */
export function packLines(files: BundleFiles): string {
  const others = [...files]
    .filter(([name]) => name !== ENTRIES)
    .map(([name, bytes]) => [name, String(bytes)]);
  return `${files.get(ENTRIES) ?? ''}${printableJson(Object.fromEntries(others))}\n`;
}

/** The files in such lines; undefined if the last one is missing or spelled differently. Never throws. */
export function unpackLines(text: Buffer): BundleFiles | undefined {
  const last = linesOf(text).at(-1) ?? '';
  if (last.length > LONGEST_END || text.at(-1) !== 0x0a) return undefined;
  try {
    const others: unknown = JSON.parse(last);
    if (printableJson(others) !== last || typeof others !== 'object' || others === null) return undefined;
    const files = Object.entries(others).map(([name, content]): [string, Buffer] => [
      name,
      Buffer.from(content),
    ]);
    return new Map([[ENTRIES, text.subarray(0, text.length - last.length - 1)], ...files]);
  } catch {
    return undefined;
  }
}
