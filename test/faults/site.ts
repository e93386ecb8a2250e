import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ForeignCapi, startForeignCapi } from '../e2e/foreign/capi.ts';
import { type ForeignServer, startForeignServer } from '../e2e/foreign/server.ts';
import { CANARIES } from '../e2e/test-bench.ts';
import type { Certificates } from './certificates.ts';
import { Director, type Plan } from './director.ts';
import { BY_TLS, NAMES_OLD } from './faults.ts';
import { packHere } from './pack-here.ts';
import { type FaultProxy, startProxy } from './proxy.ts';
import { type Peer, routeOf } from './seen.ts';
import { restoreOnce } from './tasks.ts';

/** A service, and a platform where the flow needs one, each behind a way that can be made bad. */
export interface Site {
  readonly server: ForeignServer;
  readonly capi: ForeignCapi | undefined;
  readonly director: Director;
  readonly caFile: string | undefined;
  readonly platformUrl: string | undefined;
  /** The names of the instances by their id. */
  readonly names: ReadonlyMap<string, string>;
  /** The dashboard address of an instance, by the way that can be made bad. */
  urlOf(name: string): string;
  /** Requests that came to another origin with something that is none of its business. */
  strayed(): number;
  close(): Promise<void>;
}

export interface SiteOptions {
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
export async function openSite({
  revision,
  platform,
  certificates,
  plan,
  taskMs = 3_000,
}: SiteOptions): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-site-'));
  const ways: Partial<Record<Peer, FaultProxy>> = {};
  const elsewhere = await openElsewhere();
  const shown = plan !== undefined && BY_TLS.has(plan.fault) ? certificates : undefined;
  const director = new Director(plan, { server: () => server, ways, elsewhere, certificates: shown });
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
  const wayTo = (peer: Peer, to: string) =>
    startProxy({
      to,
      identity: shown?.good,
      pass: (passing) => director.pass(peer, routeOf(peer, passing.method, passing.url, names), passing),
    });
  const { origin } = new URL(server.url);
  const service = await wayTo('service', origin);
  ways.service = service;
  const urlOf = (name: string) => server.urlOf(name).replace(origin, service.origin);
  const capi = platform ? await openCapi(urlOf('orders')) : undefined;
  if (capi !== undefined) ways.platform = await wayTo('platform', capi.url);
  return {
    server,
    capi,
    director,
    caFile: shown?.caFile,
    platformUrl: ways.platform?.origin,
    names,
    urlOf,
    strayed: elsewhere.strayed,
    close: async () => {
      director.end();
      for (const way of Object.values(ways)) await way.close();
      await server.close();
      await capi?.close();
      await elsewhere.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** One application, bound for an hour. */
async function openCapi(dashboard: string): Promise<ForeignCapi> {
  const capi = await startForeignCapi({ token: CANARIES.otherToken, jobMs: 300 });
  const { land } = capi;
  const space = land.addSpace('prod', 'acme');
  const orders = land.addInstance({ name: 'orders db', space, dashboardUrl: `${dashboard}/` });
  const shop = land.addApp({ name: 'shop', space }, { web: 1 });
  land.addBinding({ instance: orders, app: shop, name: 'db' });
  land.start(shop);
  for (const one of shop.processes) if (one.startedAt !== undefined) one.startedAt -= 3_600_000;
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
