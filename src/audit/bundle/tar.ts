import { buffer } from 'node:stream/consumers';
import { extract, type Pack, pack } from 'tar-stream';

/** A run has some dozens of signed heads and a ledger for each of its instances. */
const MOST_FILES = 10_000;

/** The files of a bundle by their names. */
export type BundleFiles = ReadonlyMap<string, Buffer>;

/** Packs files into a tar that depends on nothing but them: sorted, of nobody, from the beginning of time. */
export async function packFiles(files: BundleFiles): Promise<Buffer> {
  return buffer(packed(files));
}

/**
 * Unpacks a bundle. `sound` is false when a single byte of the tar is not as `packFiles` would make it, so that nothing hides between the
 * files; what could be read is given all the same.
 */
export async function unpackFiles(
  tar: Buffer,
): Promise<{ readonly files: BundleFiles; readonly sound: boolean }> {
  const files = new Map<string, Buffer>();
  const reader = extract();
  try {
    reader.end(tar);
    for await (const entry of reader) {
      const { name, type } = entry.header;
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk as Buffer);
      if (type !== 'file' || files.has(name) || files.size === MOST_FILES) return { files, sound: false };
      // Most are one piece of the tar: a copy would be the same memory once more.
      files.set(name, chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    }
  } catch {
    return { files, sound: false };
  }
  return { files, sound: await isMadeOf(tar, files).catch(() => false) };
}

/** Whether these files give this tar, byte for byte; compared piece by piece. */
async function isMadeOf(tar: Buffer, files: BundleFiles): Promise<boolean> {
  let at = 0;
  for await (const piece of packed(files)) {
    const bytes = piece as Buffer;
    if (!bytes.equals(tar.subarray(at, at + bytes.length))) return false;
    at += bytes.length;
  }
  return at === tar.length;
}

function packed(files: BundleFiles): Pack {
  const tar = pack();
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    tar.entry({ name, mode: 0o644, mtime: new Date(0) }, bytes);
  tar.finalize();
  return tar;
}
