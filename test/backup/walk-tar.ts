import { type TarEntry, TarWalker } from '../../src/backup/tar-walker.ts';

/**
 * Lists a tar as it streams by and returns the number of its entries. Reads the content to its end, so that
 * errors of the layers below appear too. Rejects with `backup.corrupt` or `backup.truncated`.
 */
export async function walkTar(
  content: AsyncIterable<Uint8Array>,
  onEntry?: (entry: TarEntry) => void,
): Promise<number> {
  const walker = new TarWalker(onEntry);
  for await (const chunk of content) walker.write(chunk);
  walker.end();
  return walker.entries;
}
