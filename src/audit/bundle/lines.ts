import { printableJson } from '../../base/text.ts';
import { linesOf } from './read-log.ts';
import type { BundleFiles } from './tar.ts';

const ENTRIES = 'journal.jsonl';
/** Characters. Room for the proof of the longest run. */
const LONGEST_END = 16 * 1024 * 1024;

/**
 * Packs the journal of a run into lines of printable ASCII: the entries, each as its leaf text
 * (store/leaf.ts), then one line with every other file of the bundle, as a JSON object of texts by name. So
 * it stands alone.
 */
export function packLines(files: BundleFiles): string {
  const others = [...files]
    .filter(([name]) => name !== ENTRIES)
    .map(([name, bytes]) => [name, String(bytes)]);
  return `${files.get(ENTRIES) ?? ''}${printableJson(Object.fromEntries(others))}\n`;
}

/**
 * The files in such lines; undefined where the last line is missing or has another spelling. Never throws.
 */
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
