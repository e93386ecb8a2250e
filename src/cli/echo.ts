import { EXIT } from '../base/errors.ts';

/**
 * Lets the terminal show nothing of what is typed or pasted from now on, for a secret that is going to be
 * asked for: what comes before the prompt stands waits for it unseen. Ctrl-C ends the process as ever. Gives
 * what makes the terminal as it was, which does nothing the second time; the end of the process does that
 * too. Does nothing without a terminal, or where `stty` is not there.
 */
export function disableEcho(stdin: { readonly isTTY?: boolean }): () => void {
  if (stdin.isTTY !== true) return () => undefined;
  const before = stty('stty -g && stty -echo').trim();
  if (before === '') return () => undefined;
  let isHushed = true;
  const restoreEcho = () => {
    if (isHushed) stty(`stty ${before}`);
    isHushed = false;
    process.off('exit', restoreEcho);
  };
  process.on('exit', restoreEcho);
  return restoreEcho;
}

/**
 * The same for the beginning of a process, where nothing is held or begun yet that a signal would have to
 * leave in order: SIGINT, SIGTERM and SIGHUP end the process with the terminal as it was.
 */
export function disableEchoFromStart(stdin: { readonly isTTY?: boolean }): () => void {
  const restoreEcho = disableEcho(stdin);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const end = () => process.exit(EXIT.interrupted);
  for (const signal of signals) process.on(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
    restoreEcho();
  };
}

/** What it prints; empty where it fails. A terminal that does not answer must not keep anybody. */
function stty(command: string): string {
  // Only for whoever asks for a passphrase: every start would pay for it.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { status, stdout } = spawnSync('sh', ['-c', command], {
    stdio: [0, 'pipe', 'ignore'],
    encoding: 'utf8',
    timeout: 1_000,
  });
  return status === 0 ? stdout : '';
}
