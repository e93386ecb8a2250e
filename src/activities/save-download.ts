import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finished, PassThrough, type Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { errorCode, FILE_TROUBLE, failureOf, LifeboatError } from '../errors.ts';
import type { Download } from '../service/client.ts';
import { show } from '../text.ts';

/** Where a download goes and how it is opened. */
export interface SaveOptions {
  /** Stands there only when it is complete and on disk; before that it is `PATH.part`, with a note beside it. */
  readonly path: string;
  /** What the bytes are of: a `.part` file of anything else is not gone on with. */
  readonly of: string;
  open(from: { readonly offset: number; readonly ifRange?: string }): Promise<Download>;
  /** Told at the beginning of each request and after each chunk. Bytes of the whole file. */
  readonly report: (done: number, download: Download) => void;
  readonly signal: AbortSignal;
  /** Pause after the first request that brought nothing; doubles each time. Default 500 ms. */
  readonly firstPauseMs?: number;
  /** Where there are no ranges, a request that broke off sooner than this is made anew. Default two minutes. */
  readonly anewWithinMs?: number;
}

export interface Saved {
  readonly bytes: number;
  /** SHA-256 of the whole file, lower-case hex. */
  readonly sha256: string;
  /** Requests that it took. */
  readonly requests: number;
}

/** Requests in a row that bring nothing, until it is given up. */
const FRUITLESS = 4;
const FIRST_PAUSE_MS = 500;
/** What broke off later than this was cut by its length, and would be cut again. */
const ANEW_WITHIN_MS = 120_000;
/** So often what has arrived is put on disk: a machine that loses its power loses no more than this of it. Bytes. */
const SYNC_EVERY = 32 * 1024 * 1024;

/**
 * Saves a download. Where the service offers ranges, it goes on by itself after a request that broke off (the platform's router ends
 * them after 15 minutes, service-api.md section 8), and after a process that died, from the last byte that is known to be on disk.
 * Without ranges, or where they are promised and then refused, a download that broke off soon is begun anew, a few times; after that,
 * and at once when it broke off late, it rejects with `backup.cut` or `backup.truncated` and leaves nothing behind. A file that cannot be
 * written rejects with `download.write`, and what has arrived is kept.
 */
export async function saveDownload(options: SaveOptions): Promise<Saved> {
  const part = `${options.path}.part`;
  /** Of the file as it is now: what an earlier process left may be of another. */
  let refusesOffsets = false;
  for (let requests = 1, fruitless = 0; ; requests += 1) {
    const before = await readPart(part, options.of);
    const began = Date.now();
    try {
      const file = before.size > 0 && before.size === before.total;
      const done = file ? await readWhole(part, before.size) : await fetchOnce(options, part, before);
      await rename(part, options.path);
      await forget(part, 'note');
      await syncFolder(dirname(options.path));
      return { ...done, requests };
    } catch (thrown) {
      const error = writeError(thrown, options.path) ?? thrown;
      if (before.size > 0 && failureOf(error).evidence['download'] === 'offset') {
        refusesOffsets = requests > 1;
        await forget(part, 'all');
        continue;
      }
      if (failureOf(error).code === 'backup.empty') await forget(part, 'all');
      if (options.signal.aborted || !isPassing(error)) throw error;
      const after = refusesOffsets ? NOTHING : await readPart(part, options.of);
      fruitless = after.size > before.size ? 0 : fruitless + 1;
      if (!after.resumable) {
        await forget(part, 'all');
        const wasSoon = Date.now() - began < (options.anewWithinMs ?? ANEW_WITHIN_MS);
        if (!wasSoon || fruitless >= FRUITLESS)
          throw failureOf(error).code === 'backup.truncated' ? error : cut(error);
      }
      if (fruitless >= FRUITLESS) throw error;
      await pause((options.firstPauseMs ?? FIRST_PAUSE_MS) * 2 ** fruitless, undefined, {
        signal: options.signal,
      });
    }
  }
}

const Note = z.object({
  of: z.string(),
  /** Bytes that are on disk for certain. */
  size: z.number(),
  /** Bytes of the whole file, when the service has said so. */
  total: z.number().optional(),
  etag: z.string().optional(),
  resumable: z.boolean(),
});
type Note = z.infer<typeof Note>;

/** What an earlier request left that can be gone on with. */
async function readPart(part: string, of: string): Promise<Omit<Note, 'of'>> {
  try {
    const note = Note.parse(JSON.parse(await readFile(noteOf(part), 'utf8')));
    if (note.of !== of || !note.resumable) return NOTHING;
    await truncate(part, note.size);
    return note;
  } catch {
    return NOTHING;
  }
}

const NOTHING: Omit<Note, 'of'> = { size: 0, resumable: false };

/** One request, to its end. What has arrived is on disk and noted when it rejects. */
async function fetchOnce(
  { open: request, of, report }: SaveOptions,
  part: string,
  before: Omit<Note, 'of'>,
): Promise<Omit<Saved, 'requests'>> {
  // Before the request: a service that waits for a reader may give up.
  const known = await hashFile(part, before.size);
  const download = await request({
    offset: before.size,
    ...(before.etag === undefined ? {} : { ifRange: before.etag }),
  });
  const { stream, offset, etag, acceptsRanges } = download;
  const chunks = holdOn(stream);
  const total = download.total ?? (download.length === undefined ? undefined : offset + download.length);
  const hash = offset === 0 ? createHash('sha256') : known;
  let file: FileHandle | undefined;
  try {
    file = await open(part, offset === 0 ? 'w' : 'r+', 0o600);
    const handle = file;
    const keep = async (size: number) => {
      await handle.datasync();
      const note: Note = { of, size, total, etag, resumable: acceptsRanges };
      await writeFile(noteOf(part), JSON.stringify(note), { mode: 0o600 });
    };
    report(offset, download);
    const bytes = await append(handle, { download, chunks }, hash, report, keep);
    if (total !== undefined && bytes < total) throw short(bytes, total);
    if (bytes === 0) throw empty();
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    stream.destroy();
    await file?.close();
  }
}

/** Writes the stream behind what is there; gives the length of the whole. */
async function append(
  file: FileHandle,
  { download, chunks }: { readonly download: Download; readonly chunks: AsyncIterable<Buffer> },
  hash: Hash,
  report: SaveOptions['report'],
  keep: (size: number) => Promise<void>,
): Promise<number> {
  let at = download.offset;
  let kept = at;
  try {
    for await (const chunk of chunks) {
      let written = 0;
      while (written < chunk.length) {
        written += (await file.write(chunk, written, chunk.length - written, at + written)).bytesWritten;
      }
      hash.update(chunk);
      at += chunk.length;
      report(at, download);
      if (at - kept < SYNC_EVERY) continue;
      await keep(at);
      kept = at;
    }
  } finally {
    await keep(at);
  }
  return at;
}

async function readWhole(path: string, bytes: number): Promise<Omit<Saved, 'requests'>> {
  const hash = await hashFile(path, bytes);
  return { bytes, sha256: hash.digest('hex') };
}

async function hashFile(path: string, end: number): Promise<Hash> {
  const hash = createHash('sha256');
  if (end === 0) return hash;
  for await (const chunk of createReadStream(path, { end: end - 1 })) hash.update(chunk as Buffer);
  return hash;
}

function noteOf(part: string): string {
  return `${part}.json`;
}

async function forget(part: string, what: 'note' | 'all'): Promise<void> {
  await rm(noteOf(part), { force: true });
  if (what === 'all') await rm(part, { force: true });
}

/**
 * What comes of a stream, and then its failure. A stream that fails by itself drops what nobody has read yet, so that a service that
 * always breaks off soon would bring nothing at all.
 */
function holdOn(stream: Readable): AsyncIterable<Buffer> {
  const held = new PassThrough();
  let failure: Error | null | undefined;
  // Also tells of a stream that has failed already.
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

/** What may pass by itself; a refusal does not. */
function isPassing(thrown: unknown): boolean {
  const passing = [
    'service.reset',
    'service.timeout',
    'service.unreachable',
    'service.error',
    'backup.truncated',
  ];
  return passing.includes(failureOf(thrown).code);
}

function short(bytes: number, total: number): LifeboatError {
  return new LifeboatError('backup.truncated', `the download ended after ${bytes} of ${total} bytes`, {
    hints: ['try again; a router may cut downloads that take longer than 15 minutes'],
    evidence: { bytes, total },
  });
}

/** An encrypted backup has at least a header and one block. */
function empty(): LifeboatError {
  return new LifeboatError('backup.empty', 'the service sends an empty file instead of the backup', {
    hints: [
      'look at its size and status with `lifeboat backups get`',
      'try again, or ask whoever runs the service',
    ],
  });
}

function cut(cause: unknown): LifeboatError {
  return new LifeboatError('backup.cut', 'the download broke off before its end', {
    hints: [
      'this service offers no way to go on from there: the next try begins anew',
      'a router that ends requests after 15 minutes needs a longer time for a backup of this size',
    ],
    evidence: { why: failureOf(cause).shortMessage },
    cause,
  });
}

/** The words for a file that cannot be written; undefined for any other error. */
function writeError(thrown: unknown, path: string): LifeboatError | undefined {
  const code = errorCode(thrown) ?? '';
  const words = code === 'ENOENT' ? 'its folder is not there' : FILE_TROUBLE[code];
  if (words === undefined) return undefined;
  return new LifeboatError('download.write', `${show(path)} cannot be written: ${words}`, {
    hints: ['what has arrived is kept beside it: make room and try again, or name another file'],
    cause: thrown,
  });
}

/** A rename is durable only when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
