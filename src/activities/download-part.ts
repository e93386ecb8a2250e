import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { finished, PassThrough, type Readable } from 'node:stream';
import * as z from 'zod';
import { PROBE_BYTES } from '../backup/beginning.ts';
import { errorFrom, failureOf, LifeboatError, withMore } from '../base/errors.ts';
import { counted } from '../base/quantity.ts';
import { show } from '../base/text.ts';
import type { Download } from '../service/client.ts';

const Note = z.object({
  of: z.string(),
  /** Certain to be on disk. Bytes. */
  size: z.number(),
  /** Of the whole file, if the service has said so. Bytes. */
  total: z.number().optional(),
  etag: z.string().optional(),
  marks: z.object({ etag: z.string().optional(), modified: z.string().optional() }).optional(),
  resumable: z.boolean(),
});

/** Stored beside a `.part` file, as `.part.json`. */
type Note = z.infer<typeof Note>;
export type Part = Omit<Note, 'of'>;

export const NO_PART: Part = { size: 0, resumable: false };

/** Cuts off what an earlier request wrote after its last note. */
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

/** The caller must have synced the part. */
export async function writeNote(part: string, note: Note): Promise<void> {
  await writeFile(noteOf(part), JSON.stringify(note), { mode: 0o600 });
}

export async function forgetPart(part: string, what: 'note' | 'all'): Promise<void> {
  await rm(noteOf(part), { force: true });
  if (what === 'all') await rm(part, { force: true });
}

/** Of the first `end` bytes, to be continued. */
export async function hashFile(path: string, end: number): Promise<Hash> {
  const hash = createHash('sha256');
  if (end === 0) return hash;
  for await (const chunk of createReadStream(path, { end: end - 1 })) hash.update(chunk as Buffer);
  return hash;
}

function noteOf(part: string): string {
  return `${part}.json`;
}

/** Gives up after this many requests in a row without data. */
export const FRUITLESS = 4;
/** After the first of them; doubles each time. */
export const FIRST_PAUSE_MS = 500;

/**
 * The data of a stream, then its failure. A failing stream drops unread data, so a service that always breaks
 * off soon would otherwise deliver nothing.
 */
export function holdOn(stream: Readable): AsyncIterable<Buffer> {
  const held = new PassThrough();
  let failure: Error | null | undefined;
  // Also reports a stream that has failed already.
  finished(stream, (error) => {
    failure = error;
    held.end();
  });
  stream.pipe(held);
  return (async function* () {
    yield* held as AsyncIterable<Buffer>;
    if (failure) throw failure;
  })();
}

/** A refusal does not pass by itself. */
export function isPassing(thrown: unknown): boolean {
  const passing = [
    'service.reset',
    'service.timeout',
    'service.unreachable',
    'service.error',
    'backup.truncated',
  ];
  return passing.includes(failureOf(thrown).code);
}

export function neverBegan(thrown: unknown, asked: number): LifeboatError {
  return withMore(errorFrom(failureOf(thrown)), {
    hints: [`it was asked for ${counted(asked, 'time')}, and never began`],
    evidence: { requests: asked },
  });
}

/** Of a failed attempt. */
export function requestsOf(thrown: unknown): number {
  const { requests } = failureOf(thrown).evidence;
  return typeof requests === 'number' ? requests : 1;
}

/** An answer ended before the announced length. */
export function short(bytes: number, total: number): LifeboatError {
  return new LifeboatError('backup.truncated', `the download ended after ${bytes} of ${total} bytes`, {
    hints: ['try again; a router may cut downloads that take longer than 15 minutes'],
    evidence: { bytes, total },
  });
}

/** Without a validator that guarantees the same bytes, everything known of both parts must agree. */
export function requireSame(
  before: Pick<Part, 'total' | 'etag' | 'marks'>,
  { total, marks }: Download,
): void {
  const pairs = [
    [before.total, total],
    ...(before.etag === undefined
      ? [
          [before.marks?.etag, marks.etag],
          [before.marks?.modified, marks.modified],
        ]
      : []),
  ];
  if (pairs.every(([one, other]) => one === undefined || other === undefined || one === other)) return;
  throw new LifeboatError('service.bad-answer', 'the backup of the service changed while it was downloaded', {
    hints: ['download the backup from its beginning'],
    evidence: { download: 'offset' },
  });
}

/** Enough bytes to try keys on. Rejects with `backup.no-file`; the caller provides the hints. */
export async function readHead(path: string, hints: readonly string[] = []): Promise<Uint8Array> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PROBE_BYTES), 0, PROBE_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new LifeboatError('backup.no-file', `the backup file ${show(path)} cannot be read`, {
      hints,
      cause,
    });
  }
}
