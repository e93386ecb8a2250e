import { failureOf } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { Capi } from '../capi/capi.ts';
import { hasCode } from '../problem.ts';
import { type PrivateHome, privateHome } from './private-home.ts';
import { capiByCf } from './reads.ts';
import { type CfTool, cfTool, type ToolTap } from './tool.ts';

export interface CfLoginOptions {
  /** The environment of the tool, without what it need not see. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly tap?: ToolTap | undefined;
}

/** The tool `cf` with a copy of the user's login; whoever has it removes `home` at the end. */
export interface CfLogin {
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
  if (home === undefined) return { none: 'the tool cf is not logged in: there is no config of it' };
  const tool = cfTool(env, home.path, tap);
  try {
    const call = { signal, timeoutMs: ASK_MS };
    const login = await tool.run(['oauth-token'], call);
    if (login.exit !== 0) return await without(home, 'the tool cf is not logged in: run cf login');
    const asked = await tool.run(['api'], call);
    const where = /https?:\/\/\S+/u.exec(asked.out)?.[0];
    if (where === undefined) return await without(home, 'the tool cf does not know its platform: run cf api');
    const description = `Cloud Foundry at ${show(where, 120)} by the tool cf`;
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
