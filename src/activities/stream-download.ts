import { createHash, type Hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PROBE_BYTES } from '../backup/beginning.ts';
import { errorFrom, failureOf, LifeboatError, withMore } from '../base/errors.ts';
import { formatBytes } from '../base/format.ts';
import type { Download } from '../service/client.ts';
import { checkDownload, mostBytes, tooLong } from './check-download.ts';
import type { Saved, SaveOptions } from './download-backup.ts';
import {
  FIRST_PAUSE_MS,
  FRUITLESS,
  holdOn,
  isPassing,
  neverBegan,
  requestsOf,
  requireSame,
  short,
} from './download-part.ts';

interface StreamOptions extends Pick<SaveOptions, 'open' | 'listed' | 'report' | 'signal' | 'firstPauseMs'> {
  readonly to: NodeJS.WritableStream;
}

/**
 * Writes the first byte only after the answer begins like a backup. Continues after a request that broke off
 * only under a strong ETag, because written bytes cannot be taken back. Rejects, saying that the output is
 * not whole, if it breaks off for good, if the reader goes away, and with the errors of `checkDownload`.
 */
export async function streamDownload(options: StreamOptions): Promise<Saved> {
  const { listed, signal, firstPauseMs = FIRST_PAUSE_MS } = options;
  const so: SoFar = { hash: createHash('sha256'), head: Buffer.alloc(0), bytes: 0, first: undefined };
  let requests = 1;
  let asked = 0;
  try {
    for (let fruitless = 0; ; requests += 1) {
      const before = so.bytes;
      try {
        await writeOnce(options, so);
        break;
      } catch (thrown) {
        asked += requestsOf(thrown);
        fruitless = so.bytes > before ? 0 : fruitless + 1;
        const { acceptsRanges, etag } = so.first ?? {};
        const goesOn = so.bytes === 0 || (acceptsRanges === true && etag !== undefined);
        if (signal.aborted || !goesOn || !isPassing(thrown) || fruitless >= FRUITLESS) throw thrown;
        await pause(firstPauseMs * 2 ** fruitless, undefined, { signal });
      }
    }
    const { head, bytes, first, hash } = so;
    const checked = checkDownload({
      head,
      bytes,
      listed,
      announced: first?.total,
      framed: first?.framed ?? false,
    });
    return { bytes, sha256: hash.digest('hex'), requests, checked };
  } catch (thrown) {
    if (so.bytes > 0) throw notWhole(thrown, so.bytes);
    throw so.first === undefined && isPassing(thrown) ? neverBegan(thrown, asked) : thrown;
  }
}

/** Over all requests. */
interface SoFar {
  readonly hash: Hash;
  head: Buffer;
  bytes: number;
  /** The answer with the first byte. */
  first: Download | undefined;
}

async function writeOnce({ open, listed, report, to }: StreamOptions, so: SoFar): Promise<void> {
  const { first, bytes: from } = so;
  const ifRange = from === 0 ? undefined : first?.etag;
  const download = await open({ offset: from, ...(ifRange === undefined ? {} : { ifRange }) });
  const chunks = holdOn(download.stream);
  try {
    if (download.offset !== from) throw changed();
    if (from > 0 && first !== undefined) requireSame(first, download);
    if (from === 0) so.first = download;
    const total = download.total ?? so.first?.total;
    const most = total ?? mostBytes(listed);
    report(from, download);
    for await (const chunk of chunks) {
      if (so.bytes + chunk.length > most) throw tooLong(listed, most);
      await write(to, chunk);
      so.hash.update(chunk);
      if (so.head.length < PROBE_BYTES) so.head = Buffer.concat([so.head, chunk.subarray(0, PROBE_BYTES)]);
      so.bytes += chunk.length;
      report(so.bytes, download);
    }
    if (total !== undefined && so.bytes < total) throw short(so.bytes, total);
  } finally {
    download.stream.destroy();
  }
}

/** Waits until the stream has room again. Rejects with its error. */
async function write(to: NodeJS.WritableStream, chunk: Buffer): Promise<void> {
  const written = new Promise<void>((resolve, reject) =>
    to.write(chunk, (error) => (error ? reject(error) : resolve())),
  );
  await written.catch((cause: unknown) => {
    throw new LifeboatError('download.write', 'standard output takes no more', {
      hints: ['its reader has ended, or its disk is full'],
      cause,
    });
  });
}

function changed(): LifeboatError {
  return new LifeboatError('backup.cut', 'the service does not go on from where the download broke off', {
    hints: ['a download into a file can begin again: --out FILE'],
  });
}

/** Written bytes cannot be taken back, so their reader must be warned. */
function notWhole(thrown: unknown, bytes: number): LifeboatError {
  return withMore(errorFrom(failureOf(thrown)), {
    hints: [`standard output got ${formatBytes(bytes)} that are not a whole backup: do not use them`],
    evidence: { bytes },
  });
}
