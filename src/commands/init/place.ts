import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Prompts } from './prompts.ts';

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
