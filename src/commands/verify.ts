import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { VerifyOptions, VerifyReport } from '../backup/backup-file.ts';
import type { Candidate } from '../backup/probe.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { counted, formatBytes, formatSeconds, secondsOf } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import type { Action } from '../cli/define.ts';
import { printResult, type ResultOf } from '../cli/print-result.ts';
import { readSecretFile } from '../cli/read-given-file.ts';
import { openKeys } from '../compose/workspace.ts';
import { instanceNamed, loadConfig } from '../config/load.ts';
import { heldKeys } from '../keys/keyring.ts';

/** `lifeboat verify FILE`: finds a backup's key and reads it to its last byte. Exit 0 only for a good one. */
export const verify: Action<{ readonly instance?: string; readonly keyFile?: string }> = async (
  context,
  [file = ''],
  flags,
) => {
  const candidates = await keysFor(context, flags);
  const { probeKeys } = await import('../backup/probe.ts');
  const { head, verifyWith } = file === '-' ? await fromStdin(context) : await fromFile(file);
  const found = probeKeys(head, candidates);
  if (found.result === 'not-a-backup') {
    return tell(context, { ok: false, problem: 'not-a-backup', looksLike: found.looksLike }, [
      found.looksLike === 'gzip'
        ? 'not encrypted: there is no "Salted__" header; it begins as a gzip file, which anyone can read'
        : `not a backup: there is no "Salted__" header; it looks like: ${found.looksLike}`,
    ]);
  }
  const opener = candidates.find(
    ({ fingerprint }) => found.result === 'fits' && fingerprint === found.fingerprint,
  );
  if (opener === undefined || found.result !== 'fits') {
    const tried = candidates.map(({ fingerprint }) => fingerprint);
    const { nearMiss } = await import('../backup/probe.ts');
    const near = nearMiss(head, candidates);
    return tell(context, { ok: false, problem: 'wrong-key', tried, ...(near && { message: near }) }, [
      `wrong key: none of ${tried.length} opens it${tried.length === 0 ? '' : ` (${tried.join(', ')})`}`,
      ...(near === undefined ? [] : [`but ${near}: ${AS_IT_WAS_SET}`]),
    ]);
  }
  const began = performance.now();
  const report = await verifyWith({ key: opener.key, onProgress: progressOn(context) });
  const took = secondsOf(performance.now() - began);
  if (!report.ok) {
    const { shortMessage: message, ...rest } = report;
    return tell(context, { ...rest, message, key: opener.fingerprint }, [
      `${report.problem}: ${show(message)}`,
    ]);
  }
  const inside =
    report.entries === undefined
      ? report.content
      : `${report.content}, ${counted(report.entries, 'entry', 'entries')}`;
  return tell(context, { ...report, key: opener.fingerprint, seconds: took }, [
    `${report.verdict}: opened with key ${opener.fingerprint} (${report.profile}) ` +
      `and read to its last byte in ${formatSeconds(took)}`,
    `content: ${formatBytes(report.contentBytes)} (${inside}), sha256 ${report.contentSha256}`,
    `file: ${formatBytes(report.cipherBytes)}, sha256 ${report.cipherSha256}`,
  ]);
};

/** What to do about a key with a line end. */
const AS_IT_WAS_SET =
  'decrypt it with openssl and the file that the key was set from, then set a key without';

/** A backup to verify: enough of it to try keys on, and a way to read all of it. */
interface Source {
  readonly head: Uint8Array;
  readonly verifyWith: (options: VerifyOptions) => Promise<VerifyReport>;
}

async function fromFile(path: string): Promise<Source> {
  const { readHead } = await import('../activities/download-part.ts');
  const { verifyFile } = await import('../backup/verify-file.ts');
  await access(path, constants.R_OK).catch((cause: unknown) => {
    throw new LifeboatError('input.file', `${path} cannot be read`, { cause, exitCode: EXIT.usage });
  });
  return { head: await readHead(path), verifyWith: (options) => verifyFile(path, options) };
}

/** Reads the head ahead, because a pipe cannot be read twice. */
async function fromStdin({ stdin }: CommandContext): Promise<Source> {
  const { verifyStream } = await import('../backup/verify-file.ts');
  const { PROBE_BYTES } = await import('../backup/beginning.ts');
  const chunks = stdin[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let head: Buffer = Buffer.alloc(0);
  while (head.length < PROBE_BYTES) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  const whole = async function* () {
    yield head;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  };
  return { head, verifyWith: (options) => verifyStream(Readable.from(whole()), options) };
}

async function keysFor(
  context: CommandContext,
  { instance, keyFile }: { readonly instance?: string; readonly keyFile?: string },
): Promise<Candidate[]> {
  if (keyFile !== undefined) return [{ fingerprint: 'given', key: await readSecretFile(keyFile, context) }];
  if (instance === undefined) {
    throw new LifeboatError('usage.key', 'which key? name one to try', {
      hints: [
        '--instance NAME tries the keys held for an instance',
        '--key-file FILE tries the key in a file',
      ],
      exitCode: EXIT.usage,
    });
  }
  instanceNamed(await loadConfig(context.env, context.configPath), instance);
  return heldKeys(await openKeys(context, 'look'), instance);
}

/** A line that overwrites itself on a terminal; nothing in a pipe. */
function progressOn({ stderr }: CommandContext) {
  let shown = 0;
  return (done: number, total: number | undefined) => {
    const now = performance.now();
    if (stderr.isTTY !== true || (now - shown < 100 && done !== total)) return;
    shown = now;
    const end = done === total ? '\r\u001b[K' : '';
    stderr.write(
      `\r\u001b[K${formatBytes(done)}${total === undefined ? '' : ` of ${formatBytes(total)}`}${end}`,
    );
  };
}

async function tell(
  context: CommandContext,
  facts: ResultOf<'verify'>,
  lines: readonly string[],
): Promise<number> {
  await printResult(context, 'verify', facts, () => {
    context.stdout.write(`${lines.join('\n')}\n`);
  });
  return facts.ok ? EXIT.closed : EXIT.failed;
}
