import { EXIT } from '../base/errors.ts';

/**
 * Turns terminal echo off, because a secret will be asked for: what is typed before the prompt appears waits
 * for it unseen. Ctrl-C still ends the process. Returns a function that restores the terminal, once; so does
 * the end of the process. Does nothing without a terminal or without `stty`.
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

/** As `disableEcho`, at the start: SIGINT, SIGTERM and SIGHUP end the process, terminal restored. */
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

/** The output of `stty`; empty if it fails. A terminal that does not answer must not block the start. */
function stty(command: string): string {
  // Loaded late, because only prompts for a passphrase need it.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { status, stdout } = spawnSync('sh', ['-c', command], {
    stdio: [0, 'pipe', 'ignore'],
    encoding: 'utf8',
    timeout: 1_000,
  });
  return status === 0 ? stdout : '';
}
