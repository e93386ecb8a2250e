import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { againAlone, openNetwork } from '../bench-kit/network.ts';
import { startCluster } from '../bench-kit/postgres.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { seedOf } from '../crash/draw.ts';
import type { Told } from '../plans/most-at-work.ts';
import { randomFrom } from '../random.ts';
import { openStage, printFigures, recoveries, type Stage } from '../scale/stage.ts';
import { LEASE_MS } from './trial.ts';

/*
 * `npm run test:partitions -- --times N --seed S`: two workers, the database and the service, each on a host
 * of its own, do one plan after another, while the network between two of the hosts is cut N times at drawn
 * moments, each for longer than two leases. Nobody is told: packets are dropped, in both directions or in
 * one. In the end the service says how often each change was carried out, and the record whether a run was
 * forgotten. Exit code 1 when a call was carried out twice, a recovery not at all, a run is left open, the
 * limit was exceeded or the audit finds something; 2 where the machine lets nobody make networks.
 */
const { values: options } = parseArgs({
  options: {
    times: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    /** How many of them fall upon one plan. */
    'at-once': { type: 'string', default: '40' },
    /** Keeps what the processes said, and the entries of the runs. */
    keep: { type: 'boolean', default: false },
    /** This process is alone in a network of its own. */
    alone: { type: 'boolean', default: false },
  },
});

const DATABASE = 'database';
const SERVICE = 'service';
const WORKERS = ['host-a', 'host-b'] as const;
const PAIRS = [
  ...WORKERS.map((worker) => [worker, DATABASE] as const),
  ...WORKERS.map((worker) => [worker, SERVICE] as const),
  WORKERS,
];
const LIMIT = 4;
/** How long a cut lasts, in leases, and how long the network is whole after it. */
const [SHORTEST, LONGEST] = [2.2, 5] as const;
const WHOLE_MS = [500, 5_000] as const;
/** What TCP sends again when a cut has healed comes at most as late again as the cut was long. */
const IN_FLIGHT = '1m';
/** How many instances keep the workers busy for one cut. */
const INSTANCES_A_CUT = 2;
/** Milliseconds without a closed run after which a person answers, or nothing will come any more. */
const [STALLED, FORGOTTEN] = [45_000, 600_000] as const;
const PASSWORD = 'of-a-member';

interface Cut {
  readonly pair: readonly [string, string];
  /** By the clock of this machine, as every process here has it. */
  readonly from: number;
  readonly to: number;
}

const began = performance.now();
const say = (text: string) =>
  void process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${text}\n`);

process.exitCode = options.alone ? await all() : await againAlone();

async function all(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const total: Figures[] = [];
  const wanted = Number(options.times);
  const fallen = () => total.reduce((sum, { cuts }) => sum + cuts.length, 0);
  while (fallen() < wanted)
    total.push(
      await trial(
        Math.min(wanted - fallen(), Number(options['at-once'])),
        seedOf(Number(options.seed), `trial ${total.length}`),
      ),
    );
  const sum = (of: (one: Figures) => number) => total.reduce((all, one) => all + of(one), 0);
  const most = (of: (one: Figures) => number) => Math.max(...total.map(of));
  const problems = total.flatMap((one) => one.problems);
  printFigures({
    plans: total.length,
    cuts: fallen(),
    ...Object.fromEntries(
      PAIRS.map((pair) => [
        `cuts of ${pair.join(' and ')}`,
        sum(({ cuts }) => cuts.filter((cut) => cut.pair === pair).length),
      ]),
    ),
    'milliseconds of a lease': LEASE_MS,
    'workers that ended and were begun again': sum(({ restarts }) => restarts),
    'runs taken over': sum(({ handOvers }) => handOvers.length),
    'longest hand-over, seconds': most(({ handOvers }) => Math.max(0, ...handOvers)) / 1_000,
    'at work at once, at most': most((one) => one.most),
    'calls that change something': sum(({ calls }) => calls),
    'recoveries carried out': sum(({ performed }) => performed),
    'given up by a person': sum(({ given }) => given),
    'carried out twice': sum(({ twice }) => twice),
    lost: sum(({ lost }) => lost),
  });
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}

interface Figures {
  readonly cuts: readonly Cut[];
  readonly restarts: number;
  /** Milliseconds from the cut to the first entry of the process that took the run over. */
  readonly handOvers: readonly number[];
  readonly most: number;
  readonly calls: number;
  readonly performed: number;
  readonly given: number;
  readonly twice: number;
  readonly lost: number;
  readonly problems: readonly string[];
}

/** One plan, upon which at most this many cuts fall. */
async function trial(times: number, seed: number): Promise<Figures> {
  await using opened = new AsyncDisposableStack();
  const network = await openNetwork(DATABASE, SERVICE, WORKERS);
  opened.defer(() => network.close());
  const cluster = await startCluster({ fsync: true, listen: network.address(DATABASE) });
  opened.defer(() => cluster.remove());
  const database = await cluster.makeDatabase();
  const instances = INSTANCES_A_CUT * times + LIMIT;
  const store = `postgres://member@${network.address(DATABASE)}:${cluster.port}/${database}?sslmode=disable`;
  const stage = await openStage({
    cli: builtProduct({ cheapVault: true, leaseMs: LEASE_MS }).cli,
    cluster,
    database,
    instances,
    workers: WORKERS.length,
    concurrency: 8,
    limit: LIMIT,
    lab: ['--task-time', '1s-5s', '--seed', String(seed), '--faults', 'lost=2%'],
    inFlight: IN_FLIGHT,
    placeOf: (name) => {
      if (name === 'lab') return { under: network.on(SERVICE) };
      const host = WORKERS[Number(/^worker-(\d)$/u.exec(name)?.[1])];
      if (host === undefined) return {};
      return { under: network.on(host), env: { LIFEBOAT_STORE: store, PGPASSWORD: PASSWORD } };
    },
    say,
  });
  opened.defer(() => stage.end(options.keep));
  await cluster.query(`create role member login password '${PASSWORD}' in role lifeboat_member`);
  const team = keepWorkers(stage);
  opened.defer(async () => void (await team.stop()));
  await stage.beginPlan();
  say(`${instances} instances, at most ${times} cuts`);

  const draw = randomFrom(seed);
  const over = new AbortController();
  const cutting = cutAtRandom(network, { draw, times, over: over.signal });
  let given: number;
  try {
    given = await untilOver(stage);
  } finally {
    over.abort();
  }
  const cuts = await cutting;
  const ends = await team.stop();
  const { code: audit, stdout } = await stage.command('audit', 'verify');
  const entries = await stage.entries();
  if (options.keep) writeFileSync(join(stage.folder, 'entries.json'), JSON.stringify(entries));
  const counts = await stage.count();
  const { performed, twice } = recoveries(counts);
  const most = await stage.mostAtWork();
  // What was not carried out is lost unless its run says so.
  const lost = claimedIn(entries, instances).filter(
    (target) => !Object.keys(counts[target] ?? {}).some((call) => call.endsWith('/perform')),
  ).length;
  const calls = Object.values(counts).reduce(
    (all, of) => all + Object.values(of).reduce((sum, n) => sum + n, 0),
    0,
  );
  return {
    cuts,
    restarts: team.restarts(),
    handOvers: handOversIn(entries, cuts, team.hostOf),
    most,
    calls,
    performed,
    given,
    twice: twice.length,
    lost,
    problems: [
      ...twice,
      ...(lost === 0 ? [] : [`${lost} recoveries were not carried out, and no run says so`]),
      ...(most <= LIMIT ? [] : [`${most} runs were at work at once, and ${LIMIT} may`]),
      ...(audit === 0 || audit === 3 ? [] : [`the audit ends with ${audit}: ${stdout.slice(-600)}`]),
      ...ends.flatMap((code) => (code === 0 ? [] : [`a worker that was asked to stop ended with ${code}`])),
    ],
  };
}

/** The targets of which the record does not say that their recovery has failed or was stopped. */
function claimedIn(entries: readonly Told[], instances: number): readonly string[] {
  const lanes = new Map<string, string>();
  const targets = new Set(
    Array.from({ length: instances }, (_, at) => `sim-${String(at + 1).padStart(5, '0')}-dr`),
  );
  for (const { stream, type, body } of entries) {
    const { plan, outcome } = body as {
      readonly plan?: { readonly step: string; readonly lane: string };
      readonly outcome?: string;
    };
    if (type === 'run.started' && plan?.step === 'recover') lanes.set(stream, `${plan.lane}-dr`);
    if ((type === 'run.closed' && outcome !== 'done') || type === 'run.abandoned')
      targets.delete(lanes.get(stream) ?? '');
  }
  return [...targets];
}

/** Two workers, begun again whenever one ends, as their unit does. */
function keepWorkers(stage: Stage) {
  const hosts = new Map<number, string>();
  let [isStopping, restarts] = [false, 0];
  let stopped: Promise<(number | null)[]> | undefined;
  const running = new Map<string, ReturnType<Stage['spawnWorker']>>();
  const keeping = WORKERS.map(async (host, at) => {
    for (;;) {
      const child = stage.spawnWorker(at);
      running.set(host, child);
      hosts.set(child.pid ?? 0, host);
      const [code] = (await once(child, 'close')) as [number | null];
      if (isStopping) return code;
      restarts += 1;
    }
  });
  return {
    hostOf: (pid: number) => hosts.get(pid),
    restarts: () => restarts,
    stop: () => {
      isStopping = true;
      for (const child of running.values()) child.kill('SIGTERM');
      stopped ??= Promise.all(keeping);
      return stopped;
    },
  };
}

/** Cuts one pair after another. Resolves when it has done so as often as wanted, or it is over. */
async function cutAtRandom(
  network: Awaited<ReturnType<typeof openNetwork>>,
  { draw, times, over }: { draw: () => number; times: number; over: AbortSignal },
): Promise<readonly Cut[]> {
  const cuts: Cut[] = [];
  const pause = (ms: number) => delay(ms, undefined, { signal: over }).catch(() => undefined);
  while (cuts.length < times && !over.aborted) {
    await pause(WHOLE_MS[0] + draw() * (WHOLE_MS[1] - WHOLE_MS[0]));
    if (over.aborted) break;
    const pair = PAIRS[Math.floor(draw() * PAIRS.length)] ?? WORKERS;
    const [one, other] = pair;
    const ways = draw();
    const dropped: (readonly [string, string])[] = [];
    if (ways < 0.75) dropped.push([one, other]);
    if (ways < 0.5 || ways >= 0.75) dropped.push([other, one]);
    const from = Date.now();
    for (const way of dropped) network.cut(...way);
    const lasts = (SHORTEST + draw() * (LONGEST - SHORTEST)) * LEASE_MS;
    say(
      `cut ${cuts.length + 1}: ${dropped.map((way) => way.join(' to ')).join(', ')} for ${(lasts / 1000).toFixed(1)} s`,
    );
    await pause(lasts);
    for (const way of dropped) network.heal(...way);
    cuts.push({ pair, from, to: Date.now() });
  }
  return cuts;
}

/**
 * Resolves with how many steps a person gave up, once the plan is over; runs that it has gone on without are
 * given up then. Rejects when a run is forgotten.
 */
async function untilOver(stage: Stage): Promise<number> {
  let given = 0;
  let answered = performance.now();
  let last = { closed: 0, at: performance.now() };
  for (;;) {
    await delay(1_000);
    const { open, closed, isOver } = await stage.standing();
    if (closed !== last.closed) last = { closed, at: performance.now() };
    if (isOver) return given + (await stage.abandonLeft());
    const now = performance.now();
    if (now - last.at > FORGOTTEN) throw new Error(`${open} runs are forgotten, ${closed} are closed`);
    if (now - Math.max(last.at, answered) < STALLED) continue;
    say(`${closed} of ${stage.children + 1} runs closed, ${open} open`);
    given += await stage.answer();
    answered = performance.now();
  }
}

/**
 * How long it took until another process went on with a run whose process had not left it: from its last
 * entry, or from the first cut after it that its host was met by.
 */
function handOversIn(
  entries: readonly (Told & { readonly at: string })[],
  cuts: readonly Cut[],
  hostOf: (pid: number) => string | undefined,
): readonly number[] {
  const last = new Map<string, { readonly pid: number | undefined; readonly at: number }>();
  const found: number[] = [];
  for (const { stream, type, at, body } of entries) {
    const now = Date.parse(at);
    const before = last.get(stream);
    const { pid } = body as { readonly pid?: number };
    const isLeft = type === 'run.detached';
    if (type === 'run.resumed' && before?.pid !== undefined && before.pid !== pid) {
      const host = hostOf(before.pid);
      const cut = cuts.find(({ pair, to }) => pair[1] === DATABASE && pair[0] === host && to > before.at);
      found.push(now - Math.max(before.at, Math.min(cut?.from ?? 0, now)));
    }
    last.set(stream, { pid: isLeft ? undefined : type === 'run.resumed' ? pid : before?.pid, at: now });
  }
  return found;
}
