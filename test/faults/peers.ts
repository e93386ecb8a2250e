import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CANARIES } from '../bench-kit/canaries.ts';
import { type ForeignCapi, startForeignCapi } from '../bench-kit/foreign/capi.ts';
import { type ForeignServer, startForeignServer } from '../bench-kit/foreign/server.ts';
import { packHere } from '../bench-kit/pack-here.ts';
import type { Certificates } from './certificates.ts';
import { Director, type Plan } from './director.ts';
import { BY_TLS, NAMES_OLD } from './faults.ts';
import { type FaultProxy, startProxy } from './proxy.ts';
import { type Peer, routeOf } from './seen.ts';
import { restoreOnce } from './tasks.ts';

/** A service, and a platform where the flow needs one, each behind a proxy that injects the faults. */
export interface Peers {
  readonly server: ForeignServer;
  readonly capi: ForeignCapi | undefined;
  readonly director: Director;
  readonly caFile: string | undefined;
  readonly platformUrl: string | undefined;
  /** The names of the instances by their id. */
  readonly names: ReadonlyMap<string, string>;
  /** The dashboard address of an instance, through the proxy. */
  urlOf(name: string): string;
  /** Requests to another origin that changed something or carried credentials. */
  strayed(): number;
  close(): Promise<void>;
}

export interface PeersOptions {
  readonly revision: 61 | 62;
  readonly platform: boolean;
  readonly certificates?: Certificates | undefined;
  readonly plan?: Plan | undefined;
  /**
   * How long a backup, a restore or an action takes. Milliseconds; default: long enough to be looked at some
   * times.
   */
  readonly taskMs?: number;
}

/** Opens both on loopback, until they are closed. */
export async function openPeers({
  revision,
  platform,
  certificates,
  plan,
  taskMs = 3_000,
}: PeersOptions): Promise<Peers> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-faults-'));
  const proxies: Partial<Record<Peer, FaultProxy>> = {};
  const elsewhere = await openElsewhere();
  const shown = plan !== undefined && BY_TLS.has(plan.fault) ? certificates : undefined;
  const director = new Director(plan, { server: () => server, proxies, elsewhere, certificates: shown });
  const server = await startForeignServer({
    folder,
    revision,
    key: CANARIES.oldKey,
    token: CANARIES.token,
    taskMs,
    packing: packHere,
    trouble: ({ method }) => {
      const task = method === 'GET' ? undefined : director.takeWish();
      return task === undefined ? undefined : { task };
    },
  });
  if (plan !== undefined && NAMES_OLD.has(plan.fault)) await restoreOnce(server);
  const names = new Map(server.instances.map(({ guid, name }) => [guid, name]));
  const proxyTo = (peer: Peer, to: string) =>
    startProxy({
      to,
      identity: shown?.good,
      pass: (passing) => director.pass(peer, routeOf(peer, passing.method, passing.url, names), passing),
    });
  const { origin } = new URL(server.url);
  const service = await proxyTo('service', origin);
  proxies.service = service;
  const urlOf = (name: string) => server.urlOf(name).replace(origin, service.origin);
  const capi = platform ? await openCapi(urlOf('orders')) : undefined;
  if (capi !== undefined) proxies.platform = await proxyTo('platform', capi.url);
  return {
    server,
    capi,
    director,
    caFile: shown?.caFile,
    platformUrl: proxies.platform?.origin,
    names,
    urlOf,
    strayed: elsewhere.strayed,
    close: async () => {
      director.end();
      for (const proxy of Object.values(proxies)) await proxy.close();
      await server.close();
      await capi?.close();
      await elsewhere.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** How often each thing was done that must not be done twice, by those who do it. */
export function effectsOn({ server, capi, names }: Peers): ReadonlyMap<string, number> {
  const effects = new Map<string, number>();
  const add = (what: string) => effects.set(what, (effects.get(what) ?? 0) + 1);
  for (const { method, path, did } of server.calls) {
    const isRepeatable = /\/(?:backups-config|broker\/edit|prepare|download)$/u.test(path);
    if (method !== 'GET' && did && !isRepeatable) add(routeOf('service', method, path, names));
  }
  for (const { method, path, answered } of capi?.wishes ?? []) {
    const isOnce = /credential_bindings|\/v3\/(?:builds|deployments)$/u.test(path) && method !== 'PATCH';
    if (isOnce && answered !== undefined && Number(answered) < 300)
      add(routeOf('platform', method, path, names));
  }
  return effects;
}

/** One application, bound for an hour. */
async function openCapi(dashboard: string): Promise<ForeignCapi> {
  const capi = await startForeignCapi({ token: CANARIES.otherToken, jobMs: 300 });
  const { land } = capi;
  const space = land.addSpace('prod', 'acme');
  const orders = land.addInstance({ name: 'orders db', space, dashboardUrl: `${dashboard}/` });
  const app = land.addApp({ name: 'orders-api', space }, { web: 1 });
  land.addBinding({ instance: orders, app, name: 'db' });
  land.start(app);
  for (const one of app.processes) if (one.startedAt !== undefined) one.startedAt -= 3_600_000;
  return capi;
}

/** Where a redirect leads to. */
async function openElsewhere() {
  let count = 0;
  const server = createServer(({ headers, method }, response) => {
    if (method !== 'GET' || headers.authorization !== undefined || headers.cookie !== undefined) count += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    strayed: () => count,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
