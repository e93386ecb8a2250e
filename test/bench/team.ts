import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { initPostgresStore } from '../../src/store/postgres/schema.ts';
import { startCluster } from '../bench-kit/postgres.ts';

const WRITERS = 50;

export interface TeamBench {
  /** Durable appends a second of all processes together. Budget: at least 1,000. */
  readonly appends: number;
  /** Milliseconds of the median append, and of the slowest of a hundred. */
  readonly medianMs: number;
  readonly slowMs: number;
  /** The same processes, each inserting one row of the same size into a plain table and committing. */
  readonly plain: number;
  /** What one durable append costs in such inserts. */
  readonly ratio: number;
}

/**
 * Measures the store of a team on a PostgreSQL with fsync on: 50 writers, each appending to a run of its own,
 * in this many processes.
 */
export async function benchTeam(processes: number, seconds: number): Promise<TeamBench> {
  const cluster = await startCluster({ fsync: true });
  try {
    const database = await cluster.makeDatabase();
    const address = cluster.address(database);
    await initPostgresStore({ address, env: process.env });
    await cluster.query('create table plain (body text)', database);
    const workers = await Promise.all(
      Array.from({ length: processes }, (_, number) =>
        startWorker(address, `bench-${number}`, WRITERS / processes),
      ),
    );
    const measure = async (what: 'append' | 'plain') => {
      const times = (await Promise.all(workers.map((worker) => worker.run(`${what} ${seconds}`)))).flat();
      return { rate: times.length / seconds, times: times.sort((a, b) => a - b) };
    };
    // A process appends some twenty times a second: that long each of them needs to run compiled code.
    for (let warming = 0; warming < 4; warming += 1) await measure('append');
    const [plain, appended] = [await measure('plain'), await measure('append')];
    await Promise.all(workers.map((worker) => worker.end()));
    const at = (part: number) => appended.times[Math.floor(appended.times.length * part)] ?? Number.NaN;
    const ratio = plain.rate / appended.rate;
    return { appends: appended.rate, medianMs: at(0.5), slowMs: at(0.99), plain: plain.rate, ratio };
  } finally {
    await cluster.remove();
  }
}

/** A process that does what a line on its input says, and answers with the times that it took. */
async function startWorker(address: string, name: string, writers: number) {
  const script = join(import.meta.dirname, 'team-worker.ts');
  const child = spawn(process.execPath, [script, address, name, String(writers)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => JSON.parse((await lines.next()).value ?? 'null') as number[];
  const ended = new Promise((resolve) => child.once('close', resolve));
  await answer();
  return {
    run(task: string) {
      child.stdin.write(`${task}\n`);
      return answer();
    },
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}
