import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SCHEMA } from '../../src/queue/boss-schema.ts';
import { startCluster } from '../bench-kit/postgres.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { randomFrom } from '../random.ts';
import { besideAnsible } from './ansible.ts';
import { listings } from './listings.ts';
import { openStage, printFigures, recoveries } from './stage.ts';
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
    'late-by': { type: 'string', default: '20m' },
    'task-time': { type: 'string', default: '1s-5s' },
    /** For how many hosts ansible-playbook makes the same calls afterwards; it has to be installed. */
    ansible: { type: 'string', default: '0' },
    /** A folder for a profile of each worker that ends by itself. */
    profile: { type: 'string' },
    /** Measures the commands and screens that list, afterwards. */
    listings: { type: 'boolean', default: false },
    /** Leaves all standing until Ctrl-C, to look at it. */
    stay: { type: 'boolean', default: false },
    /** Keeps what the processes said. */
    keep: { type: 'boolean', default: false },
  },
});
const instances = Math.ceil(Number(options.children) / 2);
const workerCount = Number(options.workers);
const limit = Number(options.limit);
/** Milliseconds between two kills, at most; from a tenth of it. */
const KILL_WITHIN = Math.max(40_000, instances * 80);
/** Milliseconds between two looks at the record, which counts all of its entries. */
const LOOK_EVERY = Math.max(1_000, instances * 2);
/** Milliseconds without a closed run after which a person answers what asks. */
const STALLED = 45_000;

const began = performance.now();
const say = (text: string) =>
  void process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${text}\n`);

const cluster = await startCluster({ fsync: true });
process.once('SIGINT', () => process.exit(130));
try {
  process.exitCode = await trial();
} finally {
  await cluster.remove();
}

async function trial(): Promise<number> {
  const database = await cluster.makeDatabase();
  const shares =
    options.faults === 'none' ? [] : ['--faults', options.faults, '--late-by', options['late-by']];
  const stage = await openStage({
    cli: builtProduct({ cheapVault: true }).cli,
    cluster,
    database,
    instances,
    workers: workerCount,
    concurrency: Number(options.concurrency),
    limit,
    lab: ['--task-time', options['task-time'], '--seed', options.seed, ...shares],
    profile: options.profile,
    say,
  });
  const { children } = stage;
  try {
    const workers = await Promise.all(Array.from({ length: workerCount }, (_, at) => stage.startWorker(at)));
    say(`${instances} instances, ${workerCount} workers`);

    const started = performance.now();
    await stage.beginPlan();
    const { given, spent } = await killing(workers);
    const seconds = (performance.now() - started) / 1000;
    spent.push(...workers.map(({ pid }) => usedBy(pid)));
    for (const worker of workers) {
      worker.kill('SIGTERM');
      const [code] = (await once(worker, 'close')) as [number | null];
      if (code !== 0) throw new Error(`a worker that was asked to stop ended with ${code}`);
    }
    const { entries } = await stage.standing();
    const most = await stage.mostAtWork();
    const { performed, twice } = recoveries(await stage.count());
    const processor = spent.reduce((sum, one) => sum + one.seconds, 0);
    printFigures({
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
      'carried out twice': twice.length,
    });
    for (const line of twice) process.stdout.write(`${line}\n`);
    if (options.listings) printFigures(await listings(stage));
    const hosts = Number(options.ansible);
    if (hosts > 0) {
      const { seconds: playing, processorSeconds } = await besideAnsible(stage.folder, hosts);
      printFigures({
        'hosts of ansible-playbook': hosts,
        'its seconds': playing,
        'its processor seconds for each host': processorSeconds / hosts,
        'a run of the workers against that': processor / children / (processorSeconds / hosts),
      });
    }
    if (options.stay) {
      say(`LIFEBOAT_STORE='${cluster.address(database)}' LIFEBOAT_HOME=${stage.folder}/operator`);
      await new Promise(() => undefined);
    }
    return twice.length === 0 && performed + given >= instances && most <= limit ? 0 : 1;
  } finally {
    stage.end(options.keep);
  }

  /** Until the plan is over. Gives what a person gave up, and what the dead workers had used. */
  async function killing(workers: ChildProcess[]) {
    const draw = randomFrom(Number(options.seed));
    const victims = Array.from({ length: Number(options.kills) * workerCount }, (_, at) => at % workerCount);
    const wait = () => KILL_WITHIN * (0.1 + 0.9 * draw());
    let killAt = performance.now() + wait();
    let isTruncated = false;
    let given = 0;
    let last = { closed: 0, at: performance.now() };
    const spent: Used[] = [];
    for (;;) {
      await delay(LOOK_EVERY);
      const { open, closed, entries, isOver } = await stage.standing();
      if (closed !== last.closed) last = { closed, at: performance.now() };
      if (isOver) return { given, spent };
      if (performance.now() > killAt && victims.length > 0) {
        const at = victims.shift() ?? 0;
        const victim = workers[at];
        spent.push(usedBy(victim?.pid));
        victim?.kill('SIGKILL');
        if (victim !== undefined) await once(victim, 'close');
        workers[at] = await stage.startWorker(at);
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
        given += await stage.answer();
        last = { closed, at: performance.now() };
      }
    }
  }
}
