import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { createLabClock } from './clock.ts';
import { Platform } from './cloud-foundry/platform.ts';
import { platformFace } from './cloud-foundry/platform-routes.ts';
import type { InstanceData } from './data/instance-data.ts';
import { makePostgresEngine } from './engine/engine.ts';
import { engineUser, makeLauncher } from './engine/launcher.ts';
import { locatePostgres } from './engine/locate-postgres.ts';
import { claimHome, openStateFolder, sweepHomes } from './home.ts';
import { endpointsOf } from './http/endpoints.ts';
import { openHttp } from './http/serve.ts';
import { makeTokens } from './http/tokens.ts';
import { DEFAULT_INSTANCES, makeInstances } from './instance-plan.ts';
import { labConfig } from './lab-config.ts';
import type { Lab, LabOptions } from './lab-contract.ts';
import { makeLabState } from './lab-state.ts';
import { ORG, SPACE } from './landscape.ts';
import { BackupStore } from './manager/store.ts';
import { TaskQueue } from './manager/task-queue.ts';
import { writeSockets } from './query-sample-data.ts';
import { keepOrdering } from './sample-data.ts';
import { endTimeline, playScenario } from './scenarios/play-scenario.ts';
import { startSchedule } from './schedule.ts';

export type { Lab, LabOptions, Scratch } from './lab-contract.ts';

const SAMPLE_APP_DEFAULT = { rowsPerSecond: 5 };
/** Section 8 of service-api.md. */
const ROUTER_MS = 15 * 60_000;
/** The Backup Manager's default. */
const WORKERS = 4;

/**
 * Starts the service with the requested instances. Resolves when all of it answers. Rejects with
 * `lab.no-postgres`, `lab.postgres`, `lab.port`, `lab.folder`, `lab.instance`, `lab.backup`, `lab.fault`,
 * `lab.scenario`, after removing what it made. When the process dies, its databases end with it, and the next
 * lab removes their files.
 */
export async function startLab(options: LabOptions = {}): Promise<Lab> {
  const log = options.log ?? (() => undefined);
  const ending = new AbortController();
  const cleanups: (() => Promise<unknown>)[] = [];
  const tidyUp = async () => {
    ending.abort();
    for (const cleanup of cleanups.toReversed()) {
      await cleanup().catch((error: unknown) => log(`could not clean up: ${String(error)}`));
    }
  };
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= tidyUp();
    return closed;
  };
  let ready = false;
  const abort = () => (ready ? void close() : ending.abort());
  options.signal?.addEventListener('abort', abort, { signal: ending.signal });
  if (options.signal?.aborted === true) ending.abort();
  try {
    const lab = await assemble(options, { log, ending: ending.signal, cleanups, close });
    ending.signal.throwIfAborted();
    ready = true;
    return lab;
  } catch (error) {
    await close();
    // An abort makes other work fail; report the abort.
    options.signal?.throwIfAborted();
    throw error;
  }
}

interface Frame {
  readonly log: (line: string) => void;
  readonly ending: AbortSignal;
  /** Called in reverse order. */
  readonly cleanups: (() => Promise<unknown>)[];
  readonly close: () => Promise<void>;
}

async function assemble(options: LabOptions, { log, ending, cleanups, close }: Frame): Promise<Lab> {
  const { revision = 62 } = options;
  ending.throwIfAborted();
  const located = locatePostgres();
  const http = await openHttp(options.port ?? 0);
  cleanups.push(() => http.close());
  const sweeping = sweepHomes(log);
  cleanups.push(() => sweeping);
  const launcher = await makeLauncher(await engineUser());
  const home = await claimHome(launcher.user);
  cleanups.push(() => home.release());
  const folder = await openStateFolder(
    options.folder,
    home,
    (options.instances ?? DEFAULT_INSTANCES).map(({ name }) => name),
  );
  cleanups.push(() => folder.release());

  const engine = await makePostgresEngine({
    located,
    launcher,
    folder: home.engine,
    fsync: options.fsync ?? true,
    emptyDatabase: options.emptyDatabase,
    signal: ending,
  });
  const clock = createLabClock();
  const queue = new TaskQueue(options.workers ?? WORKERS, { now: clock.now, log });
  const datas: InstanceData[] = [];
  // In parallel: a backup of a database that hangs ends only when the database is stopped.
  cleanups.push(() => Promise.all([queue.close(), engine.close(), ...datas.map((data) => data.remove())]));
  log(`${engine.description} starts`);
  const made = await makeInstances(options.instances ?? DEFAULT_INSTANCES, {
    engine,
    queue,
    store: new BackupStore(join(folder.path, 'store')),
    clock,
    folder: folder.path,
    log,
    made: (data) => datas.push(data),
    signal: ending,
  });
  ending.throwIfAborted();
  const instances = made.map(({ instance }) => instance);
  await writeSockets(
    folder.path,
    Object.fromEntries(instances.map(({ name, data }) => [name, data.socketFolder])),
  );
  const { rowsPerSecond } = options.sampleApp ?? SAMPLE_APP_DEFAULT;
  let platform: Platform | undefined;
  if (options.platform === false) {
    for (const { instance, wish } of made) {
      if (wish.sampleApp === true) void keepOrdering(instance.data.query, rowsPerSecond, ending);
    }
  } else {
    platform = new Platform({
      ...options.platform,
      clock,
      launcher,
      folder: join(home.state, 'apps'),
      instances: made.map(({ instance, wish }) => ({ instance, sampleApp: wish.sampleApp === true })),
      rowsPerSecond,
      log,
    });
    const opened = platform;
    cleanups.push(() => opened.close());
    await platform.open();
  }

  const tokens = await makeTokens(folder.path);
  const endpoints = endpointsOf(revision);
  const { origin } = http;
  const schedule = startSchedule(instances, clock, ending);
  const state = makeLabState(
    {
      origin,
      engine: engine.description,
      revision,
      instances,
      tokens,
      clock,
      queue,
      schedule,
      settings: {
        routerMs: options.routerMs ?? ROUTER_MS,
        updateBlocking: options.updateBlocking ?? true,
        downloads: options.downloads ?? 'present-key',
      },
      sso: options.sso ?? true,
      platform: platform && platformFace({ platform, tokens, origin, log }),
      closing: ending,
      log,
    },
    endpoints,
  );
  http.serve(state, endpoints);
  const listed = made.map(({ instance: { name, guid, data }, wish, keyFile }) => ({
    name,
    guid,
    keyFile,
    query: data.query,
    apps: (platform?.apps ?? []).filter(({ facts }) => facts.instance === name).map((app) => app.name),
    role: wish.sampleApp === true || wish.key === true ? ('source' as const) : ('target' as const),
  }));
  const configYaml = labConfig({
    origin,
    revision,
    tokenFile: tokens.file,
    routerMs: options.routerMs,
    platform: platform && { org: ORG.name, space: SPACE.name },
    instances: listed.map((one) => ({ ...one, query: options.queryCommand?.(one.name, folder.path) })),
  });
  await writeFile(join(folder.path, 'lifeboat.yaml'), configYaml, { mode: 0o600 });
  schedule.backupEvery(options.backupEvery);
  schedule.maintenanceEvery(options.maintenanceEvery);
  await sweeping;
  if (options.scenario !== undefined) playScenario(options.scenario, state, ending);
  for (const fault of options.faults ?? []) state.faults.add(fault);

  let scratches = 0;
  return {
    url: origin,
    revision,
    folder: folder.path,
    tokenFile: tokens.file,
    keyFile: listed.find(({ keyFile }) => keyFile !== undefined)?.keyFile ?? join(folder.path, 'key'),
    configYaml,
    instances: listed,
    clock,
    platform,
    disaster: async (wanted, lost) => {
      const instance = state.instanceNamed(wanted);
      if (instance === undefined) {
        throw new LifeboatError('lab.instance', `the lab has no instance ${show(wanted)}`);
      }
      await (lost ? instance.lose() : instance.bringBack());
    },
    fault: (fault) => state.faults.add(fault),
    clearFaults: () => state.clearFaults(),
    atRest: () => queue.atRest(),
    play: (scenario) => playScenario(scenario, state, ending),
    endTimeline: () => endTimeline(state),
    calls: () => [...state.calls],
    openScratch: async (content, { name }) => {
      scratches += 1;
      const database = await engine.restore(`scratch-${scratches}`, content);
      log(`scratch instance ${name} is up`);
      return { query: database.query, close: () => database.remove() };
    },
    close,
  };
}
