import { failureOf } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { findBindings } from '../capi/find-bindings.ts';
import { proveRebound } from '../capi/prove.ts';
import type { Platform } from '../platform.ts';
import { hasCode } from '../problem.ts';
import { DEFAULT_PACE, type Pace } from '../wait.ts';
import { privateHome } from './private-home.ts';
import { capiByCf } from './reads.ts';
import { bindByCf, unbindByCf } from './rebind.ts';
import { renewKeyByCf } from './renew-key.ts';
import { restageByCf } from './restage.ts';
import { openSession } from './session.ts';
import { cfTool, type ToolTap } from './tool.ts';

export interface CfOptions {
  /** The environment of the tool, without what it need not see. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly pace?: Partial<Pace> | undefined;
  readonly tap?: ToolTap | undefined;
}

const ASK_MS = 30_000;

/**
 * Cloud Foundry by its tool `cf`, when that is installed and logged in; else why not, for people. The user's
 * own login and target are read once and never changed. Rejects with `platform.stopped` only.
 */
export async function platformByCf({
  env,
  signal,
  pace,
  tap,
}: CfOptions): Promise<Platform | { readonly none: string }> {
  const home = await privateHome(env);
  if (home === undefined) return { none: 'the tool cf is not logged in: there is no config of it' };
  const tool = cfTool(env, home.path, tap);
  try {
    const call = { signal, timeoutMs: ASK_MS };
    const login = await tool.run(['oauth-token'], call);
    if (login.exit !== 0) return await without(home, 'the tool cf is not logged in: run cf login');
    const asked = await tool.run(['api'], call);
    const where = /https?:\/\/\S+/u.exec(asked.out)?.[0];
    if (where === undefined) return await without(home, 'the tool cf does not know its platform: run cf api');
    const capi = capiByCf(tool);
    const session = openSession(tool, capi, home, { ...DEFAULT_PACE, ...pace });
    return {
      way: 'cf',
      description: `Cloud Foundry at ${show(where, 120)} by the tool cf`,
      find: (dashboardUrl, stop) => findBindings(capi, dashboardUrl, stop),
      unbind: (app, options) => unbindByCf(session, app, options),
      bind: (app, to, options) => bindByCf(session, app, to, options),
      restage: (app, options) => restageByCf(session, app, options),
      renewKey: (key, to, options) => renewKeyByCf(session, key, to, options),
      prove: (app, to, options) => proveRebound(capi, app, to, options),
      close: () => home.remove(),
    };
  } catch (thrown) {
    await home.remove();
    if (hasCode(thrown, 'platform.stopped')) throw thrown;
    return { none: failureOf(thrown).shortMessage };
  }
}

async function without(home: { remove(): Promise<void> }, none: string): Promise<{ readonly none: string }> {
  await home.remove();
  return { none };
}
