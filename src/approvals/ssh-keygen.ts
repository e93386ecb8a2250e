import { spawn } from 'node:child_process';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';

const TIMEOUT_MS = 20_000;
const OUTPUT_LIMIT = 64 * 1024;

export interface SshKeygenEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs OpenSSH's `ssh-keygen` with these arguments, the text at its standard input. Rejects with
 * `approval.unchecked` when there is none on this machine, or when it takes too long. With `patient` it may
 * ask for a passphrase or a touch, and takes its time.
 */
export function sshKeygen(
  args: readonly string[],
  input: string,
  { patient = false }: { readonly patient?: boolean } = {},
): Promise<SshKeygenEnd> {
  const child = spawn('ssh-keygen', args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: sshSurroundings(),
    windowsHide: true,
    ...(patient ? {} : { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' as const }),
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      if (said[name].length < OUTPUT_LIMIT) said[name] += text;
    });
  // A verifier that gives up before it has read everything is no error of ours.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(missing(cause)));
    child.once('close', (code, signal) => {
      if (signal === null) resolve({ code, ...said });
      else reject(new LifeboatError('approval.unchecked', `ssh-keygen was ended by ${signal}`));
    });
  });
}

/** What it needs to find its way, an agent and a person; tokens in variables are none of its business. */
export function sshSurroundings(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => NEEDED.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

const NEEDED =
  /^(?:PATH|HOME|USER|LOGNAME|TERM|TZ|TMPDIR|DISPLAY|WAYLAND_DISPLAY|XDG_RUNTIME_DIR|SSH_\w+|SystemRoot|USERPROFILE|TEMP)$/i;

/**
 * The version of OpenSSH, or what is missing, for people. Rejects with `approval.unchecked` without
 * ssh-keygen.
 */
export async function sshKeygenWorks(): Promise<string> {
  // There is no flag for the version; an unknown action prints the usage, which only one with -Y knows.
  const { stderr } = await sshKeygen(['-?'], '');
  if (stderr.includes('-Y verify')) return 'ssh-keygen can verify signatures';
  throw new LifeboatError('approval.unchecked', 'this ssh-keygen cannot verify signatures', {
    hints: ['OpenSSH 8.2 or newer is needed'],
    evidence: { error: show(stderr.split('\n')[0] ?? '') },
  });
}

function missing(cause: Error & { readonly code?: string }): LifeboatError {
  const what = cause.code === 'ENOENT' ? 'ssh-keygen is not on this machine' : 'ssh-keygen cannot be started';
  return new LifeboatError('approval.unchecked', `${what}, so no signature can be checked or made`, {
    hints: ['install the client of OpenSSH (8.2 or newer), then try again', 'nothing was sent'],
    cause,
  });
}
