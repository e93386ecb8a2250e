import { onTestFinished } from 'vitest';
import type { BoundApp } from '../../machines/parts/recovery-data.ts';
import { Secret } from '../../src/base/secret.ts';
import { openPlatform } from '../../src/platform/open.ts';
import type { Platform, RebindOptions } from '../../src/platform/platform.ts';
import {
  type ForeignCapi,
  type ForeignCapiOptions,
  type Mishap,
  startForeignCapi,
} from '../bench-kit/foreign/capi.ts';
import type { App, Binding, Land, ServiceInstance } from '../bench-kit/foreign/capi-land.ts';
import { refusal } from '../bench-kit/foreign/capi-words.ts';

export const DASHBOARD = 'https://dashboard.example.com/service-instances/4a1f';
export const RUN = '01K6ZX3T0RUN';
export const TOKEN = 'bearer tok-8d2f61ac90';

/** Quick looks, so that a test takes no longer than its calls. */
export const PACE = {
  firstMs: 2,
  slowestMs: 10,
  looks: 3,
  stagingMs: 2_000,
  startupMs: 300,
  patienceMs: 500,
};

/** What happens to the next call that fits: `DELETE /v3/service_credential_bindings/:guid`. */
export interface Fault {
  readonly call: RegExp;
  /** Of a look, only the answer counts. */
  readonly how: Mishap | (() => Mishap);
}

/** How an answer gets lost: before the work, after it, and by a router that got none. */
export const LOST: Readonly<Record<'reset-before' | 'reset-after' | 'gateway-after', Mishap>> = {
  'reset-before': { work: false, answer: 'lost' },
  'reset-after': { answer: 'lost' },
  'gateway-after': { answer: refusal(502, 0, 'CF-Gateway', 'the router got no answer') },
};

/** A refusal in the platform's words; nothing was done. */
export function problem(status: number, detail: string): Mishap {
  const title = status === 404 ? 'CF-ResourceNotFound' : 'CF-UnprocessableEntity';
  return { work: false, answer: refusal(status, status === 404 ? 10_010 : 10_008, title, detail) };
}

export interface Scene {
  readonly capi: ForeignCapi;
  readonly land: Land;
  /** Used once each, in order. */
  readonly faults: Fault[];
  /** Every change that was really made or begun, in order. */
  did(): readonly string[];
  readonly platform: Platform;
  readonly instance: ServiceInstance;
  readonly app: App;
  readonly binding: Binding;
  /** The application as `find` gives it. */
  readonly bound: BoundApp;
  readonly to: { readonly guid: string; readonly name: string };
  /** Ten minutes ago: the end of the restore. */
  readonly notBefore: string;
  readonly options: RebindOptions & { readonly notBefore: string };
}

export interface SceneOptions {
  readonly app?: Partial<App>;
  /** Milliseconds; default: an hour ago, for both of its instances. */
  readonly startedAt?: readonly [number, number];
  readonly binding?: Partial<Binding>;
  readonly capi?: Partial<ForeignCapiOptions>;
}

/** One application, bound to `orders` an hour ago, and the platform by its API. */
export async function scene(given: SceneOptions = {}): Promise<Scene> {
  const faults: Fault[] = [];
  const take = (call: string): Mishap | undefined => {
    const index = faults.findIndex((fault) => fault.call.test(call));
    const how = index < 0 ? undefined : faults.splice(index, 1)[0]?.how;
    return typeof how === 'function' ? how() : how;
  };
  const capi = await startForeignCapi({
    token: TOKEN.replace('bearer ', ''),
    jobMs: 4,
    // Whatever it names, every call has to arrive at the address that was configured.
    origin: 'https://api.elsewhere.example',
    mishap: ({ method, path }) => take(`${method} ${path}`),
    blind: (path) => take(`GET ${path}`)?.answer,
    ...given.capi,
  });
  onTestFinished(capi.close);
  const { land } = capi;
  const space = land.addSpace('prod', 'acme');
  const instance = land.addInstance({ name: 'orders', space, dashboardUrl: `${DASHBOARD}/` });
  const app = land.addApp({ name: 'orders-api', space, ...given.app }, processesOf(given));
  const [web, worker] = app.processes;
  if (web !== undefined && given.startedAt !== undefined) web.startedAt = given.startedAt[0];
  if (worker !== undefined && given.startedAt !== undefined) worker.startedAt = given.startedAt[1];
  const binding = land.addBinding({ app, instance, ...given.binding });
  const platform = await byApi(capi);
  const notBefore = new Date(Date.now() - 600_000).toISOString();
  return {
    capi,
    land,
    faults,
    did: () => capi.wishes.filter(({ did }) => did).map(({ method, path }) => `${method} ${path}`),
    platform,
    instance,
    app,
    binding,
    bound: {
      key: app.name,
      name: app.name,
      guid: app.guid,
      running: true,
      binding: { guid: binding.guid, ...(binding.name === null ? {} : { name: binding.name }) },
      from: 'platform',
    },
    to: { guid: instance.guid, name: 'orders' },
    notBefore,
    options: { signal: new AbortController().signal, mayLeave: () => undefined, runId: RUN, notBefore },
  };
}

/** Two instances; of two kinds where they were not started together. */
function processesOf({ startedAt }: SceneOptions): Record<string, number> {
  return startedAt === undefined ? { web: 2 } : { web: 1, worker: 1 };
}

/** The platform of that server by its API, closed with the test. */
export async function byApi(capi: ForeignCapi, tokens: () => string = () => TOKEN): Promise<Platform> {
  const platform = await openPlatform(
    { platform: { api: capi.url, token: { env: 'UNUSED' } } },
    {
      tokenOf: () => async () => new Secret(tokens()),
      env: {},
      limits: { retryBaseMs: 2, attempts: 3 },
      pace: PACE,
    },
  );
  if ('none' in platform) throw new Error(platform.none);
  onTestFinished(platform.close);
  return platform;
}
