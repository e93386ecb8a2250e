import { buffer } from 'node:stream/consumers';
import { extract, pack } from 'tar-stream';

/** The files of a bundle by their names. */
export type BundleFiles = ReadonlyMap<string, Buffer>;

/** Packs files into a tar that depends on nothing but them: sorted, of nobody, from the beginning of time. */
export async function packFiles(files: BundleFiles): Promise<Buffer> {
  const tar = pack();
  const packed = buffer(tar);
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    tar.entry({ name, mode: 0o644, mtime: new Date(0) }, bytes);
  tar.finalize();
  return packed;
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
      const bytes = await buffer(entry);
      if (type === 'file' && !files.has(name)) files.set(name, bytes);
    }
  } catch {
    return { files, sound: false };
  }
  const again = await packFiles(files).catch(() => undefined);
  return { files, sound: again?.equals(tar) === true };
}
