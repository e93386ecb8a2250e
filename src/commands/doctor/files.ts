import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { distrustOf, judgeFolder, type TrustIssue } from '../../base/trusted-path.ts';
import { homePath } from '../../config/find.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { type Check, good } from './check.ts';

interface Deciding {
  readonly what: string;
  readonly path: string;
  readonly isSecret?: boolean;
}

const READ_BY_OTHERS = 0o044;

/**
 * Whether other users could have written what decides a recovery: config, keys, tokens, authorities, lists of
 * signers, a team's texts, checkpoints. Only reads.
 */
export async function fileChecks(env: NodeJS.ProcessEnv, config: LoadedConfig): Promise<Check[]> {
  const all = deciding(env, config);
  const found = (await Promise.all(all.map(checkOf))).filter((check) => check !== undefined);
  const folders = config.checkpoints.flatMap((place) => ('folder' in place ? [place.folder] : []));
  const checkpoints = await Promise.all(folders.map(checkpointFolder));
  const bad = [...found, ...checkpoints.filter((check) => check !== undefined)];
  if (bad.length > 0) return bad;
  return [good('files', `nobody else can write the ${all.length + checkpoints.length} trusted paths`)];
}

function deciding(env: NodeJS.ProcessEnv, config: LoadedConfig): Deciding[] {
  const { platform, approvals, runbooks } = config;
  const sources = [...Object.values(config.instances), ...(typeof platform === 'string' ? [] : [platform])];
  const tokens = sources.flatMap(({ token }) => (token !== undefined && 'file' in token ? [token.file] : []));
  const named = (what: string, paths: readonly (string | undefined)[], isSecret = false) =>
    [...new Set(paths)].flatMap((path) => (path ? [{ what, path, isSecret }] : []));
  return [
    ...named('config', [config.path]),
    ...named('vault', [join(homePath(env), 'vault.age')], true),
    ...named('passphrase file', [env['LIFEBOAT_PASSPHRASE_FILE']], true),
    ...named('token file', tokens, true),
    ...named('ca file', [...sources.map(({ ca }) => ca), env['NODE_EXTRA_CA_CERTS']]),
    ...named('allowed signers', [approvals?.allowedSigners]),
    ...named('revoked keys', [approvals?.revoked]),
    ...named('runbooks', [runbooks]),
  ];
}

/** Undefined if correct, or missing: what needs the file reports that. */
async function checkOf({ what, path, isSecret }: Deciding): Promise<Check | undefined> {
  try {
    const found = distrustOf(path);
    if (found.length > 0) return checkFrom('bad', what, path, found);
    const { mode } = await stat(path);
    if (isSecret !== true || process.platform === 'win32' || (mode & READ_BY_OTHERS) === 0) return undefined;
    return checkFrom('warn', what, path, [{ says: 'others can read it', fix: `chmod 600 ${show(path)}` }]);
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return undefined;
    return checkFrom('warn', what, path, [
      { says: `it cannot be checked (${errorCode(thrown) ?? 'unknown'})`, fix: 'check the path' },
    ]);
  }
}

/** A dead network mount never answers. The folder may be shared: others' write access is only mentioned. */
async function checkpointFolder(path: string): Promise<Check | undefined> {
  const what = 'checkpoints';
  const stats = await Promise.race([
    stat(path).catch(() => undefined),
    pause(PATIENCE_MS, undefined, { ref: false }),
  ]);
  if (stats === undefined)
    return checkFrom('warn', what, path, [
      { says: 'it cannot be checked', fix: 'mount it, or make the folder' },
    ]);
  const found = judgeFolder(stats, path);
  return found.length === 0 ? undefined : checkFrom('warn', what, path, found);
}

const PATIENCE_MS = 5_000;

function checkFrom(state: Check['state'], what: string, path: string, found: readonly TrustIssue[]): Check {
  const why = found.map(({ says }) => says).join(', ');
  return {
    what: `files: ${what}`,
    state,
    found: `${show(path, 200)}: ${why}`,
    hints: found.map(({ fix }) => fix),
  };
}
