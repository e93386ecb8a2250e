import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../src/base/secret.ts';
import { installQueue } from '../../src/queue/boss-schema.ts';
import { initPostgresStore } from '../../src/store/postgres/schema.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import type { Cluster } from '../bench-kit/postgres.ts';
import { openPseudoTerminal, type Terminal } from '../bench-kit/pseudo-terminal.ts';
import { until } from '../bench-kit/until.ts';
import { mostAtWork, type Told } from '../plans/most-at-work.ts';
import { quickFolder } from '../quick-folder.ts';

/** Where a program runs: the words before it, and what else is in its environment. */
export interface Place {
  readonly under?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface StageOptions {
  readonly cli: string;
  readonly cluster: Cluster;
  /** An empty database of it. */
  readonly database: string;
  /** Of the simulated lab, each with its target. */
  readonly instances: number;
  /** How many workers get the keys. */
  readonly workers: number;
  readonly concurrency: number;
  /** How many runs of the plan may be at work at once. */
  readonly limit: number;
  /** Words of `lifeboat lab --simulated`. */
  readonly lab: readonly string[];
  /** What else the config says. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** How long a lost request may still arrive; default: what the lab says. */
  readonly inFlight?: string;
  /** Of `lab`, `operator`, `worker-0` and so on; default: here. */
  readonly placeOf?: (name: string) => Place;
  /** A folder for a profile of each worker that ends by itself. */
  readonly profile?: string | undefined;
  say(text: string): void;
}

/** A plan of two steps for each instance of a simulated lab, and a team to leave it to. */
export interface Stage {
  readonly folder: string;
  /** How many runs the plan has, beside its own. */
  readonly children: number;
  /** A worker that may not take runs yet. What it says is kept in a file. */
  spawnWorker(at: number): ChildProcess;
  /** Resolves once it takes runs. */
  startWorker(at: number): Promise<ChildProcess>;
  /** A program that goes on, of its own home. What it says is kept in a file of its name. */
  start(name: string, ...words: readonly string[]): Started;
  /** Runs a command line of the operator to its end. */
  command(...words: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** The same, to count what it uses; what it prints is thrown away. */
  spawnCommand(...words: readonly string[]): ChildProcess;
  /** The same, in a terminal of 100 x 30. */
  openScreen(...words: readonly string[]): Terminal;
  beginPlan(): Promise<void>;
  /** What the record holds of runs. */
  standing(): Promise<Standing>;
  /** The entries of all runs, in order; of these types only, if there are any. */
  entries(...types: readonly string[]): Promise<readonly (Told & { readonly at: string })[]>;
  /** The most runs of the plan that were at work at once, by the journal. */
  mostAtWork(): Promise<number>;
  /**
   * What a person does in the end with the steps that ask: goes on with a run as it recommends, and gives a
   * step up that still asks then, so that no recovery is sent again. Resolves with the number of the latter.
   */
  answer(): Promise<number>;
  /** Gives up the runs that the plan has gone on without. Resolves with their number. */
  abandonLeft(): Promise<number>;
  /** How often the service carried out each call, by instance. */
  count(): Promise<Counts>;
  /** Kills what still runs, and removes the folder unless it is kept. */
  end(keep: boolean): void;
}

export interface Started {
  readonly child: ChildProcess;
  /** Resolves once it has said this, with the line. Rejects when it has ended before. */
  said(words: string): Promise<string>;
}

export interface Standing {
  readonly open: number;
  readonly closed: number;
  readonly entries: number;
  /** Whether the plan has come to its end. Runs that it has gone on without may still be open. */
  readonly isOver: boolean;
}

export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** An instance on its way through the plan. */
interface Lane {
  readonly group: string;
  readonly instance: string;
  readonly step: string;
  readonly runId: string;
  readonly asks?: string;
  /** Runs that the plan has gone on without. */
  readonly left?: readonly { readonly runId: string; readonly asks?: string }[];
}

const STEPS = 2;

const planOf = (limit: number) => `plan: all
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

/** Makes the store, starts the lab, and gives every worker the keys of all instances. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { cli, cluster, database, placeOf = (): Place => ({}), say } = options;
  const folder = mkdtempSync(join(quickFolder(), 'lifeboat-scale-'));
  const config = join(folder, 'lifeboat.yaml');
  const address = cluster.address(database);
  const own = new Set<ChildProcess>();
  const kill = () => {
    for (const child of own) child.kill('SIGKILL');
  };
  process.once('exit', kill);
  await initPostgresStore({ address, env: {} });
  await installQueue({ address, env: {} });

  const homeOf = (name: string) => {
    const home = join(folder, name);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return home;
  };
  const envOf = (name: string) => ({
    LIFEBOAT_CONFIG: config,
    LIFEBOAT_STORE: address,
    LIFEBOAT_PASSPHRASE_COMMAND: `echo '${CANARIES.passphrase}'`,
    LIFEBOAT_HOME: homeOf(name),
    NO_COLOR: '1',
    // As the systemd unit of a worker has it.
    ...(name.startsWith('worker-') ? { MALLOC_ARENA_MAX: '2' } : {}),
    ...placeOf(name).env,
  });
  const spawnOf = (name: string, flags: readonly string[], words: readonly string[]) => {
    const { under = [] } = placeOf(name);
    const [program = '', ...rest] = [...under, process.execPath, ...flags, cli, ...words];
    const child = spawn(program, rest, {
      env: { ...process.env, ...envOf(name) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    own.add(child);
    child.once('close', () => own.delete(child));
    return child;
  };
  const start = (name: string, flags: readonly string[], words: readonly string[]): Started => {
    const child = spawnOf(name, flags, words);
    let said = '';
    const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a' });
    const hear = (data: Buffer) => {
      log.write(data);
      if (said.length < 100_000) said += data.toString();
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    return {
      child,
      async said(words) {
        await until(() => said.includes(words) || child.exitCode !== null);
        if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
        return said.split('\n').find((line) => line.includes(words)) ?? '';
      },
    };
  };
  const command: Stage['command'] = async (...words) => {
    const child = spawnOf('operator', [], words);
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (data) => (stdout += data));
    child.stderr?.on('data', (data) => (stderr += data));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr };
  };
  const beginWorker = (at: number) => {
    const name = `worker-${at}`;
    const { profile, concurrency } = options;
    const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
    return start(name, flags, ['worker', '--concurrency', String(concurrency)]);
  };

  const lab = start(
    'lab',
    [],
    [
      ...['lab', '--simulated', String(options.instances), '--out', config, '--folder', join(folder, 'keys')],
      ...options.lab,
    ],
  );
  await lab.said('Ctrl-C ends the lab');
  const count = furnish(folder, config, options);
  await giveKeys(join(folder, 'keys', 'sim.key'), config, [
    homeOf('operator'),
    ...Array.from({ length: options.workers }, (_, at) => homeOf(`worker-${at}`)),
  ]);

  const entries: Stage['entries'] = async (...types) => {
    const rows = await cluster.query<{ id: string; stream: string; type: string; at: string; body: string }>(
      `select id, stream, type, at,
         case type when 'event' then json_build_object('to', body::json -> 'to')::text else body end as body
       from lifeboat.entries where stream like 'run/%' and (cardinality($1::text[]) = 0 or type = any($1))
       order by id`,
      database,
      [types],
    );
    return rows.map(({ id, body, ...entry }) => ({
      ...entry,
      index: Number(id),
      body: JSON.parse(body) as unknown,
    }));
  };
  return {
    folder,
    children: STEPS * options.instances,
    spawnWorker: (at) => beginWorker(at).child,
    async startWorker(at) {
      const { child, said } = beginWorker(at);
      await said('takes runs');
      return child;
    },
    start: (name, ...words) => start(name, [], words),
    command,
    spawnCommand(...words) {
      const child = spawnOf('operator', [], words);
      child.stdout?.resume();
      child.stderr?.resume();
      return child;
    },
    openScreen: (...words) =>
      openPseudoTerminal(['exec', process.execPath, cli, ...words].join(' '), {
        env: { PATH: process.env['PATH'] ?? '', ...envOf('operator') },
      }),
    async beginPlan() {
      const begun = await command('plans', 'run', 'all', '--confirm', 'data', '--yes', '--detach');
      if (begun.code !== 0) throw new Error(begun.stderr);
    },
    async standing() {
      const [row] = await cluster.query<Record<'begun' | 'closed' | 'entries' | 'over', string>>(
        `with plan as (select stream from lifeboat.entries
                       where type = 'run.started' and body::json ->> 'runbook' = 'plan' limit 1)
         select count(*) filter (where type = 'run.started') as begun,
                count(*) filter (where type = 'run.closed') as closed, count(*) as entries,
                count(*) filter (where type = 'run.closed' and stream = (select stream from plan)) as over
         from lifeboat.entries`,
        database,
      );
      const { begun = 0, closed = 0, entries: all = 0, over = 0 } = row ?? {};
      return {
        open: Number(begun) - Number(closed),
        closed: Number(closed),
        entries: Number(all),
        isOver: Number(over) === 1,
      };
    },
    entries,
    mostAtWork: async () => mostAtWork(await entries('run.started', 'event', 'run.closed'))['data'] ?? 0,
    async answer() {
      const { stdout } = await command('plans', 'show', 'last', '--json');
      const { lanes, asks: planAsks } = JSON.parse(stdout) as {
        readonly lanes: readonly Lane[];
        readonly asks?: string;
      };
      let given = 0;
      if (planAsks !== undefined) {
        say(`the plan: ${planAsks}`);
        await command('plans', 'retry', 'last');
      }
      for (const { group, instance, step, runId, asks, left = [] } of lanes) {
        for (const one of left) {
          say(`${instance}: ${one.asks}`);
          await command('resume', one.runId, '--yes');
        }
        if (asks === undefined) continue;
        say(`${instance}: ${asks}`);
        if ((await command('resume', runId, '--yes')).code === 0) continue;
        given += 1;
        const because = ['--reason', 'a trial gives it up'];
        await command('plans', 'skip', 'last', `${group}/${instance}/${step}`, ...because);
      }
      return given;
    },
    async abandonLeft() {
      const { stdout } = await command('plans', 'show', 'last', '--json');
      const { lanes } = JSON.parse(stdout) as { readonly lanes: readonly Lane[] };
      const left = lanes.flatMap((lane) => lane.left ?? []);
      for (const { runId } of left) {
        const { code, stderr } = await command('resume', runId, '--abandon', 'the trial gives it up');
        if (code !== 0) throw new Error(stderr);
      }
      return left.length;
    },
    count,
    end(keep) {
      process.off('exit', kill);
      kill();
      if (keep) say(`kept: ${folder}`);
      else rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Makes the config of the lab that of a team with a plan; gives how to ask the lab what it did. */
function furnish(
  folder: string,
  config: string,
  { limit, inFlight, config: more }: Pick<StageOptions, 'limit' | 'inFlight' | 'config'>,
): Stage['count'] {
  const text = JSON.parse(readFileSync(config, 'utf8'));
  if (inFlight !== undefined)
    for (const instance of Object.values<{ inFlight: string }>(text.instances)) instance.inFlight = inFlight;
  const checkpoints = join(folder, 'checkpoints');
  mkdirSync(checkpoints, { mode: 0o700 });
  writeFileSync(config, JSON.stringify({ ...text, ...more, keyStore: 'vault', checkpoints: [checkpoints] }));
  mkdirSync(join(folder, 'plans'));
  writeFileSync(join(folder, 'plans', 'all.yaml'), planOf(limit));
  const { url, token } = text.lab as { readonly url: string; readonly token: { readonly file: string } };
  const authorization = readFileSync(token.file, 'utf8').trim();
  return async () => {
    const answer = await fetch(`${url}/lab/counts`, { headers: { authorization } });
    return ((await answer.json()) as { readonly instances: Counts }).instances;
  };
}

/** The one key of the lab for every instance, in each key store by the same name, as an import leaves it. */
async function giveKeys(file: string, config: string, homes: readonly string[]): Promise<void> {
  const key = new Secret(readFileSync(file, 'utf8').trim());
  const { instances } = JSON.parse(readFileSync(config, 'utf8'));
  const [first = '', ...others] = homes;
  const keyring = await openKeys(first);
  const fingerprint = await keyring.fingerprint(key);
  const keys = Object.keys(instances).map((instance) => ({ instance, fingerprint, key }));
  await keyring.takeBundle({ keys, fingerprintSecrets: [] });
  const bundle = await keyring.bundle();
  for (const home of others) await (await openKeys(home)).takeBundle(bundle);
}

/** The targets whose recovery was carried out, and each call of a recovery that was more than once. */
export function recoveries(counts: Counts): {
  readonly performed: number;
  readonly twice: readonly string[];
} {
  const isPerform = (call: string) => call.endsWith('/perform');
  const performed = Object.values(counts).filter((calls) => Object.keys(calls).some(isPerform)).length;
  const twice = Object.entries(counts).flatMap(([name, calls]) =>
    Object.entries(calls).flatMap(([call, times]) =>
      isPerform(call) && times !== 1 ? [`${name}: ${call} ${times} times`] : [],
    ),
  );
  return { performed, twice };
}

/** One figure a line. */
export function printFigures(figures: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(figures))
    process.stdout.write(`${name.padEnd(48)}${Number.isInteger(value) ? value : value.toFixed(2)}\n`);
}
