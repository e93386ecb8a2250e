import { printError } from './print-error.ts';
import type { EarlyTerminal } from './program.ts';

/** Returns the exit code. Never rejects: prints errors to stderr. */
export async function main(argv: readonly string[], version: string, early: EarlyTerminal): Promise<number> {
  try {
    const { parse } = await import('./program.ts');
    return await parse(argv, version, process, early);
  } catch (thrown) {
    early.giveScreenBack?.();
    return printError(thrown, process.stderr);
  }
}
