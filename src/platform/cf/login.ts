import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlatformInstance } from '../../../machines/parts/recovery-data.ts';
import { errorCode, failureOf } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { homeIfAny } from '../../base/user.ts';
import { type Capi, listAll } from '../capi/capi.ts';
import { placesOf } from '../capi/find-bindings.ts';
import { ServiceInstance } from '../capi/schemas.ts';
import { hasCode } from '../problem.ts';
import { type CfTool, capiByCf, cfTool, type ToolTap } from './tool.ts';

export interface CfLoginOptions {
  /** The environment of the tool, without what it need not see. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly tap?: ToolTap | undefined;
}

/** The tool `cf` with a copy of the user's login; whoever has it removes `home` at the end. */
interface CfLogin {
  readonly tool: CfTool;
  readonly home: PrivateHome;
  readonly capi: Capi;
  /** One line for people: which platform. */
  readonly description: string;
}

const ASK_MS = 30_000;

/**
 * The tool `cf`, when it is installed and logged in; else why not, for people. The user's own login and
 * target are read once and never changed. Rejects with `platform.stopped` only.
 */
export async function loginOfCf({
  env,
  signal,
  tap,
}: CfLoginOptions): Promise<CfLogin | { readonly none: string }> {
  const home = await privateHome(env);
  if (home === undefined) return { none: 'the cf tool is not logged in: there is no config of it' };
  const tool = cfTool(env, home.path, tap);
  try {
    const call = { signal, timeoutMs: ASK_MS };
    const login = await tool.run(['oauth-token'], call);
    if (login.exit !== 0) return await without(home, 'the cf tool is not logged in: run cf login');
    const asked = await tool.run(['api'], call);
    const where = /https?:\/\/\S+/u.exec(asked.out)?.[0];
    if (where === undefined) return await without(home, 'the cf tool does not know its platform: run cf api');
    const description = `Cloud Foundry at ${show(where, 120)} by the cf tool`;
    return { tool, home, capi: capiByCf(tool), description };
  } catch (thrown) {
    await home.remove();
    if (hasCode(thrown, 'platform.stopped')) throw thrown;
    return { none: failureOf(thrown).shortMessage };
  }
}

async function without(home: PrivateHome, none: string): Promise<{ readonly none: string }> {
  await home.remove();
  return { none };
}

/** A folder for the tool `cf` that holds a copy of the user's login. */
export interface PrivateHome {
  readonly path: string;
  /** A file in it, for its owner only, until `forget` is called. Gives its path. */
  keep(name: string, text: string): Promise<string>;
  forget(path: string): Promise<void>;
  /** Removes the folder with all that is in it. */
  remove(): Promise<void>;
}

/**
 * Copies `config.json` of the tool `cf` to a folder of its own (0700), since its target is global: whoever
 * works in another window shall not find herself in another space. Undefined when nobody has ever logged in.
 * A process that dies leaves the folder, which only its owner can read.
 */
async function privateHome(env: NodeJS.ProcessEnv): Promise<PrivateHome | undefined> {
  const home = env['CF_HOME'] || homeIfAny(env);
  if (home === undefined) return undefined;
  const source = join(home, '.cf', 'config.json');
  const path = await mkdtemp(join(tmpdir(), 'lifeboat-cf-'));
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    await mkdir(join(path, '.cf'), { mode: 0o700 });
    const copy = join(path, '.cf', 'config.json');
    await copyFile(source, copy);
    await chmod(copy, 0o600);
  } catch (thrown) {
    await remove();
    if (errorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
  return {
    path,
    keep: async (name, text) => {
      const file = join(path, name);
      await rm(file, { force: true });
      await writeFile(file, text, { flag: 'wx', mode: 0o600 });
      return file;
    },
    forget: (file) => rm(file, { force: true }),
    remove,
  };
}

/** A service instance with the address of its dashboard, as `cf service NAME` prints it. */
export interface ListedInstance extends PlatformInstance {
  readonly dashboardUrl: string;
}

/**
 * The service instances with a dashboard that the login of the tool `cf` may see, of every space, by name; or
 * why it cannot be asked, for people. Only reads. Rejects as `Platform` says.
 */
export async function instancesOfCf(
  options: CfLoginOptions,
): Promise<
  { readonly description: string; readonly instances: readonly ListedInstance[] } | { readonly none: string }
> {
  const login = await loginOfCf(options);
  if ('none' in login) return login;
  const { capi, home, description } = login;
  const { signal } = options;
  try {
    const all = await listAll(capi, '/v3/service_instances', { type: 'managed' }, ServiceInstance, signal);
    const spaceOf = (one: ServiceInstance) => one.relationships?.space?.data?.guid ?? '';
    const places = await placesOf(capi, all.map(spaceOf).filter(Boolean), signal);
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
    await home.remove();
  }
}
