import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** How long a program took to its end, and the most memory that it had resident; undefined where the system does not tell. */
export interface Timed {
  readonly ms: number;
  readonly peakRssMiB: number | undefined;
}

/** Runs a program to its end. Rejects when it ends with another code than these. */
export async function timed(
  [program = '', ...args]: readonly string[],
  { env, codes = [0] }: { readonly env?: NodeJS.ProcessEnv; readonly codes?: readonly number[] } = {},
): Promise<Timed> {
  const start = performance.now();
  const child = spawn(program, args, { env: env ?? process.env, stdio: ['ignore', 'ignore', 'pipe'] });
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  let peakRssMiB: number | undefined;
  // The kernel keeps the peak; the last look before the end is near enough.
  const looking = setInterval(async () => {
    peakRssMiB = (await peakOf(child.pid)) ?? peakRssMiB;
  }, 20);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const ms = performance.now() - start;
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
