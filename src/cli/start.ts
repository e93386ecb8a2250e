import { resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { EXIT } from '../base/errors.ts';
import { isSingleExecutable, leave, ownFile } from '../base/own-program.ts';
import { withKeyStore } from '../config/key-store-named.ts';
import type { Bundle } from './code-cache.ts';
import { asksApp, asksLines, asksPassphrase, configIn, paintEarly, wordsIn } from './early-frame.ts';
import { disableEchoFromStart } from './echo.ts';
import { keepPrivate } from './keep-private.ts';
import { keepOutputWhole } from './whole-output.ts';

/**
 * Set by the build: it changes whenever the bundle of the commands does. There is none in a checkout that is
 * run as it is.
 */
declare const BUNDLE_STAMP: string | undefined;

/**
 * Does the little that must not wait for the commands to be loaded, which takes as long as starting Node: the
 * version, what keeps this process private, hiding what is typed where a passphrase may be asked for, the
 * first frame of the screen. Then loads them and runs the command line; ends the process.
 */
export async function start(argv: readonly string[]): Promise<void> {
  // A reader that has gone away (`| head`, a closed terminal) must not end a recovery in the middle.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const missing = keepOutputWhole(process.stdout);
  const [command = asksLines(argv, process) ? 'status' : ''] = wordsIn(argv);
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${packageJson.version}\n`);
    return end(EXIT.closed, missing);
  }
  keepPrivate();
  const restoreEcho =
    asksPassphrase(withKeyStore(process.env, configIn(argv))) && !asksApp(argv, process)
      ? disableEchoFromStart(process.stdin)
      : undefined;
  const giveScreenBack = paintEarly(argv, process);
  const isDrawn = giveScreenBack !== undefined || asksApp(argv, process);
  const bundle = await openCommands(command || 'app', isDrawn);
  // Also of a command that a signal ends; whatever was misspelt is no command whose code is needed again.
  process.once('exit', (code) => code === EXIT.usage || bundle.keep());
  await end(await bundle.exports.main(argv, packageJson.version, { giveScreenBack, restoreEcho }), missing);
}

/** A command that draws a screen keeps its code apart from the same one without, which uses less. */
async function openCommands(command: string, isDrawn: boolean): Promise<Bundle<typeof import('./main.ts')>> {
  if (typeof BUNDLE_STAMP === 'undefined')
    return { exports: await import('./main.ts'), keep: () => undefined };
  const { openBundle } = await import('./code-cache.ts');
  return openBundle({
    // Of a single executable only its name: the folder, and what is beside it, is real. Without /proc Node
    // does not know the folder of one that was found on the PATH.
    file: resolve(import.meta.dirname, 'main.cjs'),
    ...(isSingleExecutable() && { source: (name) => ownFile(`dist/${name}`) }),
    stamp: BUNDLE_STAMP,
    part: isDrawn ? `${command}-screen` : command,
    env: process.env,
  });
}

/**
 * Ends the process when all that was printed is out. After that nothing may keep it, neither a keychain nor a
 * folder that never answers. When not all of the result could be written, nothing that was done is undone,
 * but a success is none.
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
