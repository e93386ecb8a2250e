import { printError } from './print-error.ts';

/** What was done to the terminal before the commands were loaded, and how to undo it. */
export interface EarlyTerminal {
  /** Given when the first frame of the screen is painted already. */
  readonly giveScreenBack: (() => void) | undefined;
  /** Given while the terminal shows nothing of what is typed, because a passphrase may be asked for. */
  readonly unhush: (() => void) | undefined;
}

/** Runs one command line and gives its exit code. Rejects never; what goes wrong is printed to stderr. */
export async function main(
  argv: readonly string[],
  version: string,
  { giveScreenBack, unhush }: EarlyTerminal,
): Promise<number> {
  // The UI loads while the key store and the journal are waited for; should it fail to, whoever needs it
  // hears of it.
  if (giveScreenBack !== undefined) import('../tui/show-run.ts').catch(() => undefined);
  try {
    const { parse } = await import('./program.ts');
    return await parse(argv, version, giveScreenBack, unhush);
  } catch (thrown) {
    giveScreenBack?.();
    return printError(thrown, process.stderr);
  }
}
