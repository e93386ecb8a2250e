import { printError } from './print-error.ts';
import type { EarlyTerminal } from './program.ts';

/** Runs one command line and gives its exit code. Never rejects; what goes wrong is printed to stderr. */
export async function main(argv: readonly string[], version: string, early: EarlyTerminal): Promise<number> {
  try {
    const { parse } = await import('./program.ts');
    return await parse(argv, version, process, early);
  } catch (thrown) {
    early.giveScreenBack?.();
    return printError(thrown, process.stderr);
  }
}
