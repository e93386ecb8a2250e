import { fstatSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import packageJson from '../../package.json' with { type: 'json' };
import { EXIT, FILE_TROUBLE } from '../base/errors.ts';
import { isSingleExecutable, leave, ownFile } from '../base/own-program.ts';
import { withKeyStore } from '../config/key-store-named.ts';
import type { Bundle } from './code-cache.ts';
import { asksApp, asksLines, asksPassphrase, configIn, paintEarly, wordsIn } from './early-frame.ts';
import { disableEchoFromStart } from './echo.ts';
import { keepPrivate } from './keep-private.ts';
import { keepHeapSmall } from './small-heap.ts';

/** Changes with every build of the commands. Undefined in a checkout that is run without a build. */
declare const BUNDLE_STAMP: string | undefined;

/**
 * Does what must not wait until the commands are loaded, which takes as long as starting Node: prints the
 * version, keeps the heap small, makes the process private, disables echo where a passphrase may be asked
 * for, draws the first frame. Then loads the commands, runs the command line, and ends the process.
 */
export async function start(argv: readonly string[]): Promise<void> {
  // A closed pipe (`| head`) or terminal must not end a recovery in the middle.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const missing = keepOutputWhole(process.stdout);
  const [command = asksLines(argv, process) ? 'status' : ''] = wordsIn(argv);
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${packageJson.version}\n`);
    return end(EXIT.closed, missing);
  }
  const isApp = asksApp(argv, process);
  keepHeapSmall(isApp);
  keepPrivate();
  const restoreEcho =
    asksPassphrase(withKeyStore(process.env, configIn(argv))) && !isApp
      ? disableEchoFromStart(process.stdin)
      : undefined;
  const giveScreenBack = paintEarly(argv, process);
  const isDrawn = giveScreenBack !== undefined || isApp;
  // For the time of a command that only follows the journal: Node waits for none of what it waits for, and
  // would end it with code 13 in the middle.
  setInterval(() => undefined, 60_000);
  const bundle = await openCommands(command || 'app', isDrawn);
  // Also after a signal. Not after a usage error, because a misspelt command does not come back.
  process.once('exit', (code) => code === EXIT.usage || bundle.keep());
  await end(await bundle.exports.main(argv, packageJson.version, { giveScreenBack, restoreEcho }), missing);
}

/** A command that draws a screen caches its code apart from the same command without one, which uses less. */
async function openCommands(command: string, isDrawn: boolean): Promise<Bundle<typeof import('./main.ts')>> {
  if (typeof BUNDLE_STAMP === 'undefined')
    return { exports: await import('./main.ts'), keep: () => undefined };
  const { openBundle } = await import('./code-cache.ts');
  return openBundle({
    // In a single executable the file does not exist, but its folder does. Without /proc, Node does not know
    // the folder of an executable found on PATH.
    file: resolve(import.meta.dirname, 'main.cjs'),
    ...(isSingleExecutable() && { source: (name) => ownFile(`dist/${name}`) }),
    stamp: BUNDLE_STAMP,
    part: isDrawn ? `${command}-screen` : command,
    env: process.env,
  });
}

/**
 * Ends the process once everything is printed. Nothing may hold it up after that, neither a keychain nor a
 * folder that never answers. If the result could not be written in full, a success becomes a failure.
 */
async function end(exitCode: number, missing: () => string | undefined): Promise<void> {
  await written(process.stdout);
  const why = missing();
  if (why !== undefined) {
    process.stderr.write(
      `lifeboat: the output is incomplete: ${why}\n` +
        'hint: what was done is done and on record; print it again to another place\n',
    );
  }
  await written(process.stderr);
  leave(why !== undefined && exitCode === EXIT.closed ? EXIT.failed : exitCode);
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

type Output = Writable & { readonly fd: number; readonly isTTY?: boolean };

/**
 * Makes sure that output to a file is complete, or known to be cut: Node calls write(2) once for each chunk
 * and ignores short writes, so a full disk cuts the output without an error. Returns a function that says why
 * output is missing; closed pipes and lost terminals do not count.
 */
function keepOutputWhole(stdout: Output): () => string | undefined {
  let trouble: string | undefined;
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || stdout.isTTY === true) return;
    trouble ??= FILE_TROUBLE[code ?? ''] ?? code ?? 'the system does not say why';
  });
  if (isFile(stdout)) {
    stdout._write = (chunk: string | Buffer, encoding, done) => {
      try {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
        for (let at = 0; at < bytes.length; ) at += writeSync(stdout.fd, bytes, at);
        done();
      } catch (thrown) {
        done(thrown as Error);
      }
    };
  }
  return () => trouble;
}

/** A file, or a device other than a terminal: Node writes to these synchronously. */
function isFile({ fd, isTTY }: Output): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFile() || (stat.isCharacterDevice() && isTTY !== true);
  } catch {
    return false;
  }
}
