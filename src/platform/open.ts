import type { PlatformInstance } from '../../machines/parts/recovery-data.ts';
import type { Awaits } from '../service/awaited.ts';
import type { Tap } from '../service/interceptors.ts';
import type { Limits } from '../service/limits.ts';
import { SYSTEM_AUTHORITIES } from '../service/tls.ts';
import type { TokenReader, TokenSource } from '../service/token-source.ts';
import { bind } from './api/bind.ts';
import { type ApiConnection, type ApiOptions, openApi } from './api/connection.ts';
import { renewKey } from './api/renew-key.ts';
import { restage } from './api/restage.ts';
import { unbind } from './api/unbind.ts';
import { listAll } from './capi/capi.ts';
import { findBindings, placesOf } from './capi/find-bindings.ts';
import { proveRebound } from './capi/prove.ts';
import { ServiceInstance } from './capi/schemas.ts';
import { type CfLoginOptions, LOGIN, loginOfCf } from './cf-login.ts';
import type { NoPlatform, Platform } from './platform.ts';
import { hasCode } from './problem.ts';
import { DEFAULT_PACE, type Pace } from './wait.ts';

/** From the config. */
type PlatformChoice =
  | {
      readonly api: string;
      readonly token?: TokenSource | undefined;
      readonly ca?: string | undefined;
    }
  | 'cf'
  | 'none';

interface OpenPlatformOptions {
  readonly tokenOf: (source: TokenSource) => TokenReader;
  readonly env: NodeJS.ProcessEnv;
  /** Variables withheld from the tool `cf`, such as those with tokens of instances. */
  readonly hideEnv?: readonly string[];
  readonly limits?: Partial<Limits> | undefined;
  readonly pace?: Partial<Pace> | undefined;
  /** Receives every request in full, for a transcript. */
  readonly tap?: Tap | undefined;
  /** Told of the requests that are awaited. */
  readonly awaits?: Awaits | undefined;
}

/**
 * The platform of the config, or why there is none, in words for people: then everything is done by hand.
 * Makes no call to the platform. For a configured API its token is not read either; the tool `cf` is asked
 * for its own. Throws `config.platform`, `config.ca` and `config.proxy` for a wrong configuration.
 */
export async function openPlatform(
  { platform }: { readonly platform: PlatformChoice },
  options: OpenPlatformOptions,
): Promise<Platform | NoPlatform> {
  const { env, hideEnv, limits, pace, tap, awaits } = options;
  if (platform === 'none') return { none: 'the config says that there is no platform', by: 'config' };
  if (platform !== 'cf') {
    const token = options.tokenOf(platform.token ?? LOGIN);
    const api = openApi({ api: platform.api, token, caFile: platform.ca, limits, tap, awaits });
    return platformOf(api, 'platform', `Cloud Foundry at ${api.origin}`, pace);
  }
  const { signal } = new AbortController();
  const opened = await openByCf({ env, hideEnv, signal }, { limits, tap, awaits });
  return 'none' in opened ? opened : platformOf(opened.api, 'cf', opened.description, pace);
}

/**
 * The API of the platform that the tool `cf` is logged in to; or why there is none, for people. The user's
 * own login and target are read and never changed. Rejects with `platform.stopped`, throws `config.proxy`.
 */
async function openByCf(
  options: CfLoginOptions,
  more: Omit<ApiOptions, 'api' | 'token' | 'caFile'> = {},
): Promise<{ readonly api: ApiConnection; readonly description: string } | { readonly none: string }> {
  const login = await loginOfCf(options);
  if ('none' in login) return login;
  try {
    // The tool trusts the system's authorities, so the platform reached by its login does too.
    const api = openApi({ ...more, ...login, caFile: SYSTEM_AUTHORITIES });
    return { api, description: `Cloud Foundry at ${api.origin} by the login of the cf tool` };
  } catch (thrown) {
    if (hasCode(thrown, 'config.platform')) return { none: thrown.shortMessage };
    throw thrown;
  }
}

function platformOf(
  api: ApiConnection,
  way: Platform['way'],
  description: string,
  pace: Partial<Pace> | undefined,
): Platform {
  const paced = { api, pace: { ...DEFAULT_PACE, ...pace } };
  return {
    way,
    description,
    find: (dashboardUrl, signal) => findBindings(api, dashboardUrl, signal),
    unbind: (app, rebind) => unbind(paced, app, rebind),
    bind: (app, to, rebind) => bind(paced, app, to, rebind),
    restage: (app, rebind) => restage(paced, app, rebind),
    renewKey: (key, to, rebind) => renewKey(paced, key, to, rebind),
    prove: (app, to, options) => proveRebound(api, app, to, options),
    close: () => api.close(),
  };
}

/** A service instance with the address of its dashboard, as printed by `cf service NAME`. */
export interface ListedInstance extends PlatformInstance {
  readonly dashboardUrl: string;
}

/**
 * The service instances with a dashboard that the login of the tool `cf` may see, in every space, by name; or
 * why there is no login, for people. Only reads. Rejects as documented at `Platform`.
 */
export async function instancesOfCf(
  options: CfLoginOptions,
): Promise<
  { readonly description: string; readonly instances: readonly ListedInstance[] } | { readonly none: string }
> {
  const opened = await openByCf(options);
  if ('none' in opened) return opened;
  const { api, description } = opened;
  const { signal } = options;
  try {
    const all = await listAll(api, '/v3/service_instances', { type: 'managed' }, ServiceInstance, signal);
    const spaceOf = (one: ServiceInstance) => one.relationships?.space?.data?.guid ?? '';
    const places = await placesOf(api, all.map(spaceOf).filter(Boolean), signal);
    const instances = all.flatMap((one) =>
      one.dashboard_url == null
        ? []
        : [
            {
              guid: one.guid,
              name: one.name,
              ...places.get(spaceOf(one)),
              dashboardUrl: one.dashboard_url.slice(0, 2_000),
            },
          ],
    );
    return { description, instances: instances.toSorted((one, other) => one.name.localeCompare(other.name)) };
  } finally {
    await api.close();
  }
}
