import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { z } from 'zod';

const Note = z.object({
  of: z.string(),
  /** Bytes that are on disk for certain. */
  size: z.number(),
  /** Bytes of the whole file, when the service has said so. */
  total: z.number().optional(),
  etag: z.string().optional(),
  marks: z.object({ etag: z.string().optional(), modified: z.string().optional() }).optional(),
  resumable: z.boolean(),
});

/** What is known of a `.part` file. It stands beside it, as `.part.json`. */
export type Note = z.infer<typeof Note>;
export type Part = Omit<Note, 'of'>;

export const NO_PART: Part = { size: 0, resumable: false };

/** What an earlier request left that can be gone on with. What it wrote after its last note is cut off. */
export async function readPart(part: string, of: string): Promise<Part> {
  try {
    const note = Note.parse(JSON.parse(await readFile(noteOf(part), 'utf8')));
    if (note.of !== of || !note.resumable) return NO_PART;
    await truncate(part, note.size);
    return note;
  } catch {
    return NO_PART;
  }
}

/** Notes what is on disk: that it is there is up to whoever notes it. */
export async function writeNote(part: string, note: Note): Promise<void> {
  await writeFile(noteOf(part), JSON.stringify(note), { mode: 0o600 });
}

export async function forgetPart(part: string, what: 'note' | 'all'): Promise<void> {
  await rm(noteOf(part), { force: true });
  if (what === 'all') await rm(part, { force: true });
}

/** The SHA-256 of the first `end` bytes of a file, to be gone on with. */
export async function hashFile(path: string, end: number): Promise<Hash> {
  const hash = createHash('sha256');
  if (end === 0) return hash;
  for await (const chunk of createReadStream(path, { end: end - 1 })) hash.update(chunk as Buffer);
  return hash;
}

/** A rename is durable only when its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function noteOf(part: string): string {
  return `${part}.json`;
}
