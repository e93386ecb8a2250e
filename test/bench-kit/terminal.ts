import process from 'node:process';
import type { Product } from './product.ts';
import { openPseudoTerminal, type Terminal } from './pseudo-terminal.ts';

interface Where {
  readonly env: Readonly<Record<string, string>>;
}

interface TerminalWish {
  /**
   * The command is going to be stopped: the shell then tells the settings of the terminal (`$ stopped`),
   * waits for Enter and continues it.
   */
  readonly stops?: boolean;
  /** See `TerminalOptions`. */
  readonly typed?: string;
}

/**
 * Runs a command of the product in a shell of its own; after it, the shell tells its exit code (`rc=0`) and
 * the settings of the terminal.
 */
export function openTerminal(
  product: Product,
  bench: Where,
  args: readonly string[],
  wish: TerminalWish = {},
): Terminal {
  return openProgram([process.execPath, product.cli, ...args], product, bench, wish);
}

/** The same for another program, such as a shell. */
export function openProgram(
  words: readonly string[],
  product: Product,
  bench: Where,
  { stops = false, ...wish }: TerminalWish = {},
): Terminal {
  const command = words.map((word) => `'${word}'`).join(' ');
  const settings = `stty -a | tr '\\n' ' '`;
  const stopped = stops ? `; ${settings}; echo '$ stopped'; read -r _; fg` : '';
  // A Ctrl-C while the terminal takes it for a signal reaches the shell, too, which has to tell the end.
  const line = `trap : INT; ${stops ? 'set -m; ' : ''}echo '$ before'; ${command}${stopped}; echo "rc=$?"; ${settings}; echo '$ after'`;
  // Ink draws nothing where CI is set, so nothing of this environment is handed on.
  const env = { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: product.compiled, ...bench.env };
  return openPseudoTerminal(line, { ...wish, env });
}
