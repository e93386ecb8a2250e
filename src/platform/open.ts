import { childEnvironment } from '../base/child-environment.ts';
import type { Awaits } from '../service/awaited.ts';
import type { Tap } from '../service/interceptors.ts';
import type { Limits } from '../service/limits.ts';
import type { TokenReader, TokenSource } from '../service/token-source.ts';
import { bind } from './api/bind.ts';
import { type ApiOptions, openApi } from './api/connection.ts';
import { renewKey } from './api/renew-key.ts';
import { restage } from './api/restage.ts';
import { unbind } from './api/unbind.ts';
import { findBindings } from './capi/find-bindings.ts';
import { proveRebound } from './capi/prove.ts';
import { type CfLoginOptions, loginOfCf } from './cf/login.ts';
import { bindByCf, renewKeyByCf, unbindByCf } from './cf/rebind.ts';
import { restageByCf } from './cf/restage.ts';
import { openSession } from './cf/session.ts';
import type { ToolTap } from './cf/tool.ts';
import type { NoPlatform, Platform } from './platform.ts';
import { DEFAULT_PACE, type Pace } from './wait.ts';

/** As the config has it. */
type PlatformChoice =
  | {
      readonly api: string;
      readonly token?: TokenSource | undefined;
      readonly ca?: string | undefined;
    }
  | 'cf'
  | 'none';

interface OpenPlatformOptions {
  /** Makes the reader of a token source, as for instances. */
  readonly tokenOf: (source: TokenSource) => TokenReader;
  readonly env: NodeJS.ProcessEnv;
  /** Variables that the tool `cf` does not get to see, such as those that hold tokens of instances. */
  readonly hideEnv?: readonly string[];
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly pace?: Partial<Pace> | undefined;
  /** Hears every request with all that is in it, for a transcript. */
  readonly tap?: Tap | undefined;
  /** Hears every call of the tool `cf`. */
  readonly toolTap?: ToolTap | undefined;
  /** Told of the requests that are waited for. */
  readonly awaits?: Awaits | undefined;
}

/** What prints the token of whoever is logged in (domain 1.1). */
const LOGIN: TokenSource = { command: 'cf oauth-token' };

/**
 * The platform of the config, or why there is none, in words for people: then everything is done by hand. An
 * API that is configured is not called here, and its token not read; the tool `cf` is asked whether it is
 * logged in. Throws `config.platform`, `config.ca` and `config.proxy` for what is configured wrongly. Close
 * it: by the tool, a folder with a copy of the login is removed then.
 */
export async function openPlatform(
  { platform }: { readonly platform: PlatformChoice },
  options: OpenPlatformOptions,
): Promise<Platform | NoPlatform> {
  const { env, limits, pace, tap, toolTap, awaits } = options;
  if (platform === 'none') return { none: 'the config says that there is no platform', by: 'config' };
  if (platform !== 'cf') {
    const token = options.tokenOf(platform.token ?? LOGIN);
    return platformByApi({ api: platform.api, token, caFile: platform.ca, limits, pace, tap, awaits });
  }
  const shown = childEnvironment(options.hideEnv ?? [], {}, env);
  const signal = options.signal ?? new AbortController().signal;
  return platformByCf({ env: shown, signal, pace, tap: toolTap });
}

/** Cloud Foundry by its v3 API. Sends nothing yet. Throws `config.platform`, `config.ca`, `config.proxy`. */
function platformByApi(options: ApiOptions & { readonly pace?: Partial<Pace> | undefined }): Platform {
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

interface CfOptions extends CfLoginOptions {
  readonly pace?: Partial<Pace> | undefined;
}

/**
 * Cloud Foundry by its tool `cf`, when that is installed and logged in; else why not, for people. The user's
 * own login and target are read once and never changed. Rejects with `platform.stopped` only.
 */
async function platformByCf({ pace, ...options }: CfOptions): Promise<Platform | { readonly none: string }> {
  const login = await loginOfCf(options);
  if ('none' in login) return login;
  const { tool, home, capi, description } = login;
  const session = openSession(tool, capi, home, { ...DEFAULT_PACE, ...pace });
  return {
    way: 'cf',
    description,
    find: (dashboardUrl, stop) => findBindings(capi, dashboardUrl, stop),
    unbind: (app, wish) => unbindByCf(session, app, wish),
    bind: (app, to, wish) => bindByCf(session, app, to, wish),
    restage: (app, wish) => restageByCf(session, app, wish),
    renewKey: (key, to, wish) => renewKeyByCf(session, key, to, wish),
    prove: (app, to, wish) => proveRebound(capi, app, to, wish),
    close: () => home.remove(),
  };
}
