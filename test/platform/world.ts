import { onTestFinished } from 'vitest';
import type { BoundApp } from '../../machines/parts/recovery-data.ts';
import { Secret } from '../../src/base/secret.ts';
import { openPlatform } from '../../src/platform/open.ts';
import type { Platform, RebindOptions } from '../../src/platform/platform.ts';
import type { ModelApp, ModelBinding } from './capi-model.ts';
import { type CapiServer, startCapi, TOKEN } from './capi-server.ts';

export const DASHBOARD = 'https://dashboard.example.com/service-instances/4a1f';
export const RUN = '01K6ZX3T0RUN';

/** Quick looks, so that a test takes no longer than its calls. */
export const PACE = {
  firstMs: 2,
  slowestMs: 10,
  looks: 3,
  stagingMs: 2_000,
  startupMs: 300,
  patienceMs: 500,
};

export interface Scene {
  readonly capi: CapiServer;
  readonly platform: Platform;
  readonly app: ModelApp;
  readonly binding: ModelBinding;
  /** The application as `find` gives it. */
  readonly bound: BoundApp;
  readonly to: { readonly guid: string; readonly name: string };
  /** Ten minutes ago: the end of the restore. */
  readonly notBefore: string;
  readonly options: RebindOptions & { readonly notBefore: string };
}

/** One application, bound to `orders` an hour ago, and the platform by its API. */
export async function scene(
  overrides: { readonly app?: Partial<ModelApp>; readonly binding?: Partial<ModelBinding> } = {},
): Promise<Scene> {
  const capi = await startCapi();
  onTestFinished(() => capi[Symbol.asyncDispose]());
  const { model } = capi;
  const guid = model.addInstance('orders', `${DASHBOARD}/`);
  const app = model.addApp('orders-api', overrides.app);
  const binding = model.addBinding(app, guid, overrides.binding);
  const platform = await byApi(capi);
  const notBefore = new Date(Date.now() - 600_000).toISOString();
  return {
    capi,
    platform,
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
    to: { guid, name: 'orders' },
    notBefore,
    options: { signal: new AbortController().signal, mayLeave: () => undefined, runId: RUN, notBefore },
  };
}

/** The platform of that server by its API, closed with the test. */
export async function byApi(capi: CapiServer, tokens: () => string = () => TOKEN): Promise<Platform> {
  const platform = await openPlatform(
    { platform: { api: capi.origin, token: { env: 'UNUSED' } } },
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
