import { spawnSync } from 'node:child_process';

/**
 * Lets the terminal show nothing of what is typed or pasted from now on, for a secret that is going to be
 * asked for: what comes before the prompt stands waits for it unseen. Ctrl-C ends the process as ever. Gives
 * what makes the terminal as it was; so does the end of the process. Does nothing without a terminal, or
 * where `stty` is not there.
 */
export function hush(stdin: { readonly isTTY?: boolean }): () => void {
  if (stdin.isTTY !== true) return () => undefined;
  const before = stty('-g').trim();
  if (before === '') return () => undefined;
  stty('-echo');
  return () => void stty(before);
}

/** What it prints; empty where it fails. A terminal that does not answer must not keep anybody. */
function stty(argument: string): string {
  const { status, stdout } = spawnSync('stty', [argument], {
    stdio: [0, 'pipe', 'ignore'],
    encoding: 'utf8',
    timeout: 1_000,
  });
  return status === 0 ? stdout : '';
}
