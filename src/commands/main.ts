import packageJson from '../../package.json' with { type: 'json' };
import { EXIT } from '../errors.ts';
import { paintEarly } from './early-frame.ts';
import { keepPrivate } from './keep-private.ts';
import { printError } from './print-error.ts';

/** Runs one command line and gives its exit code. Rejects never; what goes wrong is printed to stderr. */
export async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${packageJson.version}\n`);
    return EXIT.closed;
  }
  keepPrivate();
  const giveScreenBack = await paintEarly(argv, process);
  try {
    const { parse } = await import('./program.ts');
    return await parse(argv, packageJson.version);
  } catch (thrown) {
    giveScreenBack();
    return printError(thrown, process.stderr);
  }
}
