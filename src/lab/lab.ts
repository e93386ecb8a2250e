import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { LifeboatError } from '../errors.ts';
import type { Call } from './calls.ts';
import type { Engine, Query } from './engine/engine.ts';
import { engineUser, makeLauncher } from './engine/launcher.ts';
import { makePostgresEngine } from './engine/postgres-engine.ts';
import type { Fault } from './faults.ts';
import { claimHome, sweepHomes } from './home.ts';
import type { Revision } from './http/endpoint.ts';
import { endpointsOf } from './http/endpoints.ts';
import { openHttp } from './http/serve.ts';
import { makeTokens } from './http/tokens.ts';
import { LabInstance, newKey } from './instance.ts';
import { labConfig } from './lab-config.ts';
import { LabState } from './lab-state.ts';
import { BackupStore } from './manager/store.ts';
import { TaskQueue } from './manager/task-queue.ts';
import { openShop } from './shop/shop.ts';
import { keepOrdering } from './shop/writer.ts';
import { openStateFolder } from './state-folder.ts';

export interface LabOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly revision?: Revision;
  /** For tokens, keys and stored backups: empty or new, and removed at the end. Default: a temporary folder. */
  readonly folder?: string;
  readonly faults?: readonly Fault[];
  /** Orders that the shop places in a second, 5 by default; 0 stops it after the first ones. */
  readonly shop?: { readonly rowsPerSecond: number };
  /** On by default. Off, databases start and back up faster, and do not survive a crash of the machine. */
  readonly fsync?: boolean;
  /** Seconds between scheduled backups of each instance that is not excluded from them; none by default. */
  readonly backupEvery?: number;
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
  /** The key of `orders`, under which its first backup was made. */
  readonly keyFile: string;
  /** A lifeboat.yaml for both instances; it also stands in the folder. */
  readonly configYaml: string;
  readonly instances: readonly {
    readonly name: string;
    readonly guid: string;
    readonly query: Query;
  }[];
  /** Lets something go wrong; throws `lab.fault` for a fault that could never happen. */
  fault(fault: Fault): void;
  clearFaults(): void;
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
 * Starts the service on this machine: two instances, `orders` with a writing shop, a key and one backup, and
 * `orders-dr` empty. Resolves when all of it answers. Rejects with `lab.postgres`, `lab.port`, `lab.folder`,
 * `lab.backup`, and has then removed what it made. When the process dies, its databases end with it, and the next
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
  const folder = await openStateFolder(options.folder, home);
  cleanups.push(() => folder.release());

  const engine = await makePostgresEngine({
    launcher,
    folder: home.engine,
    fsync: options.fsync ?? true,
    signal: ending,
  });
  const queue = new TaskQueue(WORKERS, log);
  // Together: a backup of a database that hangs ends when the database is made to.
  cleanups.push(() => Promise.all([queue.close(), engine.close()]));
  log(`${engine.description} starts`);
  const store = new BackupStore(join(folder.path, 'store'));
  const [source, target] = await createInstances(engine, queue, store);
  ending.throwIfAborted();

  const key = newKey();
  const keyFile = join(folder.path, 'orders.key');
  await writeFile(keyFile, key.reveal(), { mode: 0o600 });
  source.setKey(key);
  await openShop(source.database.query);
  void keepOrdering(source.database.query, (options.shop ?? SHOP_DEFAULT).rowsPerSecond, ending);
  const first = source.triggerBackup();
  await first.ended;
  if (first.backup.task.status !== 'done') {
    throw new LifeboatError('lab.backup', 'the first backup of the lab failed', {
      hints: ['the line before says why; is the disk full?'],
    });
  }

  const tokens = await makeTokens(folder.path);
  const instances = [source, target];
  const endpoints = endpointsOf(revision);
  const { origin } = http;
  const state = new LabState({
    origin,
    engine: engine.description,
    revision,
    instances,
    tokens,
    endpoints,
    queue,
    closing: ending,
    log,
  });
  for (const fault of options.faults ?? []) state.fault(fault);
  http.serve(state, endpoints);
  const configYaml = labConfig({ origin, revision, tokenFile: tokens.file, keyFile, source, target });
  await writeFile(join(folder.path, 'lifeboat.yaml'), configYaml, { mode: 0o600 });
  void backUpRegularly(instances, options.backupEvery, ending);
  await sweeping;

  let scratches = 0;
  return {
    url: origin,
    revision,
    folder: folder.path,
    tokenFile: tokens.file,
    keyFile,
    configYaml,
    instances: instances.map(({ name, guid, database }) => ({ name, guid, query: database.query })),
    fault: (fault) => state.fault(fault),
    clearFaults: () => state.clearFaults(),
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

/** Both at once: most of the time goes into initialising their data folders. */
async function createInstances(
  engine: Engine,
  queue: TaskQueue,
  store: BackupStore,
): Promise<[LabInstance, LabInstance]> {
  const made = await Promise.allSettled([engine.create('orders'), engine.create('orders-dr')]);
  const [orders, standby] = made;
  if (orders.status === 'rejected') throw orders.reason;
  if (standby.status === 'rejected') throw standby.reason;
  return [
    new LabInstance(1, 'orders', { database: orders.value, queue, store }),
    new LabInstance(2, 'orders-dr', { database: standby.value, queue, store }),
  ];
}

async function backUpRegularly(
  instances: readonly LabInstance[],
  seconds: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (seconds === undefined) return;
  while (!signal.aborted) {
    await pause(seconds * 1000, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    for (const instance of instances) {
      if (!instance.settings.exclude_from_auto_backup) void instance.triggerBackup();
    }
  }
}
