import { printError } from './print-error.ts';

/**
 * Runs one command line and gives its exit code. Rejects never; what goes wrong is printed to stderr.
 * `giveScreenBack` is given when the first frame of the screen is painted already.
 */
export async function main(
  argv: readonly string[],
  version: string,
  giveScreenBack?: () => void,
): Promise<number> {
  // The UI loads while the key store and the journal are waited for; should it fail to, whoever needs it
  // hears of it.
  if (giveScreenBack !== undefined) import('../tui/show-run.tsx').catch(() => undefined);
  try {
    const { parse } = await import('./program.ts');
    return await parse(argv, version, giveScreenBack);
  } catch (thrown) {
    giveScreenBack?.();
    return printError(thrown, process.stderr);
  }
}
