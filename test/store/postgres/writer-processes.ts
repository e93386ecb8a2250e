import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { until } from '../../bench-kit/until.ts';

/** The output of a writing process so far. */
export interface WriterProcess {
  readonly pid: number;
  readonly said: readonly {
    readonly held?: number;
    readonly acknowledged?: number;
    readonly lost?: string;
    readonly refused?: string;
  }[];
  /** The last entry acknowledged to it. */
  readonly acknowledged: number;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<unknown>;
}

/** A process that appends to a stream until it is killed or refused; resolves when it has begun. */
export async function startWriter(address: string, stream: string, ttl: number): Promise<WriterProcess> {
  const script = join(import.meta.dirname, 'writer-process.ts');
  const child = spawn(process.execPath, [script, address, stream, String(ttl)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const said: WriterProcess['said'][number][] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)));
  const writer = {
    pid: child.pid ?? 0,
    said,
    get acknowledged() {
      return said.findLast((line) => line.acknowledged !== undefined)?.acknowledged ?? 0;
    },
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    ended,
  };
  await until(() => writer.acknowledged > 0, 120_000);
  return writer;
}
