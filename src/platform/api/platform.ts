import { findBindings } from '../capi/find-bindings.ts';
import { proveRebound } from '../capi/prove.ts';
import type { Platform } from '../platform.ts';
import { DEFAULT_PACE, type Pace } from '../wait.ts';
import { bind } from './bind.ts';
import { type ApiOptions, openApi } from './connection.ts';
import { renewKey } from './renew-key.ts';
import { restage } from './restage.ts';
import { unbind } from './unbind.ts';

/**
 * Cloud Foundry by its v3 API. Nothing is sent until it is used. Throws `config.platform`, `config.ca` and
 * `config.proxy`.
 */
export function platformByApi(options: ApiOptions & { readonly pace?: Partial<Pace> | undefined }): Platform {
  const api = openApi(options);
  const paced = { api, pace: { ...DEFAULT_PACE, ...options.pace } };
  return {
    way: 'platform',
    description: `Cloud Foundry at ${api.origin}`,
    find: (dashboardUrl, signal) => findBindings(api, dashboardUrl, signal),
    unbind: (app, rebind) => unbind(paced, app, rebind),
    bind: (app, to, rebind) => bind(paced, app, to, rebind),
    restage: (app, rebind) => restage(paced, app, rebind),
    renewKey: (key, to, rebind) => renewKey(paced, key, to, rebind),
    prove: (app, to, options) => proveRebound(api, app, to, options),
    close: () => api.close(),
  };
}
