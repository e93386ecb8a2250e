import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openStoreOf } from '../../src/compose/store-of.ts';
import { signerOf } from '../bench-kit/key-store.ts';
import { lookOn } from '../bench-kit/look-on.ts';
import { againAlone, openNetwork } from '../bench-kit/network.ts';
import { startCluster } from '../bench-kit/postgres.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { openStage, printFigures, recoveries } from './stage.ts';
import { usedBy } from './used-by.ts';

/*
 * `npm run test:onlookers`: workers recover a plan of many instances, while people come to look at its page,
 * each crowd on a host of its own behind a proxy's header. Then the crowd's network is cut and its process
 * killed, so that nobody hears of their end. Between two crowds nobody looks on. An entry is appended some
 * thirty times a second, to compare how long that takes with a crowd and without. Exit code 1 when a page did
 * not come, a dead connection stays, the page's memory grows from crowd to crowd, or a call was made twice; 2
 * where the machine lets nobody make networks.
 */
const { values: options } = parseArgs({
  options: {
    instances: { type: 'string', default: '500' },
    lookers: { type: 'string', default: '200' },
    /** How long a crowd stays, and how long nobody is there between two of them, in seconds. */
    period: { type: 'string', default: '20' },
    crowds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
    /** This process is alone in a network of its own. */
    alone: { type: 'boolean', default: false },
  },
});

const [TEAM, SERVICE, PAGE] = ['team', 'service', 'page'] as const;
const crowds = Array.from({ length: Number(options.crowds) }, (_, at) => `crowd-${at}`);
const LIMIT = 40;
const WORKERS = 2;
const PORT = 8437;
const PROBE = 'run/probe';
/** Milliseconds between two appends of the probe. */
const PAUSE_MS = 30;
/** How long a connection without a peer may stay: the page ends each stream within eight beats of 15 s. */
const DROPPED_MS = 150_000;
const PASSWORD = 'of-the-page';

const began = performance.now();
const say = (text: string) =>
  void process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${text}\n`);

process.exitCode = options.alone ? await trial() : await againAlone();

/** What is measured while a crowd looks on, or nobody does. */
interface Period {
  /** How long each append of the probe took, in milliseconds. */
  readonly times: readonly number[];
  /** Runs closed a second. */
  readonly rate: number;
}

async function trial(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  await using opened = new AsyncDisposableStack();
  const network = await openNetwork(TEAM, SERVICE, [PAGE, ...crowds]);
  opened.defer(() => network.close());
  const cluster = await startCluster({ fsync: true, listen: network.address(TEAM) });
  opened.defer(() => cluster.remove());
  const database = await cluster.makeDatabase();
  const pages = `${network.address(PAGE)}:${PORT}`;
  const stage = await openStage({
    cli: builtProduct({ cheapVault: true }).cli,
    cluster,
    database,
    instances: Number(options.instances),
    workers: WORKERS,
    concurrency: 8,
    limit: LIMIT,
    lab: ['--task-time', '1s-5s', '--seed', options.seed],
    config: {
      serve: {
        listen: pages,
        trustedProxies: crowds.map((crowd) => network.address(crowd)),
        identity: { header: 'X-Forwarded-User' },
      },
    },
    placeOf: (name) => {
      if (name === SERVICE || name === 'lab') return { under: network.on(SERVICE) };
      if (name !== PAGE) return {};
      const store = `postgres://lifeboat_page@${network.address(TEAM)}:${cluster.port}/${database}`;
      return {
        under: network.on(PAGE),
        env: { LIFEBOAT_STORE: `${store}?sslmode=disable`, PGPASSWORD: PASSWORD },
      };
    },
    say,
  });
  opened.defer(() => stage.end(options.keep));
  // As serve.md gives the pages a user of the database.
  await cluster.query(
    `create role lifeboat_page login password '${PASSWORD}';
     grant usage on schema lifeboat to lifeboat_page;
     grant select on all tables in schema lifeboat to lifeboat_page;`,
    database,
  );
  const home = join(stage.folder, 'operator');
  const journal = await openStoreOf(
    { env: { LIFEBOAT_STORE: cluster.address(database), LIFEBOAT_HOME: home } },
    { by: 'Robin', signer: await signerOf(home) },
  );
  opened.defer(() => journal.close());
  const hold = await journal.hold(PROBE);

  const workers = await Promise.all(Array.from({ length: WORKERS }, (_, at) => stage.startWorker(at)));
  await stage.beginPlan();
  const [plan] = await stage.entries('run.started');
  const path = `/${plan?.stream.replace('run/', 'runs/')}`;
  const { child: page, said } = stage.start(PAGE, 'serve');
  await said('the page is at');
  say(`${stage.children} runs, ${options.lookers} people at http://${pages}${path}`);

  /** Measures until this much time has passed. */
  const measure = async (seconds: number): Promise<Period> => {
    const times: number[] = [];
    const { closed: before } = await stage.standing();
    const start = performance.now();
    while (performance.now() - start < seconds * 1_000) {
      const begun = performance.now();
      await journal.append([{ stream: PROBE, type: 'note', body: { at: times.length } }], [hold]);
      times.push(performance.now() - begun);
      await delay(PAUSE_MS);
    }
    const took = (performance.now() - start) / 1_000;
    return { times, rate: ((await stage.standing()).closed - before) / took };
  };
  const [program = '', ...before] = [...network.on(PAGE), 'ss', '-Htn', 'state', 'established'];
  const connections = () => {
    const listed = execFileSync(program, [...before, `( sport = :${PORT} )`], { encoding: 'utf8' });
    return listed.split('\n').filter((line) => line.trim() !== '').length;
  };

  const period = Number(options.period);
  // The workers compile their code first.
  await measure(period);
  const [without, withThem]: [Period[], Period[]] = [[], []];
  const memory: number[] = [];
  let [came, lost, most] = [0, 0, 0];
  for (const crowd of crowds) {
    without.push(await measure(period));
    const lookers = lookOn(`http://${pages}`, path, Number(options.lookers), network.on(crowd));
    await lookers.there;
    withThem.push(await measure(period));
    most = Math.max(most, connections());
    memory.push(usedBy(page.pid).residentMiB);
    network.cut(PAGE, crowd);
    network.cut(crowd, PAGE);
    const counted = await lookers.end();
    came += counted.pages;
    lost += counted.lost;
    say(`${crowd}: ${counted.pages} pages, page ${Math.round(memory.at(-1) ?? 0)} MiB; cut off and killed`);
  }
  const { isOver } = await stage.standing();
  const cutAt = performance.now();
  while (connections() > 0 && performance.now() - cutAt < DROPPED_MS) await delay(1_000);
  const stayed = connections();
  const dropped = (performance.now() - cutAt) / 1_000;
  const { seconds: processor } = usedBy(page.pid);
  for (const child of [page, ...workers]) {
    child.kill('SIGTERM');
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`a process that was asked to stop ended with ${code}`);
  }
  await hold.release();

  const { twice } = recoveries(await stage.count());
  const at = (of: readonly Period[], part: number) => {
    const times = of.flatMap((one) => one.times).sort((one, other) => one - other);
    return times[Math.floor(times.length * part)] ?? Number.NaN;
  };
  const rate = (of: readonly Period[]) => of.reduce((sum, one) => sum + one.rate, 0) / of.length;
  printFigures({
    'people at once': Number(options.lookers),
    'connections at once, at most': most,
    'pages loaded': came,
    'pages that did not come': lost,
    'median append without them, ms': at(without, 0.5),
    'with them against that': at(withThem, 0.5) / at(without, 0.5),
    'slowest append of a hundred without them, ms': at(without, 0.99),
    'with them against that, slowest of a hundred': at(withThem, 0.99) / at(without, 0.99),
    'runs closed a second without them': rate(without),
    'runs closed a second with them': rate(withThem),
    'processor seconds of the page': processor,
    ...Object.fromEntries(memory.map((mib, nth) => [`page with crowd ${nth}, MiB`, mib])),
    'dead connections that stayed': stayed,
    'seconds until the last was dropped': dropped,
    'carried out twice': twice.length,
  });
  if (isOver) say('the plan ended before the last crowd had gone: take more instances');
  const grows = (memory.at(-1) ?? 0) > 1.5 * (memory[1] ?? Number.POSITIVE_INFINITY);
  return lost === 0 && stayed === 0 && !grows && twice.length === 0 ? 0 : 1;
}
