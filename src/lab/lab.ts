import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LifeboatError } from '../base/errors.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { show } from '../base/text.ts';
import { createLabClock } from './clock.ts';
import { Platform } from './cloud-foundry/platform.ts';
import { platformFace } from './cloud-foundry/platform-routes.ts';
import { claimHome, openStateFolder, sweepHomes } from './home.ts';
import { postgresHost, withoutDatabase } from './host.ts';
import type { Revision } from './http/endpoint.ts';
import { endpointsOf } from './http/endpoints.ts';
import { openHttp } from './http/serve.ts';
import { makeTokens } from './http/tokens.ts';
import { DEFAULT_INSTANCES, makeInstances, ownKey, roleOf } from './instance-plan.ts';
import { type Lab, type LabOptions, makeLabState } from './lab-state.ts';
import { ORG, SPACE } from './landscape.ts';
import { TaskQueue } from './manager/task-queue.ts';
import { writeSockets } from './query-sample-data.ts';
import { keepOrdering } from './sample-data.ts';
import { endTimeline, playScenario } from './scenarios/play-scenario.ts';
import { startSchedule } from './schedule.ts';
import { simulatedHost } from './simulated/simulated-host.ts';
import { simulatedConfig, simulatedInstances } from './simulated/simulated-instances.ts';

export type { Lab, LabOptions, Scratch } from './lab-state.ts';

const SAMPLE_APP_DEFAULT = { rowsPerSecond: 5 };
const ROUTER_MS = 15 * 60_000;
const WORKERS = 4;
/** A simulated task only lets time pass. */
const SIMULATED_WORKERS = 1_000;
/** The name of the key that all simulated instances begin with. */
const SHARED = 'sim';

/**
 * Starts the service with its instances; resolves when all of it answers. Rejects with `lab.no-postgres`,
 * `lab.postgres`, `lab.port`, `lab.folder`, `lab.instance`, `lab.backup`, `lab.fault`, `lab.scenario` after a
 * clean-up. If the process dies, its databases end too; the next lab removes their files.
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
  const { simulated } = options;
  const simulating = simulated && simulatedHost(simulated);
  const wishes = simulated ? simulatedInstances(simulated.sources) : (options.instances ?? DEFAULT_INSTANCES);
  const hosting =
    simulating ??
    (await postgresHost({ fsync: options.fsync ?? true, emptyDatabase: options.emptyDatabase }));
  const http = await openHttp(options.port ?? 0);
  cleanups.push(() => http.close());
  const sweeping = sweepHomes(log);
  cleanups.push(() => sweeping);
  const home = await claimHome(hosting.user);
  cleanups.push(() => home.release());
  const folder = await openStateFolder(
    options.folder,
    home,
    simulated ? [SHARED] : wishes.map(({ name }) => name),
  );
  cleanups.push(() => folder.release());

  const clock = createLabClock();
  const host = await hosting.open({ home, folder: folder.path, now: clock.now, signal: ending });
  const { databases } = host;
  const queue = new TaskQueue(options.workers ?? (simulated ? SIMULATED_WORKERS : WORKERS), {
    now: clock.now,
    // Of ten thousand instances nobody reads a line for each task; `GET /lab/counts` has their number.
    log: simulated ? () => undefined : log,
  });
  // In parallel: a backup of a database that hangs ends only when the database is stopped.
  cleanups.push(() => Promise.all([queue.close(), host.close()]));
  if (databases !== undefined) log(`${host.description} starts`);
  const sharedKey = simulated && (await ownKey(folder.path, SHARED));
  const made = await makeInstances(wishes, {
    host,
    queue,
    clock,
    folder: folder.path,
    userKey: async (name) => sharedKey ?? (await ownKey(folder.path, name)),
    log,
    signal: ending,
  });
  ending.throwIfAborted();
  const instances = made.map(({ instance }) => instance);
  if (databases !== undefined) {
    await writeSockets(
      folder.path,
      Object.fromEntries(instances.map(({ name, data }) => [name, data.socketFolder])),
    );
  }
  const { rowsPerSecond } = options.sampleApp ?? SAMPLE_APP_DEFAULT;
  let platform: Platform | undefined;
  if (options.platform === false || databases === undefined) {
    for (const { instance, wish } of made) {
      if (wish.sampleApp === true) void keepOrdering(instance.data.query, rowsPerSecond, ending);
    }
  } else {
    platform = new Platform({
      ...options.platform,
      clock,
      launcher: databases.launcher,
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
      engine: host.description,
      isSimulated: simulated !== undefined,
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
    range: data.range,
    apps: (platform?.apps ?? []).filter(({ facts }) => facts.instance === name).map((app) => app.name),
    role: roleOf(wish),
    wish,
  }));
  const about = { origin, revision, tokenFile: tokens.file, routerMs: options.routerMs };
  const configYaml = simulated
    ? simulatedConfig({ ...about, instances: listed })
    : labConfig({
        ...about,
        platform: platform && { org: ORG.name, space: SPACE.name },
        instances: listed.map((one) => ({ ...one, query: options.queryCommand?.(one.name, folder.path) })),
      });
  await writeFile(join(folder.path, 'lifeboat.yaml'), configYaml, { mode: 0o600 });
  schedule.backupEvery(options.backupEvery);
  schedule.maintenanceEvery(options.maintenanceEvery);
  await sweeping;
  if (options.scenario !== undefined) playScenario(options.scenario, state, ending);
  for (const fault of options.faults ?? []) state.faults.add(fault);
  simulating?.begin();

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
    calls: () => state.calls.latest,
    counts: () => state.calls.counts,
    openScratch: async (content, { name }) => {
      if (databases === undefined) throw withoutDatabase();
      scratches += 1;
      const database = await databases.restore(`scratch-${scratches}`, content);
      log(`scratch instance ${name} is up`);
      return { query: database.query, close: () => database.remove() };
    },
    close,
  };
}

function labConfig(facts: {
  readonly origin: string;
  readonly revision: Revision;
  readonly tokenFile: string;
  /** Router timeout in milliseconds; undefined uses the platform's default. */
  readonly routerMs: number | undefined;
  /** Org and space of the applications; undefined without a platform. */
  readonly platform: { readonly org: string; readonly space: string } | undefined;
  readonly instances: readonly {
    readonly name: string;
    readonly guid: string;
    readonly role: 'source' | 'target';
    readonly keyFile: string | undefined;
    readonly apps: readonly string[];
    /** A shell command that prints its newest order and the number of orders. */
    readonly query: string | undefined;
  }[];
}): string {
  const { origin, revision, tokenFile, routerMs, platform, instances } = facts;
  const token = `{ file: ${JSON.stringify(tokenFile)} }`;
  const entries = instances.map(
    ({ name, guid, role, apps, query }) => `  ${name}:
    url: ${origin}/service-instances/${guid}
    revision: ${revision}
    token: ${token}
    role: ${role}
    objectives: { rto: 5m, rpo: 15m }
    inFlight: 2s
${routerMs === undefined ? '' : `    router: ${routerMs / 1000}s\n`}    rehearsal: true
${[...appLines(apps, platform), ...queryLine(query)].join('')}`,
  );
  const keys = instances.flatMap(({ name, keyFile }) =>
    keyFile === undefined
      ? []
      : `# The backups of ${name} are encrypted with a key in ${keyFile}; to be able to open them:
#   lifeboat keys add ${name} --file ${shellQuoted(keyFile)}
`,
  );
  return `# A lab on this machine; it is gone when the lab ends.
${keys.join('')}platform: ${platform === undefined ? 'none' : `{ api: '${origin}', token: ${token} }`}
lab: { url: '${origin}', token: ${token} }
instances:
${entries.join('')}`;
}

function appLines(
  apps: readonly string[],
  platform: { readonly org: string; readonly space: string } | undefined,
): readonly string[] {
  // The lab knows that nothing is bound, so a recovery need not ask.
  if (platform === undefined || apps.length === 0) return ['    apps: []\n'];
  const { org, space } = platform;
  return ['    apps:\n', ...apps.map((name) => `      - { name: ${name}, space: ${space}, org: ${org} }\n`)];
}

function queryLine(command: string | undefined): readonly string[] {
  return command === undefined ? [] : [`    reconcile: { command: ${JSON.stringify(command)} }\n`];
}
