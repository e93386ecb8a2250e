import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { PlatformInstance, PlatformRight } from '../../machines/parts/recovery-data.ts';
import { EXIT, errorCode, failureOf, LifeboatError } from '../base/errors.ts';
import { onPath } from '../base/run-shell.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { homeIfAny } from '../base/user.ts';
import type { Awaits } from '../service/awaited.ts';
import type { Tap } from '../service/interceptors.ts';
import type { Limits } from '../service/limits.ts';
import { orAbort } from '../service/reader.ts';
import { SYSTEM_AUTHORITIES } from '../service/tls.ts';
import { type TokenReader, type TokenSource, tokenReader } from '../service/token-source.ts';
import { bind, renewKey, unbind } from './api/bind.ts';
import { type ApiConnection, type ApiOptions, openApi } from './api/connection.ts';
import { restage } from './api/restage.ts';
import { type Capi, getIfReported, listAll } from './capi/capi.ts';
import { findBindings, placesOf, plainUrl } from './capi/find-bindings.ts';
import { proveRebound } from './capi/prove.ts';
import { ServiceInstance } from './capi/schemas.ts';
import type { NoPlatform, Platform } from './platform.ts';
import { hasCode, stopped } from './problem.ts';
import { DEFAULT_PACE, type Pace } from './wait.ts';

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
    right: rightReader(api),
    unbind: (app, rebind) => unbind(paced, app, rebind),
    bind: (app, to, rebind) => bind(paced, app, to, rebind),
    restage: (app, rebind) => restage(paced, app, rebind),
    renewKey: (key, to, rebind) => renewKey(paced, key, to, rebind),
    prove: (app, to, options) => proveRebound(api, app, to, options),
    close: () => api.close(),
  };
}

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

/** Prints the token of the logged-in user (domain 1.1). */
const LOGIN: TokenSource = { command: 'cf oauth-token' };

interface CfLoginOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Variables withheld from the tool, such as those with tokens of instances. */
  readonly hideEnv?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

interface CfLogin {
  /** The address of the platform, as printed by `cf api`. */
  readonly api: string;
  /** Rejects with `credentials.refused` once the tool is logged out or targets another platform. */
  readonly token: TokenReader;
}

/** The parts that are read of the tool's config.json. */
const Login = z.object({ Target: z.string().min(1), SSLDisabled: z.boolean().nullish() });

/** The platform of the tool `cf`, or why there is none, for people. Rejects only with `platform.stopped`. */
async function loginOfCf(options: CfLoginOptions): Promise<CfLogin | { readonly none: string }> {
  try {
    const { api } = await readLogin(options);
    const token = async () => {
      const now = await readLogin(options);
      if (now.api === api) return now.token;
      throw noLogin(
        'the cf tool points at another platform by now',
        `point it back, then go on: cf api ${show(api, 120)}`,
      );
    };
    return { api, token };
  } catch (thrown) {
    if (options.signal.aborted) throw stopped();
    return { none: failureOf(thrown).shortMessage };
  }
}

/**
 * Asks the tool for its token, in a folder with a copy of its config: the tool writes that file at the end of
 * each command, and would undo what the user does with `cf` in another window. The folder (0700) is removed
 * before this returns; a process that dies leaves it behind, readable only by its owner.
 */
async function readLogin({ env, hideEnv = [], signal }: CfLoginOptions): Promise<{
  readonly api: string;
  readonly token: Secret;
}> {
  if (onPath('cf', env) === undefined) throw noLogin('the cf tool is not installed', 'install it and log in');
  const text = await configOf(env);
  const { Target: api, SSLDisabled: unchecked } = parse(text);
  if (unchecked === true) {
    const hint = 'set `platform` to its `api`, and to a `ca` if it has an authority of its own';
    throw noLogin('the cf tool is told not to check certificates (--skip-ssl-validation)', hint);
  }
  const home = await mkdtemp(join(tmpdir(), 'lifeboat-cf-'));
  try {
    await mkdir(join(home, '.cf'), { mode: 0o700 });
    await writeFile(join(home, '.cf', 'config.json'), text, { flag: 'wx', mode: 0o600 });
    // With CF_TRACE the tool would print the token with its requests.
    const toolEnv = { ...env, CF_HOME: home, CF_COLOR: 'false', CF_TRACE: 'false', LC_ALL: 'C' };
    const read = tokenReader(LOGIN, { keychain: async () => undefined, hideEnv, env: toolEnv });
    return { api, token: await orAbort(read(), signal) };
  } catch (cause) {
    throw signal.aborted ? stopped() : noLogin('the cf tool is not logged in: run cf login', AGAIN, cause);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const AGAIN = 'log in again: cf login, then go on: nothing is lost';

async function configOf(env: NodeJS.ProcessEnv): Promise<string> {
  const home = env['CF_HOME'] || homeIfAny(env);
  try {
    if (home !== undefined) return await readFile(join(home, '.cf', 'config.json'), 'utf8');
  } catch (thrown) {
    if (errorCode(thrown) !== 'ENOENT') throw thrown;
  }
  throw noLogin('the cf tool is not logged in: there is no config of it', AGAIN);
}

function parse(text: string): z.infer<typeof Login> {
  try {
    return Login.parse(JSON.parse(text));
  } catch (cause) {
    throw noLogin('the cf tool does not know its platform: run cf api', AGAIN, cause);
  }
}

function noLogin(shortMessage: string, hint: string, cause?: unknown): LifeboatError {
  return new LifeboatError('credentials.refused', shortMessage, {
    hints: [hint],
    exitCode: EXIT.credentials,
    cause,
  });
}

/** `GET /v3/service_instances/:guid/permissions` (Cloud Foundry v3 API); every role may ask. */
const Permissions = z.object({ manage: z.boolean() });

/** See `Platform.right`. Lists the instances once for each reader. */
function rightReader(capi: Capi): (dashboardUrl: string, signal: AbortSignal) => Promise<PlatformRight> {
  let listing: Promise<ReadonlyMap<string, readonly string[]>> | undefined;
  return async (dashboardUrl, signal) => {
    listing ??= guidsByAddress(capi, signal);
    const guids = (await listing).get(plainUrl(dashboardUrl)) ?? [];
    const [guid] = guids;
    if (guid === undefined || guids.length > 1) return 'unseen';
    const path = `/v3/service_instances/${encodeURIComponent(guid)}/permissions`;
    const reported = await getIfReported(capi, path, Permissions, signal);
    if (reported === undefined) return 'unsaid';
    return reported.manage ? 'manage' : 'read';
  };
}

async function guidsByAddress(capi: Capi, signal: AbortSignal): Promise<ReadonlyMap<string, string[]>> {
  const all = await listAll(capi, '/v3/service_instances', { type: 'managed' }, ServiceInstance, signal);
  const guids = new Map<string, string[]>();
  for (const { guid, dashboard_url: url } of all) {
    if (url == null) continue;
    const known = guids.get(plainUrl(url));
    if (known === undefined) guids.set(plainUrl(url), [guid]);
    else known.push(guid);
  }
  return guids;
}
