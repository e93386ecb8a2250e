import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { notOffered } from '../../../machines/parts/verb-words.ts';
import { checkedWords, warningsOf } from '../../activities/check-download.ts';
import type { Saved } from '../../activities/download-backup.ts';
import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import { formatBytes, formatSeconds, formatSpan, secondsOf } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Action } from '../../cli/define.ts';
import { idFrom } from '../../cli/numbers.ts';
import { isForPeople, printResult } from '../../cli/print-result.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import type { OpenInstance } from '../../compose/service-of.ts';
import type { Download, DownloadOptions } from '../../service/client.ts';
import { type InstanceFlags, onInstance } from './on-instance.ts';
import { progressLine } from './progress-line.ts';

interface DownloadFlags extends InstanceFlags {
  readonly out?: string;
  readonly force?: boolean;
}

/**
 * `lifeboat backups download ID`: saves a backup's encrypted bytes (section 4.3), or writes them to stdout.
 */
export const backupsDownload: Action<DownloadFlags> = async (context, [given = ''], flags) => {
  const id = idFrom(given, 'the id of a backup');
  const stop = stopSignal(context.leaving);
  try {
    return await onInstance(context, flags, (instance) => save(context, instance, id, flags, stop.signal));
  } catch (thrown) {
    if (!stop.signal.aborted) throw thrown;
    const [words, hint] =
      flags.out === '-'
        ? ['interrupted; standard output received only a part of the backup', 'do not use it']
        : [
            'interrupted; what has arrived is kept beside the file',
            'the same command goes on from there, if the service lets it',
          ];
    throw new LifeboatError('download.left', words, {
      hints: [hint],
      exitCode: EXIT.interrupted,
      cause: thrown,
    });
  } finally {
    stop.release();
  }
};

async function save(
  context: CommandContext,
  instance: OpenInstance,
  id: number,
  flags: DownloadFlags,
  signal: AbortSignal,
): Promise<number> {
  const toStdout = flags.out === '-';
  const path = resolve(flags.out ?? `${instance.name}-backup-${id}.tgz.enc`);
  await (toStdout ? assertStdoutUsable(context) : assertTargetFree(path, flags.force ?? false));
  const { saveDownload } = await import('../../activities/download-backup.ts');
  const { streamDownload } = await import('../../activities/stream-download.ts');
  const listed = await lookFirst(context, instance, id, signal);
  const began = performance.now();
  const line = progressLine(context);
  const options = {
    listed,
    open: (from: DownloadOptions) => instance.service.download(id, { ...from, signal }),
    report: meterOf(context, instance, line.report)(id),
    signal,
  };
  try {
    const saved = toStdout
      ? await streamDownload({ ...options, to: context.stdout })
      : await saveDownload({
          ...options,
          path,
          of: `${instance.config.url} ${id}`,
          aside: `${path}.not-whole`,
        });
    line.end();
    const seconds = secondsOf(performance.now() - began);
    await tellSaved(context, instance, { path: toStdout ? undefined : path, ...saved, seconds });
    return EXIT.closed;
  } finally {
    line.end();
  }
}

/**
 * The backup's `size`; undefined if the service lists none, or not the backup: only the download shows
 * whether it is provided. Warns if the service says no. Rejects if the token is refused.
 */
async function lookFirst(
  { stderr }: CommandContext,
  { service }: OpenInstance,
  id: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    const { size, downloadable } = (await service.backup(id, signal)).value;
    if (downloadable === false) stderr.write(`warning: ${notOffered(id)}\n`);
    return size;
  } catch (thrown) {
    const { code, shortMessage } = failureOf(thrown);
    if (signal.aborted || code.startsWith('credentials.')) throw thrown;
    stderr.write(`warning: the size of backup ${id} is not known: ${show(shortMessage)}\n`);
    return undefined;
  }
}

interface SavedFile extends Saved {
  /** Undefined for standard output. */
  readonly path: string | undefined;
  readonly seconds: number;
}

/** Prints what was saved, which checks it passed, and what is wrong with it. */
async function tellSaved(
  context: CommandContext,
  { name }: OpenInstance,
  { path, bytes, sha256, requests, checked, seconds }: SavedFile,
): Promise<void> {
  const warnings = warningsOf(checked, bytes);
  const { stdout, stderr } = context;
  if (path !== undefined) {
    const saved = { path, bytes, sha256, requests, ...checked, warnings, seconds };
    await printResult(context, 'download', saved, () => {
      // A script needs the exact name; a terminal must not interpret control characters in a folder's name.
      stdout.write(`${stdout.isTTY === true ? show(path, 4_096) : path}\n`);
    });
  }
  for (const words of warnings) stderr.write(`warning: ${words}\n`);
  if (!isForPeople(context)) return;
  const speed = formatBytes(bytes / Math.max(seconds, 0.001));
  stderr.write(`${formatBytes(bytes)} in ${formatSeconds(seconds)} (${speed}/s)\n`);
  stderr.write(`${checkedWords(checked, bytes, sha256)}\n`);
  const file = path === undefined ? 'FILE' : show(basename(path));
  const what = warnings.length === 0 ? 'to prove that a key opens it' : 'to read it to its last byte';
  const how = checked.beginning === 'gzip' ? `gzip -t ${file}` : `lifeboat verify ${file} --instance ${name}`;
  stderr.write(`hint: ${what}: ${how}\n`);
}

/** Turns chunks into progress with a speed, and warns once if the router will end the request first. */
function meterOf(
  { stderr }: CommandContext,
  { config }: OpenInstance,
  report: ReturnType<typeof progressLine>['report'],
) {
  let warned = false;
  let request: { readonly download: Download; readonly since: number; readonly from: number } | undefined;
  const warn = (words: string | undefined) => {
    if (words === undefined || warned) return;
    warned = true;
    stderr.write(`\nwarning: ${words}\n`);
  };
  return (id: number) => (done: number, download: Download) => {
    const total = download.total ?? download.length;
    if (request?.download !== download) {
      if (request === undefined) {
        const least = leastSpeed(total, config.router);
        if (least !== undefined) stderr.write(`${least}\n`);
      }
      request = { download, since: performance.now(), from: done };
    }
    const elapsedMs = performance.now() - request.since;
    const here = done - request.from;
    const speed = elapsedMs < 500 ? '' : ` at ${formatBytes((here / elapsedMs) * 1000)}/s`;
    report({ kind: 'bytes', done, total, what: `backup ${id}${speed}` });
    const rest = total === undefined ? undefined : total - request.from;
    warn(
      routerWarning({
        done: here,
        total: rest,
        elapsedMs,
        limitMs: config.router,
        resumable: download.acceptsRanges,
      }),
    );
  };
}

/** Refuses a target that cannot be written, before requesting anything. */
async function assertTargetFree(path: string, force: boolean): Promise<void> {
  const [there, folder] = await Promise.all(
    [path, dirname(path)].map((at) => stat(at).catch(() => undefined)),
  );
  if (folder?.isDirectory() !== true)
    throw unusable(`${dirname(path)} is not an existing folder`, 'make it first');
  if (there?.isDirectory() === true) throw unusable(`${path} is a folder`, 'name a file in it');
  if (there !== undefined && !force)
    throw unusable(`${path} already exists`, 'name another file with --out, or replace it with --force');
}

/** Standard output carries only the bytes, and must not be a terminal. */
async function assertStdoutUsable(context: CommandContext): Promise<void> {
  if (!isForPeople(context))
    throw unusable(
      `--out - writes the backup to standard output, where -o ${context.output} writes too`,
      'choose one',
    );
  if (context.stdout.isTTY === true)
    throw unusable('standard output is a terminal', 'name a file with --out');
}

function unusable(what: string, hint: string): LifeboatError {
  return new LifeboatError('usage.out', show(what), {
    hints: ['nothing was downloaded', hint],
    exitCode: EXIT.usage,
  });
}

/** A download in progress. Bytes and milliseconds of this request alone, without those of an earlier one. */
export interface Pace {
  readonly done: number;
  readonly total: number | undefined;
  readonly elapsedMs: number;
  /** When the platform's router ends the request (service-api.md section 8). */
  readonly limitMs: number;
  /** The service can continue a download. */
  readonly resumable: boolean;
}

/** Before this, the speed reflects the start of the download more than the connection. */
const MEASURED_AFTER_MS = 5_000;

/** Undefined if the download ends before the router's limit, and while that is unknown. Pure. */
export function routerWarning({ done, total, elapsedMs, limitMs, resumable }: Pace): string | undefined {
  if (total === undefined || done === 0 || elapsedMs < MEASURED_AFTER_MS) return undefined;
  const needsMs = (total / done) * elapsedMs;
  if (needsMs <= limitMs) return undefined;
  const speed = `${formatBytes((done / elapsedMs) * 1000)}/s`;
  const then = resumable
    ? 'it then goes on from there by itself'
    : 'this service cannot go on from there: ask the operator of the platform for a longer limit';
  return (
    `at ${speed} this takes ${formatSpan(needsMs / 1000)}, ` +
    `but the router of the platform ends requests after ${formatSpan(limitMs / 1000)}; ${then}`
  );
}

/** The minimum speed that a download needs, in words; undefined if any connection reaches it. */
export function leastSpeed(total: number | undefined, limitMs: number): string | undefined {
  const perSecond = ((total ?? 0) / limitMs) * 1000;
  return perSecond < 1_000_000
    ? undefined
    : `it needs ${formatBytes(perSecond)}/s to be done in ${formatSpan(limitMs / 1000)}`;
}
