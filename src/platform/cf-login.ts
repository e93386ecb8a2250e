import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { EXIT, errorCode, failureOf, LifeboatError } from '../base/errors.ts';
import { onPath } from '../base/run-shell.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { homeIfAny } from '../base/user.ts';
import { orAbort } from '../service/reader.ts';
import { type TokenReader, type TokenSource, tokenReader } from '../service/token-source.ts';
import { stopped } from './problem.ts';

/** Prints the token of the logged-in user (domain 1.1). */
export const LOGIN: TokenSource = { command: 'cf oauth-token' };

export interface CfLoginOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Variables withheld from the tool, such as those with tokens of instances. */
  readonly hideEnv?: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

export interface CfLogin {
  /** The address of the platform, as printed by `cf api`. */
  readonly api: string;
  /** Rejects with `credentials.refused` once the tool is logged out or targets another platform. */
  readonly token: TokenReader;
}

/** The parts that are read of the tool's config.json. */
const Login = z.object({ Target: z.string().min(1), SSLDisabled: z.boolean().nullish() });

/**
 * The platform that the tool `cf` targets, if the tool is installed and logged in; else the reason, for
 * people. Rejects only with `platform.stopped`.
 */
export async function loginOfCf(options: CfLoginOptions): Promise<CfLogin | { readonly none: string }> {
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
