import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode, errorFrom, FILE_TROUBLE, failureOf, LifeboatError, withMore } from '../base/errors.ts';
import { syncFolder } from '../base/folders.ts';
import { show } from '../base/text.ts';
import { makeFolderInside } from '../base/trusted-path.ts';
import type { Download } from '../service/client.ts';
import { type ActivityOf, ok, readVerb } from './activity.ts';
import { type Checked, checkDownload, mostBytes, tooLong } from './check-download.ts';
import type { ActivityDeps } from './deps.ts';
import {
  FIRST_PAUSE_MS,
  FRUITLESS,
  forgetPart,
  hashFile,
  holdOn,
  isPassing,
  NO_PART,
  neverBegan,
  type Part,
  readHead,
  readPart,
  requestsOf,
  requireSame,
  short,
  writeNote,
} from './download-part.ts';
import { requireRoom } from './free-space.ts';
import { watchProgress } from './watchdog.ts';

const STILL = { seconds: 60, basis: 'default', detail: 'no data has arrived since then' } as const;

/**
 * Encrypted, into the instance's folder. It gets its final name only when complete and on disk; before that
 * it is a `.part` file, which is continued after a crash if the service offers ranges. A file that is not a
 * backup, or ends inside a block of the cipher, fails; another size than listed is only a verdict, because
 * only reading proves a backup.
 */
export function downloadBackup(deps: ActivityDeps): ActivityOf<'downloadBackup'> {
  return readVerb(async ({ id, size, purpose }, context) => {
    const { signal, now, runId, instance } = context;
    const watched = watchProgress(context, STILL);
    const path = join(deps.folder, `backup-${id}-${purpose}-${runId}.tgz.enc`);
    const since = now().getTime();
    try {
      makeFolderInside(dirname(deps.folder), deps.folder);
      const { bytes, sha256, checked } = await saveDownload({
        path,
        of: `${instance} ${id}`,
        listed: size,
        open: (from) => deps.service.download(id, { ...from, signal }),
        report: (done, { total, length }) =>
          watched.report({ kind: 'bytes', done, total: total ?? length ?? size, what: `backup ${id}` }),
        signal,
      });
      const { verdict, listed } = checked;
      const seconds = (now().getTime() - since) / 1000;
      return ok({ path, bytes, sha256, seconds, verdict, ...(listed === undefined ? {} : { listed }) });
    } finally {
      watched.stop();
    }
  });
}

export interface SaveOptions {
  /** Exists only when complete and on disk; before that it is `PATH.part`, with a note beside it. */
  readonly path: string;
  /** Identifies the content: a `.part` file of other content is not continued. */
  readonly of: string;
  /** Bytes; undefined if the service lists none. */
  readonly listed: number | undefined;
  /** Keeps a finished download here if it is no whole backup: a person may need it. Default: deleted. */
  readonly aside?: string;
  open(from: { readonly offset: number; readonly ifRange?: string }): Promise<Download>;
  /** At the beginning of each request and after each chunk. Bytes of the whole file. */
  readonly report: (done: number, download: Download) => void;
  readonly signal: AbortSignal;
  /** After the first request without data; doubles each time. Default 500 ms. */
  readonly firstPauseMs?: number;
  /** Without ranges, a request that broke off sooner than this is repeated. Default two minutes. */
  readonly anewWithinMs?: number;
}

export interface Saved {
  readonly bytes: number;
  /** Of the whole file, lower-case hex. */
  readonly sha256: string;
  readonly requests: number;
  readonly checked: Checked;
}

/** A later cut is due to the length of the download, and would happen again. */
const ANEW_WITHIN_MS = 120_000;
/** Bytes between two syncs: a power cut loses no more. */
const SYNC_EVERY = 32 * 1024 * 1024;

/** After these, the received bytes are useless for the next request. */
const IN_VAIN: readonly string[] = [
  'backup.empty',
  'backup.misshapen',
  'backup.not-a-backup',
  'backup.too-long',
];

/**
 * If the service offers ranges, it continues after a request that broke off (the platform's router ends them
 * after 15 minutes, service-api.md section 8), and after a process that died, from the last byte known to be
 * on disk. Without ranges, or if they are promised and then refused, a download that broke off soon is
 * restarted a few times; after that, and at once if it broke off late, it rejects with `backup.cut` or
 * `backup.truncated` and leaves nothing behind. Rejects with `download.write` for a file that cannot be
 * written, and with `disk.full` for one that does not fit; what has arrived is kept. A finished download gets
 * its name only if `checkDownload` accepts it. Without an announced length it stops at `mostBytes`.
 */
export async function saveDownload(options: SaveOptions): Promise<Saved> {
  const part = `${options.path}.part`;
  const folder = dirname(options.path);
  /** Only for this file: an earlier process may have left another one. */
  let refusesOffsets = false;
  let asked = 0;
  for (let requests = 1, fruitless = 0; ; requests += 1) {
    const before = await readPart(part, options.of);
    const began = Date.now();
    let hasEnded = false;
    let hasBegun = false;
    const open: SaveOptions['open'] = async (from) => {
      const download = await options.open(from);
      hasBegun = true;
      return download;
    };
    try {
      if (requests === 1) await requireRoom(folder, Math.max(0, (options.listed ?? 0) - before.size));
      const isThere = before.size > 0 && before.size === before.total;
      const { hash, ...arrived } = isThere
        ? {
            hash: await hashFile(part, before.size),
            bytes: before.size,
            announced: before.total,
            framed: true,
          }
        : await fetchOnce({ ...options, open }, part, before);
      hasEnded = true;
      const head = await readHead(part);
      const checked = checkDownload({ ...arrived, head, listed: options.listed });
      await rename(part, options.path);
      await forgetPart(part, 'note');
      syncFolder(folder);
      return { bytes: arrived.bytes, sha256: hash.digest('hex'), requests, checked };
    } catch (thrown) {
      const error = writeError(thrown, options.path) ?? thrown;
      const { code, evidence } = failureOf(error);
      asked += requestsOf(error);
      const giveUp = async (): Promise<unknown> => {
        const kept = hasEnded && code !== 'backup.empty' ? options.aside : undefined;
        if (kept !== undefined) await rename(part, kept);
        await forgetPart(part, 'all');
        return kept === undefined ? error : keptAside(error, kept);
      };
      if (before.size > 0 && evidence['download'] === 'offset') {
        refusesOffsets = requests > 1;
        await forgetPart(part, 'all');
        continue;
      }
      if (IN_VAIN.includes(code)) throw await giveUp();
      // A download that cannot be continued must not keep a full disk full.
      if (code === 'disk.full' && !(await readPart(part, options.of)).resumable) throw await giveUp();
      if (options.signal.aborted || !isPassing(error)) throw error;
      const after = refusesOffsets ? NO_PART : await readPart(part, options.of);
      fruitless = after.size > before.size ? 0 : fruitless + 1;
      if (!after.resumable) {
        const wasSoon = Date.now() - began < (options.anewWithinMs ?? ANEW_WITHIN_MS);
        if (!wasSoon || fruitless >= FRUITLESS) {
          const last = await giveUp();
          // An error status did not break anything off.
          if (!hasBegun) throw neverBegan(last, asked);
          throw code === 'backup.truncated' ? last : cut(last);
        }
        await forgetPart(part, 'all');
      }
      if (fruitless >= FRUITLESS) throw error;
      await pause((options.firstPauseMs ?? FIRST_PAUSE_MS) * 2 ** fruitless, undefined, {
        signal: options.signal,
      });
    }
  }
}

/** To its end. What arrived is on disk and noted when it rejects. */
async function fetchOnce(options: SaveOptions, part: string, before: Part) {
  // Before the request: a service that waits for a reader may give up.
  const known = await hashFile(part, before.size);
  const download = await options.open({
    offset: before.size,
    ...(before.etag === undefined ? {} : { ifRange: before.etag }),
  });
  const { stream, offset, etag, acceptsRanges, framed, marks } = download;
  const chunks = holdOn(stream);
  const hash = offset === 0 ? createHash('sha256') : known;
  let file: FileHandle | undefined;
  try {
    if (offset > 0) requireSame(before, download);
    const total = download.total ?? (offset > 0 ? before.total : download.length);
    if (total !== undefined) await requireRoom(dirname(part), total - offset);
    file = await open(part, offset === 0 ? 'w' : 'r+', 0o600);
    const handle = file;
    const keep = async (size: number) => {
      await handle.datasync();
      await writeNote(part, { of: options.of, size, total, etag, marks, resumable: acceptsRanges });
    };
    options.report(offset, download);
    const most = total ?? mostBytes(options.listed);
    const bytes = await append(handle, { download, chunks }, hash, { ...options, keep, most });
    if (total !== undefined && bytes < total) throw short(bytes, total);
    return { bytes, hash, announced: total, framed };
  } finally {
    stream.destroy();
    await file?.close();
  }
}

interface Appending extends Pick<SaveOptions, 'report' | 'listed' | 'path'> {
  readonly keep: (size: number) => Promise<void>;
  readonly most: number;
}

/** Returns the length of the whole file. */
async function append(
  file: FileHandle,
  { download, chunks }: { readonly download: Download; readonly chunks: AsyncIterable<Buffer> },
  hash: Hash,
  { report, listed, path, keep, most }: Appending,
): Promise<number> {
  let at = download.offset;
  let kept = at;
  try {
    for await (const chunk of chunks) {
      if (at + chunk.length > most) throw tooLong(listed, most);
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
      await requireRoom(dirname(path), 0);
    }
  } finally {
    await keep(at);
  }
  return at;
}

function cut(cause: unknown): LifeboatError {
  return new LifeboatError('backup.cut', 'the download broke off before its end', {
    hints: [
      'this service offers no way to go on from there: the next try starts from the beginning',
      'a router that ends requests after 15 minutes needs a longer time for a backup of this size',
    ],
    evidence: { why: failureOf(cause).shortMessage },
    cause,
  });
}

/** Adds where the bytes are, which are no backup as they are. */
function keptAside(thrown: unknown, path: string): LifeboatError {
  return withMore(errorFrom(failureOf(thrown)), {
    hints: [`what arrived is kept as ${show(path, 4_096)}: do not take it for a backup`],
    evidence: { kept: path },
  });
}

/** Undefined if the error is not about writing the file. */
function writeError(thrown: unknown, path: string): LifeboatError | undefined {
  const code = errorCode(thrown) ?? '';
  const words = code === 'ENOENT' ? 'its folder does not exist' : FILE_TROUBLE[code];
  if (words === undefined) return undefined;
  return new LifeboatError('download.write', `${show(path)} cannot be written: ${words}`, {
    hints: ['what has arrived is kept beside it: make room and try again, or name another file'],
    cause: thrown,
  });
}
