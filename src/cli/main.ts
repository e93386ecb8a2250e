import packageJson from '../../package.json' with { type: 'json' };
import { EXIT } from '../base/errors.ts';
import { paintEarly } from './early-frame.ts';
import { keepPrivate } from './keep-private.ts';
import { printError } from './print-error.ts';
import { keepOutputWhole } from './whole-output.ts';

export { leave } from '../base/leave.ts';

/**
 * Runs one command line and gives its exit code. Rejects never; what goes wrong is printed to stderr, also when not all of the result
 * could be written: then nothing that was to be done is undone, but a success is none.
 */
export async function main(argv: readonly string[]): Promise<number> {
  const missing = keepOutputWhole(process.stdout);
  const exitCode = await runCommand(argv);
  await new Promise((resolve) => process.stdout.write('', resolve));
  const why = missing();
  if (why === undefined) return exitCode;
  process.stderr.write(
    `lifeboat: what was printed is not whole: ${why}\nhint: what was done is done and on record; print it again to another place\n`,
  );
  return exitCode === EXIT.closed ? EXIT.failed : exitCode;
}

async function runCommand(argv: readonly string[]): Promise<number> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${packageJson.version}\n`);
    return EXIT.closed;
  }
  keepPrivate();
  const giveScreenBack = await paintEarly(argv, process);
  try {
    const { parse } = await import('./program.ts');
    return await parse(argv, packageJson.version, giveScreenBack);
  } catch (thrown) {
    giveScreenBack();
    return printError(thrown, process.stderr);
  }
}
