import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { EXIT } from '../../src/base/errors.ts';
import { startForeignServer } from '../bench-kit/foreign/server.ts';
import { median } from './median.ts';
import { timed } from './timed.ts';

/** Medians of a command, and of `node -e 0` in turns with it. */
export interface CommandBench {
  readonly command: string;
  readonly its: Spent;
  readonly nodes: Spent;
}

/** Milliseconds. */
interface Spent {
  readonly processor: number;
  readonly wall: number;
}

const NODE = process.execPath;
const CLI = resolve(import.meta.dirname, '../../dist/cli.js');
const COMMANDS = { runs: ['runs'], 'status -o json': ['status', '-o', 'json'] };
const RUNS = 5;
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/service-instances/bench';

/**
 * Times what is asked most often, in a home with some runs, and with one instance that answers at once. A
 * busy machine leaves processor time nearly as it is, so that is what the budget is for.
 */
export async function benchCommands(rounds: number): Promise<CommandBench[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-bench-'));
  const server = await startForeignServer({ token: TOKEN, key: 'bench-key', folder, revision: 62 });
  try {
    await leaveRuns(environment(folder, NOWHERE));
    const env = environment(folder, server.url);
    const results: CommandBench[] = [];
    for (const [command, args] of Object.entries(COMMANDS)) {
      const [its, nodes]: [Spent[], Spent[]] = [[], []];
      // The first one keeps compiled code for the others.
      await spend([NODE, CLI, ...args], env);
      for (let round = 0; round < rounds; round += 1) {
        nodes.push(await spend([NODE, '-e', '0'], env));
        its.push(await spend([NODE, CLI, ...args], env));
      }
      results.push({ command, its: medians(its), nodes: medians(nodes) });
    }
    return results;
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, maxRetries: 5 });
  }
}

const TOKEN = 'bench-token';

function environment(folder: string, url: string): NodeJS.ProcessEnv {
  const [config, passphrase] = [join(folder, 'lifeboat.yaml'), join(folder, 'passphrase')];
  writeFileSync(passphrase, 'a passphrase of the bench', { mode: 0o600 });
  const bench = `{ url: '${url}', revision: 62, token: { env: BENCH_TOKEN }, rehearsal: true }`;
  writeFileSync(config, `instances: { bench: ${bench} }\n`, { mode: 0o600 });
  return {
    ...process.env,
    BENCH_TOKEN: TOKEN,
    LIFEBOAT_CONFIG: config,
    LIFEBOAT_HOME: join(folder, 'home'),
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: passphrase,
    XDG_CACHE_HOME: join(folder, 'cache'),
  };
}

async function leaveRuns(env: NodeJS.ProcessEnv): Promise<void> {
  const begin = [NODE, CLI, 'run', 'back-up-and-verify', '--yes', '--json'];
  for (let run = 0; run < RUNS; run += 1) {
    await timed(begin, { env, codes: [EXIT.interrupted], untilSaid: true });
    await timed([NODE, CLI, 'resume', '--abandon', 'only timed'], { env });
  }
}

/** What a command takes to its end, as the shell tells it: Node has no figures of its children. */
async function spend(command: readonly string[], env: NodeJS.ProcessEnv): Promise<Spent> {
  const script = 'TIMEFORMAT="%U %S %R"; time "$@" > /dev/null 2>&1; true';
  const shell = spawn('bash', ['-c', script, 'bash', ...command], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said] = await Promise.all([text(shell.stderr), once(shell, 'close')]);
  const [user = Number.NaN, system = Number.NaN, wall = Number.NaN] = said.trim().split(' ').map(Number);
  return { processor: (user + system) * 1000, wall: wall * 1000 };
}

function medians(all: readonly Spent[]): Spent {
  return { processor: median(all.map((one) => one.processor)), wall: median(all.map((one) => one.wall)) };
}
