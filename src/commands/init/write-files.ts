import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sync as replaceFile } from 'write-file-atomic';
import { EXIT, errorCode, LifeboatError, troubleWith } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { writeNewFile } from '../../cli/write-new-file.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { CONFIG_SCHEMA, configJsonSchema } from '../../config/schema.ts';
import type { ConfigPlace } from './place.ts';

/**
 * What editors read beside the config. Unlike the path of an installation, it can be committed with the
 * config.
 */
export const EDITOR_SCHEMA = 'lifeboat.schema.json';

/**
 * Writes the JSON Schema for editors beside the config; returns whether it is there now. Leaves another file
 * with this name as it is.
 */
export function writeEditorSchema({ path }: ConfigPlace): boolean {
  const file = join(dirname(path), EDITOR_SCHEMA);
  const text = `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`;
  try {
    const before = textAt(file);
    if (before === undefined) writeNewFile(file, text);
    else if (!isOurs(before)) return false;
    else if (before !== text) replaceFile(file, text);
    return true;
  } catch (cause) {
    throw notWritten(file, cause);
  }
}

function textAt(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function isOurs(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly $id?: unknown } | null)?.$id === CONFIG_SCHEMA;
  } catch {
    return false;
  }
}

/**
 * Writes the config, mode 0600, whole or not at all, and loads it as every command does. Removes a new one
 * that would not be accepted, for instance because others can write into its folder.
 */
export async function writeConfig(
  { path, replaces }: ConfigPlace,
  text: string,
  env: NodeJS.ProcessEnv,
): Promise<LoadedConfig> {
  try {
    if (replaces) replaceFile(path, text, { mode: 0o600 });
    else writeNewFile(path, text);
  } catch (cause) {
    throw notWritten(path, cause);
  }
  try {
    return await loadConfig(env, path);
  } catch (thrown) {
    if (!replaces) rmSync(path, { force: true });
    throw thrown;
  }
}

function notWritten(path: string, cause: unknown): LifeboatError {
  const { why, advice } = troubleWith(path, cause);
  return new LifeboatError('init.file', `${show(path, 120)} cannot be written: ${why}`, {
    hints: [advice, 'or name another place with --config FILE'],
    cause,
    exitCode: EXIT.failed,
  });
}
