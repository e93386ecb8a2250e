import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { LifeboatError } from '../errors.ts';
import { show } from '../text.ts';
import type { Call } from './calls.ts';
import { createLabClock, type LabClock } from './clock.ts';
import type { InstanceData } from './data/instance-data.ts';
import type { Query } from './engine/engine.ts';
import { engineUser, makeLauncher } from './engine/launcher.ts';
import { makePostgresEngine } from './engine/postgres-engine.ts';
import type { Fault } from './faults.ts';
import { ORG, SPACE } from './foundry/places.ts';
import { Platform, type PlatformOptions } from './foundry/platform.ts';
import { platformFace } from './foundry/platform-routes.ts';
import { claimHome, sweepHomes } from './home.ts';
import type { Revision } from './http/endpoint.ts';
import { endpointsOf } from './http/endpoints.ts';
import { openHttp } from './http/serve.ts';
import { makeTokens } from './http/tokens.ts';
import { DEFAULT_INSTANCES, type InstanceWish, makeInstances } from './instance-plan.ts';
import { labConfig } from './lab-config.ts';
import { LabState } from './lab-state.ts';
import { BackupStore } from './manager/store.ts';
import { TaskQueue } from './manager/task-queue.ts';
import { writeSockets } from './query-shop.ts';
import { playScenario } from './scenarios/play-scenario.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { startSchedule } from './schedule.ts';
import { keepOrdering } from './shop/writer.ts';
import { openStateFolder } from './state-folder.ts';

export interface LabOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly revision?: Revision;
  /** `orders` with a shop, a key and continuous archiving, and `orders-dr`, empty, by default. */
  readonly instances?: readonly InstanceWish[];
  /** For tokens, keys and stored backups: empty or new, and removed at the end. Default: a temporary folder. */
  readonly folder?: string;
  readonly faults?: readonly Fault[];
  /** Begins when all of the lab answers; it ends the `faults` above. */
  readonly scenario?: Scenario;
  /** Orders that each shop places in a second, 5 by default; 0 stops it after the first ones. */
  readonly shop?: { readonly rowsPerSecond: number };
  /** An application platform with applications that talk to the databases; on by default, `false` takes it away. */
  readonly platform?: PlatformOptions | false;
  /**
   * A shell command for an instance of the lab in this folder that prints what `queryShop` gives; it stands in the config then.
   * None by default.
   */
  readonly queryCommand?: (instance: string, folder: string) => string;
  /** On by default. Off, databases start and back up faster, and do not survive a crash of the machine. */
  readonly fsync?: boolean;
  /** Tasks that the Backup Manager works on at once; 4 by default. */
  readonly workers?: number;
  /** Seconds of the lab's clock between scheduled backups of each instance that is not excluded; none by default. */
  readonly backupEvery?: number;
  /** Seconds of the lab's clock between maintenance of each instance that allows it; none by default. */
  readonly maintenanceEvery?: number;
  /** Whether the dashboard address has a sign-on that redirects and sets a cookie; on by default. */
  readonly sso?: boolean;
  readonly log?: (line: string) => void;
  /** Stops the start, or closes the lab. */
  readonly signal?: AbortSignal;
}

/** A database brought back from a backup, beside the instances. */
export interface Scratch {
  readonly query: Query;
  close(): Promise<void>;
}

export interface Lab {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly revision: Revision;
  readonly folder: string;
  /** The token that may do everything; `token-readonly` beside it may only look. */
  readonly tokenFile: string;
  /** The key of the first instance that has one, under which its first backup was made; where none has, no file is there. */
  readonly keyFile: string;
  /** A lifeboat.yaml for all instances; it also stands in the folder. */
  readonly configYaml: string;
  readonly instances: readonly {
    readonly name: string;
    readonly guid: string;
    /** As the superuser; rejects while the server is down. */
    readonly query: Query;
    readonly keyFile: string | undefined;
  }[];
  /** The time of the service. */
  readonly clock: LabClock;
  /** How the applications are; undefined without a platform. */
  readonly platform: Pick<Platform, 'appStates' | 'appsReach'> | undefined;
  /** Takes an instance away or brings it back, by name or guid; rejects with `lab.instance` when there is none. */
  disaster(instance: string, lost: boolean): Promise<void>;
  /** Lets something go wrong; throws `lab.fault` for a fault that could never happen. */
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Resolves when no task of the service is at work. */
  atRest(): Promise<void>;
  /** Begins a scenario in the place of the one before; throws `lab.scenario` or `lab.fault` for one that cannot happen. */
  play(scenario: Scenario): void;
  /** Mutating calls that the service carried out, in order: what a crash test counts. */
  calls(): readonly Call[];
  /** Starts a PostgreSQL on the decrypted and unzipped tar of a backup; rejects with `lab.content` or `lab.postgres`. */
  openScratch(content: Readable, options: { readonly name: string }): Promise<Scratch>;
  /** Ends everything and removes every file. Safe to call twice. */
  close(): Promise<void>;
}

const SHOP_DEFAULT = { rowsPerSecond: 5 };
/** As many as the Backup Manager has by default. */
const WORKERS = 4;

/**
 * Starts the service on this machine, with the instances that were asked for. Resolves when all of it answers. Rejects
 * with `lab.postgres`, `lab.port`, `lab.folder`, `lab.instance`, `lab.backup`, `lab.fault`, `lab.scenario`, and has then removed what it made. When
 * the process dies, its databases end with it, and the next lab removes their files.
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
    // An abort makes whatever is under way fail; the abort is what happened.
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
    launcher,
    folder: home.engine,
    fsync: options.fsync ?? true,
    signal: ending,
  });
  const clock = createLabClock();
  const queue = new TaskQueue(options.workers ?? WORKERS, { now: clock.now, log });
  const datas: InstanceData[] = [];
  // Together: a backup of a database that hangs ends when the database is made to.
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
  const { rowsPerSecond } = options.shop ?? SHOP_DEFAULT;
  let platform: Platform | undefined;
  if (options.platform === false) {
    for (const { instance, wish } of made) {
      if (wish.shop === true) void keepOrdering(instance.data.query, rowsPerSecond, ending);
    }
  } else {
    platform = new Platform({
      ...options.platform,
      clock,
      launcher,
      folder: join(home.state, 'apps'),
      instances: made.map(({ instance, wish }) => ({ instance, shop: wish.shop === true })),
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
  const state = new LabState({
    origin,
    engine: engine.description,
    revision,
    instances,
    tokens,
    endpoints,
    clock,
    queue,
    schedule,
    sso: options.sso ?? true,
    platform: platform && platformFace({ platform, tokens, origin, log }),
    closing: ending,
    log,
  });
  http.serve(state, endpoints);
  const listed = made.map(({ instance: { name, guid, data }, wish, keyFile }) => ({
    name,
    guid,
    keyFile,
    query: data.query,
    apps: (platform?.apps ?? []).filter(({ facts }) => facts.instance === name).map((app) => app.name),
    role: wish.shop === true || wish.key === true ? ('source' as const) : ('target' as const),
  }));
  const configYaml = labConfig({
    origin,
    revision,
    tokenFile: tokens.file,
    platform: platform && { org: ORG.name, space: SPACE.name },
    instances: listed.map((one) => ({ ...one, query: options.queryCommand?.(one.name, folder.path) })),
  });
  await writeFile(join(folder.path, 'lifeboat.yaml'), configYaml, { mode: 0o600 });
  schedule.backupEvery(options.backupEvery);
  schedule.maintenanceEvery(options.maintenanceEvery);
  await sweeping;
  if (options.scenario !== undefined) playScenario(options.scenario, state, ending);
  for (const fault of options.faults ?? []) state.fault(fault);

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
    fault: (fault) => state.fault(fault),
    clearFaults: () => state.clearFaults(),
    atRest: () => queue.atRest(),
    play: (scenario) => playScenario(scenario, state, ending),
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
