import { printError } from './print-error.ts';
import type { EarlyTerminal } from './program.ts';

/** Runs one command line and gives its exit code. Never rejects; what goes wrong is printed to stderr. */
export async function main(argv: readonly string[], version: string, early: EarlyTerminal): Promise<number> {
  const { giveScreenBack } = early;
  // The UI loads while the key store and the journal are waited for; should it fail to, whoever needs it
  // hears of it.
  if (giveScreenBack !== undefined) import('../tui/show-run.ts').catch(() => undefined);
  try {
    const { parse } = await import('./program.ts');
    return await parse(argv, version, process, early);
  } catch (thrown) {
    giveScreenBack?.();
    return printError(thrown, process.stderr);
  }
}
