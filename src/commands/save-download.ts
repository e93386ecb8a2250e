import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { failureOf, LifeboatError } from '../errors.ts';
import type { Download } from '../service/client.ts';

/** Where a download goes and how it is opened. */
export interface SaveOptions {
  /** Stands there only when it is complete and on disk; before that it is `PATH.part`. */
  readonly path: string;
  /** What the bytes are of: a `.part` file of anything else is not gone on with. */
  readonly of: string;
  open(from: { readonly offset: number; readonly ifRange?: string }): Promise<Download>;
  /** Told at the beginning of each request and after each chunk. Bytes of the whole file. */
  readonly report: (done: number, download: Download) => void;
  readonly signal: AbortSignal;
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

/**
 * Saves a download. Where the service offers ranges, it goes on by itself after a request that broke off (the platform's router ends
 * them after 15 minutes, service-api.md section 8), and after a process that died: the `.part` file and a note beside it stay.
 * Without ranges a broken download rejects with `download.cut` and begins anew the next time.
 */
export async function saveDownload(options: SaveOptions): Promise<Saved> {
  const part = `${options.path}.part`;
  const note = `${part}.json`;
  let requests = 0;
  for (let fruitless = 0; ; ) {
    const begun = await readPart(part, note, options.of);
    const before = begun.size;
    requests += 1;
    try {
      const done = await fetchOnce(options, part, note, begun);
      await rename(part, options.path);
      await rm(note, { force: true });
      await syncFolder(dirname(options.path));
      return { ...done, requests };
    } catch (thrown) {
      if (begun.size > 0 && failureOf(thrown).evidence['download'] === 'offset') {
        await rm(note, { force: true });
        continue;
      }
      if (options.signal.aborted || !isPassing(thrown)) throw thrown;
      const after = await readPart(part, note, options.of);
      if (after.etag === undefined && !after.resumable) throw cut(after.size, thrown);
      fruitless = after.size > before ? 0 : fruitless + 1;
      if (fruitless >= FRUITLESS) throw thrown;
      await pause(FIRST_PAUSE_MS * 2 ** fruitless, undefined, { signal: options.signal });
    }
  }
}

interface Begun {
  readonly size: number;
  /** Bytes of the whole file, when the service has said so. */
  readonly total: number | undefined;
  readonly etag: string | undefined;
  readonly resumable: boolean;
}

const Note = z.object({
  of: z.string(),
  etag: z.string().optional(),
  total: z.number().optional(),
  resumable: z.boolean(),
});

const NOTHING: Begun = { size: 0, total: undefined, etag: undefined, resumable: false };

/** What an earlier request left that can be gone on with. */
async function readPart(part: string, note: string, of: string): Promise<Begun> {
  try {
    const { data } = Note.safeParse(JSON.parse(await readFile(note, 'utf8')));
    const { size } = await stat(part);
    if (data === undefined || data.of !== of || !data.resumable) return NOTHING;
    return { size, total: data.total, etag: data.etag, resumable: true };
  } catch {
    return NOTHING;
  }
}

/** One request, or none for a file that lacks only its name. */
async function fetchOnce(
  { open: request, of, report }: SaveOptions,
  part: string,
  note: string,
  begun: Begun,
): Promise<Omit<Saved, 'requests'>> {
  if (begun.size > 0 && begun.size === begun.total) return { bytes: begun.size, sha256: await hashOf(part) };
  const download = await request({
    offset: begun.size,
    ...(begun.etag === undefined ? {} : { ifRange: begun.etag }),
  });
  const { stream, offset, etag, acceptsRanges } = download;
  const file = await open(part, offset === 0 ? 'w' : 'r+', 0o600);
  try {
    const total = download.total ?? (download.length === undefined ? undefined : offset + download.length);
    await writeFile(note, JSON.stringify({ of, etag, total, resumable: acceptsRanges }), { mode: 0o600 });
    const hash = createHash('sha256');
    if (offset > 0) await hashStart(part, offset, hash);
    report(offset, download);
    const bytes = await append(file, stream, offset, hash, (done) => report(done, download));
    await file.truncate(bytes);
    await file.sync();
    if (total !== undefined && bytes < total) throw short(bytes, total);
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    stream.destroy();
    await file.close();
  }
}

async function append(
  file: FileHandle,
  stream: AsyncIterable<Buffer>,
  offset: number,
  hash: Hash,
  onBytes: (done: number) => void,
): Promise<number> {
  let at = offset;
  for await (const chunk of stream) {
    let written = 0;
    while (written < chunk.length) {
      written += (await file.write(chunk, written, chunk.length - written, at + written)).bytesWritten;
    }
    hash.update(chunk);
    at += chunk.length;
    onBytes(at);
  }
  return at;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await hashStart(path, Infinity, hash);
  return hash.digest('hex');
}

async function hashStart(path: string, end: number, hash: Hash): Promise<void> {
  await pipeline(createReadStream(path, { end: end - 1 }), async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) hash.update(chunk);
  });
}

/** What may pass by itself; a refusal does not. */
function isPassing(thrown: unknown): boolean {
  const { code } = failureOf(thrown);
  return [
    'service.reset',
    'service.timeout',
    'service.unreachable',
    'service.error',
    'download.short',
  ].includes(code);
}

function short(bytes: number, total: number): LifeboatError {
  return new LifeboatError('download.short', `the download ended after ${bytes} of ${total} bytes`, {
    hints: ['try again: nothing was changed'],
    evidence: { bytes, total },
  });
}

function cut(bytes: number, cause: unknown): LifeboatError {
  return new LifeboatError('download.cut', `the download broke off after ${bytes} bytes`, {
    hints: [
      'this service offers no way to go on from there: the next try begins anew',
      'a router that ends requests after 15 minutes needs a longer time for a backup of this size',
    ],
    evidence: { why: failureOf(cause).shortMessage },
    cause,
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
