import { mayEnd } from '../base/own-program.ts';
import { printError } from './print-error.ts';
import type { EarlyTerminal } from './program.ts';

/** Runs one command line and gives its exit code. Never rejects; what goes wrong is printed to stderr. */
export async function main(argv: readonly string[], version: string, early: EarlyTerminal): Promise<number> {
  const { giveScreenBack } = early;
  const meanwhile = giveScreenBack === undefined ? undefined : loadScreen;
  try {
    const { parse } = await import('./program.ts');
    return await parse(argv, version, process, { ...early, meanwhile });
  } catch (thrown) {
    giveScreenBack?.();
    return printError(thrown, process.stderr);
  } finally {
    await mayEnd();
  }
}

/**
 * Loads what draws, after what is under way was begun; should it fail to, whoever needs it hears of it. It is
 * named because the bundle loads a module when something of it is.
 */
function loadScreen(): void {
  const load = async () => (await import('../tui/take-screen.tsx')).takeScreen;
  setImmediate(() => load().catch(() => undefined));
}
