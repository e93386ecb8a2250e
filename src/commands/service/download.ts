import { stat, statfs } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { EXIT, LifeboatError } from '../../errors.ts';
import { formatBytes, formatSeconds } from '../../format.ts';
import type { Download } from '../../service/client.ts';
import { show } from '../../text.ts';
import type { CommandContext } from '../context.ts';
import { stopSignal } from '../lab.ts';
import { idFrom } from '../numbers.ts';
import { printJson } from '../print-json.ts';
import type { OpenInstance } from '../service-of.ts';
import { type InstanceFlags, onInstance } from './on-instance.ts';
import { progressLine } from './progress-line.ts';
import { leastSpeed, routerWarning } from './router-limit.ts';

interface DownloadFlags extends InstanceFlags {
  readonly out?: string;
  readonly force?: boolean;
}

/** `lifeboat backups download ID`: saves the encrypted bytes of a backup (section 4.3). */
export async function backupsDownload(
  context: CommandContext,
  [given = '']: readonly string[],
  flags: DownloadFlags,
): Promise<number> {
  const id = idFrom(given, 'the id of a backup');
  const stop = stopSignal();
  try {
    return await onInstance(context, flags, (instance) => save(context, instance, id, flags, stop.signal));
  } catch (thrown) {
    if (!stop.signal.aborted) throw thrown;
    throw new LifeboatError('download.left', 'interrupted; what has arrived is kept beside the file', {
      hints: ['the same command goes on from there, if the service lets it'],
      exitCode: EXIT.interrupted,
      cause: thrown,
    });
  } finally {
    stop.release();
  }
}

async function save(
  context: CommandContext,
  instance: OpenInstance,
  id: number,
  flags: DownloadFlags,
  signal: AbortSignal,
): Promise<number> {
  const path = resolve(flags.out ?? `${instance.name}-backup-${id}.tgz.enc`);
  await refuseTarget(path, flags.force ?? false);
  const { saveDownload } = await import('../../activities/save-download.ts');
  const began = performance.now();
  const line = progressLine(context);
  const meter = meterOf(context, instance, line.report);
  try {
    const saved = await saveDownload({
      path,
      of: `${instance.config.url} ${id}`,
      open: (from) => instance.service.download(id, { ...from, signal }),
      report: meter(id, dirname(path)),
      signal,
    });
    line.end();
    const seconds = (performance.now() - began) / 1000;
    if (flags.json) printJson(context, { path, ...saved, seconds });
    else {
      // A script needs the name as it is; a terminal is not to act on the name of a folder.
      context.stdout.write(`${context.stdout.isTTY === true ? show(path, 4_096) : path}\n`);
      const speed = formatBytes(saved.bytes / Math.max(seconds, 0.001));
      context.stderr.write(
        `${formatBytes(saved.bytes)} in ${formatSeconds(seconds)} (${speed}/s), SHA-256 ${saved.sha256}\n`,
      );
      context.stderr.write(`hint: lifeboat verify ${show(basename(path))} --instance ${instance.name}\n`);
    }
    return EXIT.closed;
  } finally {
    line.end();
  }
}

/** Turns chunks into progress with a speed, and warns once when the router will end the request first. */
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
  return (id: number, folder: string) => (done: number, download: Download) => {
    const total = download.total ?? download.length;
    if (request?.download !== download) {
      if (request === undefined) {
        const least = leastSpeed(total, config.router);
        if (least !== undefined) stderr.write(`${least}\n`);
        void lackOfRoom(folder, total).then(
          (words) => words === undefined || stderr.write(`\nwarning: ${words}\n`),
        );
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

async function lackOfRoom(folder: string, total: number | undefined): Promise<string | undefined> {
  if (total === undefined) return undefined;
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= total) return undefined;
  return `the backup has ${formatBytes(total)}, and only ${formatBytes(bavail * bsize)} are free in ${show(folder)}`;
}

/** What can be wrong with the target is told before anything is asked for. */
async function refuseTarget(path: string, force: boolean): Promise<void> {
  const [there, folder] = await Promise.all(
    [path, dirname(path)].map((at) => stat(at).catch(() => undefined)),
  );
  if (folder?.isDirectory() !== true)
    throw unusable(`${dirname(path)} is no folder that is there`, 'make it first');
  if (there?.isDirectory() === true) throw unusable(`${path} is a folder`, 'name a file in it');
  if (there !== undefined && !force)
    throw unusable(`${path} is there already`, 'name another file with --out, or replace it with --force');
}

function unusable(what: string, hint: string): LifeboatError {
  return new LifeboatError('usage.out', show(what), {
    hints: ['nothing was downloaded', hint],
    exitCode: EXIT.usage,
  });
}
