import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { sync as replaceFile } from 'write-file-atomic';
import { EXIT, errorCode, LifeboatError, troubleWith } from '../../base/errors.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { writeNewFile } from '../../cli/write-new-file.ts';
import { loadConfig } from '../../config/load.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { CONFIG_SCHEMA, configJsonSchema } from '../../config/schema.ts';
import type { Prompts } from './prompts.ts';

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

/** Where the config will be, and whether it replaces another. */
export interface ConfigPlace {
  readonly path: string;
  readonly replaces: boolean;
}

/**
 * Where the config goes: `--config`, LIFEBOAT_CONFIG, else the working folder. Replaces an existing file only
 * after its name was typed; without that, rejects with `init.exists` (exit 2), and with `init.folder` if its
 * folder is missing.
 */
export async function placeOfConfig(
  { env, configPath }: CommandContext,
  confirm: string | undefined,
  prompts: Prompts | undefined,
): Promise<ConfigPlace> {
  const path = resolve(configPath ?? (env['LIFEBOAT_CONFIG'] || 'lifeboat.yaml'));
  if (!existsSync(dirname(path))) throw noFolder(dirname(path));
  if (!existsSync(path)) return { path, replaces: false };
  const name = basename(path);
  if (confirm === name) return { path, replaces: true };
  if (prompts === undefined || confirm !== undefined) throw taken(path, name);
  const isName = (text: string) => (text === name ? undefined : 'that is not its name');
  await prompts.line(`${show(path, 200)} exists. Type ${show(name)} to replace it:`, isName);
  return { path, replaces: true };
}

function noFolder(folder: string): LifeboatError {
  return new LifeboatError('init.folder', `the folder ${show(folder, 200)} does not exist`, {
    hints: [`make it: mkdir -p ${shellQuoted(folder)}`, 'nothing was written'],
    exitCode: EXIT.usage,
  });
}

function taken(path: string, name: string): LifeboatError {
  return new LifeboatError('init.exists', `${show(path, 200)} already exists`, {
    hints: [
      'nothing was written: `lifeboat init --print` shows what it would be',
      'write it to another place with --config FILE',
      `to replace it on purpose: --confirm ${show(name)}`,
    ],
    exitCode: EXIT.usage,
  });
}
