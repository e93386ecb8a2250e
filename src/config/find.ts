import { isAbsolute, join, resolve } from 'node:path';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { assertOwnHome } from '../base/trusted-path.ts';
import { homeIfAny } from '../base/user.ts';

/** The places to look for the config, in order. */
export function searchPath(env: NodeJS.ProcessEnv): string[] {
  const named = env['LIFEBOAT_CONFIG'];
  if (named !== undefined && named !== '') return [resolve(named)];
  const folder = xdgFolder(env, 'XDG_CONFIG_HOME', '.config');
  return [resolve('lifeboat.yaml'), ...(folder === undefined ? [] : [join(folder, 'lifeboat.yaml')])];
}

/**
 * The folder of journal, keys, checkpoints and downloads: `LIFEBOAT_HOME`, else the XDG state folder. Throws
 * `trust.refused` if others could have written into it, and `home.unknown` if there is none.
 */
export function homeFolder(env: NodeJS.ProcessEnv): string {
  const home = homePath(env);
  assertOwnHome(home);
  return home;
}

/** The path of the home, regardless of its owner. */
export function homePath(env: NodeJS.ProcessEnv): string {
  const named = env['LIFEBOAT_HOME'];
  if (named !== undefined && named !== '') return resolve(named);
  const folder = xdgFolder(env, 'XDG_STATE_HOME', join('.local', 'state'));
  if (folder !== undefined) return folder;
  throw new LifeboatError(
    'home.unknown',
    `user id ${process.getuid?.() ?? ''} has no home folder, and HOME is not set`,
    {
      hints: ['set LIFEBOAT_HOME to a folder that belongs to this user', 'nothing was read or written'],
      exitCode: EXIT.usage,
    },
  );
}

/** The XDG specification ignores a relative path in these variables. Undefined for a user without a home. */
function xdgFolder(env: NodeJS.ProcessEnv, variable: string, below: string): string | undefined {
  const named = env[variable];
  if (named !== undefined && isAbsolute(named)) return join(named, 'lifeboat');
  const home = homeIfAny(env);
  return home === undefined ? undefined : join(home, below, 'lifeboat');
}

/** The maximum bytes of a config: room for tens of thousands of instances. */
export const LONGEST_CONFIG = 16 * 1024 * 1024;

/** The stores named by configs from pipes, by path: a pipe can be read only once. */
export const storesOfPipes = new Map<string, string | undefined>();
