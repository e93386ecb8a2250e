import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/**
 * How long a program took to its end, and the most memory that it had resident; undefined where the system
 * does not tell.
 */
export interface Timed {
  readonly ms: number;
  readonly peakRssMiB: number | undefined;
}

/**
 * Runs a program to its end, or, with `untilSaid`, until it has written anything to its output: then it is
 * interrupted, and the time is that of the first byte. Rejects when it ends with another code than these.
 */
export async function timed(
  [program = '', ...args]: readonly string[],
  {
    env,
    codes = [0],
    untilSaid = false,
  }: {
    readonly env?: NodeJS.ProcessEnv;
    readonly codes?: readonly number[];
    readonly untilSaid?: boolean;
  } = {},
): Promise<Timed> {
  const start = performance.now();
  const child = spawn(program, args, { env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  let peakRssMiB: number | undefined;
  let ms: number | undefined;
  child.stdout.resume();
  if (untilSaid)
    child.stdout.once('data', () => {
      ms = performance.now() - start;
      child.kill('SIGINT');
    });
  // The kernel keeps the peak, and gives none while it ends the process: the highest look is near enough.
  const looking = setInterval(async () => {
    const now = await peakOf(child.pid);
    if (now !== undefined && now > (peakRssMiB ?? 0)) peakRssMiB = now;
  }, 20);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  ms ??= performance.now() - start;
  clearInterval(looking);
  if (!codes.includes(code ?? -1))
    throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${Buffer.concat(said)}`);
  return { ms, peakRssMiB };
}

async function peakOf(pid: number | undefined): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kib = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
  return kib === undefined ? undefined : Number(kib) / 1024;
}
