import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CANARIES } from '../bench-kit/canaries.ts';
import { type ForeignCapi, startForeignCapi } from '../bench-kit/foreign/capi.ts';
import type { Product } from '../bench-kit/product.ts';
import { openBench, type TestBench } from '../bench-kit/test-bench.ts';
import { type Accident, FURTHER_PLACE, prepareFor } from './accident.ts';
import { type Approver, approverOf } from './approvers.ts';
import { freshDatabase, type TrialDatabase } from './database.ts';
import { runsIn } from './ledger.ts';
import type { Scene } from './scenes.ts';
import { openWire, type Wire } from './wire.ts';

/** Everything that one trial needs: a machine, a service, perhaps a platform, and the wires to both. */
export interface Stage {
  readonly scene: Scene;
  readonly product: Product;
  readonly bench: TestBench;
  /** Where the entries are, when they are not in the home. */
  readonly database: TrialDatabase | undefined;
  readonly capi: ForeignCapi | undefined;
  /** To the service, and to the platform. */
  readonly wires: readonly Wire[];
  /** Who approves, where an approval is needed. */
  readonly approver: Approver | undefined;
  /** The command that is struck: all of its words but the flags that answer a run's questions. */
  readonly words: readonly string[];
  /** How many requests the service had before the flow itself began. */
  readonly from: number;
  /** How many runs there were before the flow itself began. */
  readonly runsBefore: number;
  /** How many entries the run has that is struck: none, unless it was begun before. */
  readonly written: number;
  close(): Promise<void>;
}

/** How long a lost request may still arrive: longer than a late one of `wire.ts` takes. */
const IN_FLIGHT = '1s';
/** Done before it is first asked for, so that waiting is not where most of the time goes. */
const TASK_MS = 1;

/**
 * Sets everything up, up to the moment before the flow's own command. `accident`: what will befall the store.
 */
export async function openStage(product: Product, scene: Scene, accident?: Accident): Promise<Stage> {
  const { revision, errand, approval } = scene;
  const database = scene.store === 'postgres' ? await freshDatabase() : undefined;
  const bench = await openBench(product, {
    inFlight: IN_FLIGHT,
    taskMs: errand?.taskMs ?? TASK_MS,
    revision,
    ...(database === undefined ? {} : { store: database.address }),
  });
  const opened = performance.now();
  const wires: Wire[] = [];
  let capi: ForeignCapi | undefined;
  let approver: Approver | undefined;
  const close = async () => {
    await bench.close();
    await database?.drop();
    await Promise.all(wires.map((wire) => wire.close()));
    await capi?.close();
    approver?.close();
  };
  try {
    // One thread for files, so that what it asks the system for comes in one order.
    Object.assign(bench.env, { UV_THREADPOOL_SIZE: '1' });
    const service = new URL(bench.server.url).host;
    wires.push(await openWire(service));
    if (scene.hasPlatform) {
      capi = await startForeignCapi({ token: CANARIES.otherToken, jobMs: 2 });
      wires.push(await openWire(new URL(capi.url).host, { hidden: true }));
      furnish(bench, capi, wires);
    }
    configure(bench, service, wires, { apps: errand?.apps, hasFurtherPlace: accident !== undefined });
    if (approval !== undefined) approver = await approverOf(bench);
    for (const words of scene.before) {
      const { code, stderr } = await bench.run(...words);
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`);
    }
    await pause(Math.max(0, scene.ageMs - (performance.now() - opened)));
    const stage = { scene, product, bench, database, capi, wires, approver, close };
    const runsBefore = scene.before.length === 0 ? 0 : runsIn(await bench.entries()).length;
    const words = (await errand?.begin(stage)) ?? ['run', ...scene.args(bench)];
    const from = bench.server.calls.length;
    await prepareFor(accident, bench, database);
    if (approval !== 'given') return { ...stage, words, from, runsBefore, written: 0 };
    await bench.run(...words, '--yes', '--confirm', scene.confirm);
    await approver?.sign();
    const written = (await bench.entries()).filter(({ stream }) => stream.startsWith('run/')).length;
    return { ...stage, words: ['resume'], from, runsBefore, written };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Two applications and a service key on each restored instance: they give the follow-ups. */
function furnish(bench: TestBench, { land }: ForeignCapi, [service]: readonly Wire[]): void {
  const prod = land.addSpace('prod', 'acme');
  const [orders] = bench.server.instances.map(({ name }) =>
    land.addInstance({ name, space: prod, dashboardUrl: onWire(bench.server.urlOf(name), service) }),
  );
  if (orders === undefined) throw new Error('there is no instance');
  for (const name of ['shop', 'job']) {
    const app = land.addApp({ name, space: prod, ...(name === 'job' ? { state: 'STOPPED' as const } : {}) });
    land.addBinding({ instance: orders, app });
    if (app.state === 'STARTED') land.start(app);
    for (const one of app.processes) if (one.startedAt !== undefined) one.startedAt -= 3_600_000;
  }
  land.addBinding({ instance: orders, name: 'report' });
}

function configure(
  bench: TestBench,
  service: string,
  [toService, toPlatform]: readonly Wire[],
  { apps, hasFurtherPlace }: { readonly apps: string | undefined; readonly hasFurtherPlace: boolean },
): void {
  const path = bench.env['LIFEBOAT_CONFIG'] ?? '';
  let text = readFileSync(path, 'utf8').replaceAll(service, toService?.address ?? service);
  if (toPlatform !== undefined) {
    const token = join(bench.folder, 'platform-token');
    writeFileSync(token, `bearer ${CANARIES.otherToken}\n`, { mode: 0o600 });
    const api = `{ api: "http://${toPlatform.address}", token: { file: ./platform-token } }`;
    text = text.replace('platform: none', `platform: ${api}`);
  }
  if (hasFurtherPlace && !text.startsWith('checkpoints:'))
    text = `checkpoints: [./${FURTHER_PLACE}]\n${text}`;
  if (apps !== undefined) text = text.replace('  orders:\n    apps: []\n', `  orders:\n${apps}`);
  writeFileSync(path, text);
}

function onWire(url: string, wire: Wire | undefined): string {
  return url.replace(new URL(url).host, wire?.address ?? '');
}
