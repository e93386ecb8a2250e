import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Secret } from '../../src/base/secret.ts';
import { installQueue, SCHEMA } from '../../src/queue/boss-schema.ts';
import { initPostgresStore } from '../../src/store/postgres/schema.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import { startCluster } from '../bench-kit/postgres.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { until } from '../bench-kit/until.ts';
import { mostAtWork } from '../plans/most-at-work.ts';
import { quickFolder } from '../quick-folder.ts';
import { randomFrom } from '../random.ts';
import { type Used, usedBy } from './used-by.ts';

/*
 * `npm run test:scale`: a plan of two steps for each instance of a simulated lab, left to workers that are
 * killed and begun again, while the queue is truncated once in the middle. In the end the lab says how often
 * each change was carried out, and the record how many runs of the plan's group were at work at once. Exit
 * code 1 when a change was carried out twice or not at all, or the limit was exceeded.
 *
 * `--children` is how many runs the plan has, `--kills` how often each worker is killed, `--seed` draws when.
 */
const { values: options } = parseArgs({
  options: {
    children: { type: 'string', default: '200' },
    workers: { type: 'string', default: '2' },
    kills: { type: 'string', default: '2' },
    concurrency: { type: 'string', default: '8' },
    limit: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    faults: { type: 'string', default: 'fail=1%,lost=1%,late=0.1%' },
    'task-time': { type: 'string', default: '1s-5s' },
    /** A folder for a profile of each worker that ends by itself. */
    profile: { type: 'string' },
    /** Keeps what the processes said. */
    keep: { type: 'boolean', default: false },
  },
});
const STEPS = 2;
const instances = Math.ceil(Number(options.children) / STEPS);
const children = STEPS * instances;
const workerCount = Number(options.workers);
const limit = Number(options.limit);
/** Milliseconds between two kills, at most; from a tenth of it. */
const KILL_WITHIN = 40_000;
/** Milliseconds without a closed run after which a person answers what asks. */
const STALLED = 45_000;

const PLAN = `plan: all
groups:
  - id: data
    for: { role: source, target: "{name}-dr" }
    waves: ["100%"]
    maxConcurrency: ${limit}
    steps:
      - id: card
        runbook: disaster-recovery
        with: { phase: prepare }
        onFailure: continue
        because: a trial
        undo: none; it reads
      - id: recover
        runbook: disaster-recovery
        onFailure: continue
        because: a trial
        undo: none; the source stays
`;

const began = performance.now();
const say = (text: string) =>
  void process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${text}\n`);

const { cli } = builtProduct({ cheapVault: true });
const folder = mkdtempSync(join(quickFolder(), 'lifeboat-scale-'));
const config = join(folder, 'lifeboat.yaml');
const cluster = await startCluster({ fsync: true });
const own = new Set<ChildProcess>();
process
  .once('SIGINT', () => process.exit(130))
  .once('exit', () => {
    for (const child of own) child.kill('SIGKILL');
  });

try {
  process.exitCode = await trial();
} finally {
  for (const child of own) child.kill('SIGKILL');
  await cluster.remove();
  if (options.keep) say(`kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}

async function trial(): Promise<number> {
  const database = await cluster.makeDatabase();
  const address = cluster.address(database);
  await initPostgresStore({ address, env: {} });
  await installQueue({ address, env: {} });
  const env = {
    ...process.env,
    LIFEBOAT_CONFIG: config,
    LIFEBOAT_STORE: address,
    LIFEBOAT_PASSPHRASE_COMMAND: `echo '${CANARIES.passphrase}'`,
  };
  const { count } = await startLab(env);
  await giveKeys();
  const workers = await Promise.all(Array.from({ length: workerCount }, (_, at) => startWorker(at, env)));
  say(`${instances} instances, ${workerCount} workers`);

  const started = performance.now();
  const begun = await command(env, 'plans', 'run', 'all', '--confirm', 'data', '--yes', '--detach');
  if (begun.code !== 0) throw new Error(begun.stderr);
  const draw = randomFrom(Number(options.seed));
  const victims = Array.from({ length: Number(options.kills) * workerCount }, (_, at) => at % workerCount);
  const wait = () => KILL_WITHIN * (0.1 + 0.9 * draw());
  let killAt = performance.now() + wait();
  let isTruncated = false;
  let given = 0;
  let last = { closed: 0, at: performance.now() };
  const spent: Used[] = [];
  for (;;) {
    await delay(1_000);
    const { open, closed, entries } = await standing(database);
    if (closed !== last.closed) last = { closed, at: performance.now() };
    if (closed === children + 1) break;
    if (performance.now() > killAt && victims.length > 0) {
      const at = victims.shift() ?? 0;
      const victim = workers[at];
      spent.push(usedBy(victim?.pid));
      victim?.kill('SIGKILL');
      if (victim !== undefined) await once(victim, 'close');
      workers[at] = await startWorker(at, env);
      say(`worker ${at} killed and begun again`);
      say(`${closed} of ${children + 1} runs closed, ${open} open, ${entries} entries`);
      killAt = performance.now() + wait();
    }
    if (!isTruncated && closed > children / 2) {
      isTruncated = true;
      await cluster.query(`truncate ${SCHEMA}.job`, database);
      say('the queue truncated');
    }
    if (performance.now() - last.at > STALLED) {
      given += await answer(env);
      last = { closed, at: performance.now() };
    }
  }
  const seconds = (performance.now() - started) / 1000;
  spent.push(...workers.map(({ pid }) => usedBy(pid)));
  for (const worker of workers) {
    worker.kill('SIGTERM');
    const [code] = (await once(worker, 'close')) as [number | null];
    if (code !== 0) throw new Error(`a worker that was asked to stop ended with ${code}`);
  }
  const { entries } = await standing(database);
  const most = mostAtWork(await groupEntries(database))['data'] ?? 0;
  const counts = await count();
  const wrong = Object.entries(counts).flatMap(([name, calls]) =>
    Object.entries(calls).flatMap(([call, times]) =>
      call.endsWith('/perform') && times !== 1 ? [`${name}: ${call} ${times} times`] : [],
    ),
  );
  const performed = Object.values(counts).filter((calls) =>
    Object.keys(calls).some((call) => call.endsWith('/perform')),
  ).length;
  const processor = spent.reduce((sum, one) => sum + one.seconds, 0);
  const figures = {
    runs: children,
    seconds,
    'runs a second': children / seconds,
    entries,
    'entries a second': entries / seconds,
    'processor seconds of the workers for each run': processor / children,
    'largest worker, MiB': Math.max(...spent.map(({ peakMiB }) => peakMiB)),
    'kills of workers': Number(options.kills) * workerCount,
    'given up by a person': given,
    'recoveries carried out': performed,
    'at work at once, at most': most,
    'carried out twice': wrong.length,
  };
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(`${name.padEnd(48)}${Number.isInteger(value) ? value : value.toFixed(2)}\n`);
  for (const line of wrong) process.stdout.write(`${line}\n`);
  return wrong.length === 0 && performed + given >= instances && most <= limit ? 0 : 1;
}

type Env = Readonly<Record<string, string | undefined>>;

function homeOf(name: string): string {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  return home;
}

function start(name: string, env: Env, words: readonly string[]): ChildProcess {
  const isWorker = words[0] === 'worker' && options.profile !== undefined;
  const flags = isWorker ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : [];
  const child = spawn(process.execPath, [...flags, cli, ...words], {
    env: { ...env, LIFEBOAT_HOME: homeOf(name), NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  own.add(child);
  child.once('close', () => own.delete(child));
  return child;
}

/** Resolves once it has said these words. Rejects if it ends before. What it says is kept in a file. */
async function ready(name: string, child: ChildProcess, words: string): Promise<void> {
  let said = '';
  const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a' });
  const hear = (data: Buffer) => {
    log.write(data);
    if (said.length < 100_000) said += data.toString();
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  await until(() => said.includes(words) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
}

async function command(env: Env, ...words: readonly string[]) {
  const child = start('operator', env, words);
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (data) => (stdout += data));
  child.stderr?.on('data', (data) => (stderr += data));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

async function startWorker(at: number, env: Env): Promise<ChildProcess> {
  const name = `worker-${at}`;
  const child = start(name, env, ['worker', '--concurrency', options.concurrency]);
  await ready(name, child, 'takes runs');
  return child;
}

/** Starts the lab, and writes the config of the team and its plan. */
async function startLab(env: Env) {
  const shares = options.faults === 'none' ? [] : ['--faults', options.faults];
  const lab = start('lab-home', env, [
    ...['lab', '--simulated', String(instances), '--out', config, '--folder', join(folder, 'lab')],
    ...['--task-time', options['task-time'], '--seed', options.seed, ...shares],
  ]);
  await ready('lab', lab, 'Ctrl-C ends the lab');
  const text = JSON.parse(readFileSync(config, 'utf8'));
  const checkpoints = join(folder, 'checkpoints');
  mkdirSync(checkpoints, { mode: 0o700 });
  writeFileSync(config, JSON.stringify({ ...text, keyStore: 'vault', checkpoints: [checkpoints] }));
  mkdirSync(join(folder, 'plans'));
  writeFileSync(join(folder, 'plans', 'all.yaml'), PLAN);
  const { url, token } = text.lab as { readonly url: string; readonly token: { readonly file: string } };
  const authorization = readFileSync(token.file, 'utf8').trim();
  return {
    count: async () => {
      const answer = await fetch(`${url}/lab/counts`, { headers: { authorization } });
      const { instances: counts } = (await answer.json()) as {
        readonly instances: Readonly<Record<string, Readonly<Record<string, number>>>>;
      };
      return counts;
    },
  };
}

/** The one key of the lab for every instance, in each key store by the same name, as an import leaves it. */
async function giveKeys(): Promise<void> {
  const key = new Secret(readFileSync(join(folder, 'lab', 'sim.key'), 'utf8').trim());
  const { instances: named } = JSON.parse(readFileSync(config, 'utf8'));
  const first = await openKeys(homeOf('operator'));
  const fingerprint = await first.fingerprint(key);
  const keys = Object.keys(named).map((instance) => ({ instance, fingerprint, key }));
  await first.takeBundle({ keys, fingerprintSecrets: [] });
  const bundle = await first.bundle();
  for (let at = 0; at < workerCount; at += 1)
    await (await openKeys(homeOf(`worker-${at}`))).takeBundle(bundle);
}

async function standing(database: string) {
  const [row] = await cluster.query<Record<'begun' | 'closed' | 'entries', string>>(
    `select count(*) filter (where type = 'run.started') as begun,
            count(*) filter (where type = 'run.closed') as closed, count(*) as entries
     from lifeboat.entries`,
    database,
  );
  const [begun, closed, entries] = [row?.begun, row?.closed, row?.entries].map(Number) as [
    number,
    number,
    number,
  ];
  return { open: begun - closed, closed, entries };
}

/** The entries by which runs of groups begin and end, in order. */
async function groupEntries(database: string) {
  const rows = await cluster.query<{ id: string; stream: string; type: string; body: string }>(
    `select id, stream, type,
       case type when 'event' then json_build_object('to', body::json -> 'to')::text else body end as body
     from lifeboat.entries where type in ('run.started', 'event', 'run.closed')`,
    database,
  );
  return rows.map(({ id, body, ...entry }) => ({
    ...entry,
    index: Number(id),
    body: JSON.parse(body) as unknown,
  }));
}

/**
 * What a person does in the end with the steps that ask: goes on with a run as it recommends, and gives a
 * step up that still asks then, so that no recovery is sent again. Resolves with the number of the latter.
 */
async function answer(env: Env): Promise<number> {
  const { stdout } = await command(env, 'plans', 'show', 'last', '--json');
  const { lanes } = JSON.parse(stdout) as {
    readonly lanes: readonly Readonly<Record<'group' | 'instance' | 'step' | 'runId' | 'asks', string>>[];
  };
  const asking = lanes.filter(({ asks }) => asks !== undefined);
  let given = 0;
  for (const { group, instance, step, runId, asks } of asking) {
    say(`${instance}: ${asks}`);
    if ((await command(env, 'resume', runId, '--yes')).code === 0) continue;
    given += 1;
    const because = ['--reason', 'a trial gives it up'];
    await command(env, 'plans', 'skip', 'last', `${group}/${instance}/${step}`, ...because);
  }
  return given;
}
