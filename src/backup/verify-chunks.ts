import { createHash } from 'node:crypto';
import type { VerifyOptions, VerifyProblem, VerifyReport } from './backup-file.ts';
import { CipherMeter } from './cipher-meter.ts';
import { ContentInspector } from './content-inspector.ts';
import { decrypt } from './decrypt.ts';
import { gunzip } from './gunzip.ts';
import { backupProblem, problemOf } from './problem.ts';

/** Verifies the chunks of a backup; `total` is for the progress only. See `verifyFile`. */
export async function verifyChunks(
  chunks: AsyncIterable<Uint8Array>,
  options: VerifyOptions,
  total: number | undefined,
): Promise<VerifyReport> {
  const meter = new CipherMeter(chunks, options, total);
  try {
    return await readAll(meter, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    const problem = problemOf(error);
    if (problem === undefined || !(error instanceof Error)) throw error;
    return await report(problem, error.message, meter, options.expectedBytes);
  } finally {
    await meter.close();
  }
}

async function readAll(meter: CipherMeter, options: VerifyOptions): Promise<VerifyReport> {
  const { profile, plain } = await decrypt(meter, options);
  const hash = createHash('sha256');
  const inspector = new ContentInspector();
  let contentBytes = 0;
  for await (const chunk of gunzip(plain)) {
    hash.update(chunk);
    inspector.write(chunk);
    contentBytes += chunk.length;
  }
  const { content, entries } = inspector.end();
  if (isShort(meter, options.expectedBytes)) throw backupProblem('truncated', 'the file is too short');
  return {
    ok: true,
    verdict: content === 'tar' ? 'readable' : 'intact',
    profile,
    content,
    entries,
    cipherBytes: meter.bytes,
    cipherSha256: meter.digest(),
    contentBytes,
    contentSha256: hash.digest('hex'),
  };
}

/** What the head alone decides: reading on would show nothing more. */
const OF_THE_HEAD: ReadonlySet<VerifyProblem> = new Set(['wrong-key', 'wrong-profile', 'not-a-backup']);

async function report(
  problem: VerifyProblem,
  message: string,
  meter: CipherMeter,
  expectedBytes: number | undefined,
): Promise<VerifyReport> {
  if (OF_THE_HEAD.has(problem) && meter.bytes > 0) {
    return {
      ok: false,
      problem,
      shortMessage: message,
      cipherBytes: meter.bytes,
      cipherSha256: undefined,
    };
  }
  await meter.drain();
  const found = { cipherBytes: meter.bytes, cipherSha256: meter.digest() };
  if (isShort(meter, expectedBytes)) {
    const shortMessage = `the file ends at byte ${meter.bytes} of ${expectedBytes}`;
    return { ok: false, problem: 'truncated', shortMessage, ...found };
  }
  return {
    ok: false,
    problem,
    shortMessage: explain(problem, message, meter),
    ...found,
  };
}

function isShort(meter: CipherMeter, expectedBytes: number | undefined): boolean {
  return expectedBytes !== undefined && meter.bytes < expectedBytes;
}

/** Adds what only the whole file shows. */
function explain(problem: VerifyProblem, message: string, meter: CipherMeter): string {
  if (problem === 'trailing-data' && meter.secondHeader !== undefined) {
    return `a second encrypted file begins at byte ${meter.secondHeader}`;
  }
  if (problem === 'truncated' && !message.startsWith('the file ends')) {
    return `the file ends at byte ${meter.bytes}: ${message}`;
  }
  return message;
}
