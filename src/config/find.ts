import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { refuseForeignHome } from '../base/trusted-path.ts';

/** Where the config is looked for, in this order. */
export function searchPath(env: NodeJS.ProcessEnv): string[] {
  const named = env['LIFEBOAT_CONFIG'];
  if (named !== undefined && named !== '') return [resolve(named)];
  return [resolve('lifeboat.yaml'), join(xdgFolder(env, 'XDG_CONFIG_HOME', '.config'), 'lifeboat.yaml')];
}

/**
 * The folder of journal, keys, checkpoints and downloads: `LIFEBOAT_HOME`, else the XDG state folder. Throws
 * `trust.refused` when others could have written into it.
 */
export function homeFolder(env: NodeJS.ProcessEnv): string {
  const home = homePath(env);
  refuseForeignHome(home);
  return home;
}

/** Where the home is, whoever it belongs to. */
export function homePath(env: NodeJS.ProcessEnv): string {
  const named = env['LIFEBOAT_HOME'];
  if (named !== undefined && named !== '') return resolve(named);
  return xdgFolder(env, 'XDG_STATE_HOME', join('.local', 'state'));
}

/**
 * Paths in these variables are absolute; a relative one is ignored, by the XDG base directory specification.
 * It would be another folder from each folder.
 */
function xdgFolder(env: NodeJS.ProcessEnv, variable: string, below: string): string {
  const named = env[variable];
  const base = named !== undefined && isAbsolute(named) ? named : join(env['HOME'] || homedir(), below);
  return join(base, 'lifeboat');
}

/** Bytes that a config may have: thousands of instances. */
export const LONGEST_CONFIG = 1024 * 1024;

/** The stores that configs out of pipes name, by their paths: a pipe can be read only once. */
export const storesOfPipes = new Map<string, string | undefined>();
