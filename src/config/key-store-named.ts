import { resolve } from 'node:path';
import { isPlainFile, passingText, readPlainFile } from '../base/bounded-file.ts';
import { LONGEST_CONFIG, searchPath } from './find.ts';

/** Where keys are stored: the keychain of this machine, or the vault file. */
export const KEY_STORES = ['os', 'vault'] as const;

/**
 * LIFEBOAT_KEYCHAIN, else the config. Needed before anything is loaded, to turn off echo and draw the first
 * frame, so YAML is not parsed: `keyStore` needs its own line. `loadConfig` refuses one written otherwise.
 */
export function keyStoreNamed(env: NodeJS.ProcessEnv, configPath?: string): string | undefined {
  if (env['LIFEBOAT_KEYCHAIN']) return env['LIFEBOAT_KEYCHAIN'];
  for (const path of configPath === undefined ? searchPath(env) : [resolve(configPath)]) {
    const isFile = isPlainFile(path);
    if (isFile === undefined) continue;
    try {
      return isFile ? keyStoreIn(passingText(readPlainFile(path, LONGEST_CONFIG))) : undefined;
    } catch {
      // Loading the config reports why it cannot be read.
      return undefined;
    }
  }
  return undefined;
}

/** The environment with the config's choice in LIFEBOAT_KEYCHAIN, for all its readers. */
export function withKeyStore(env: NodeJS.ProcessEnv, configPath?: string): NodeJS.ProcessEnv {
  const named = keyStoreNamed(env, configPath);
  return named === env['LIFEBOAT_KEYCHAIN'] ? env : { ...env, LIFEBOAT_KEYCHAIN: named };
}

function keyStoreIn(text: string): string | undefined {
  return text.trimStart().startsWith('{') ? ofJson(text) : LINE.exec(text)?.groups?.['store'];
}

/** A program's JSON may be one line. */
function ofJson(text: string): string | undefined {
  const { keyStore } = JSON.parse(text) as { readonly keyStore?: unknown };
  return KEY_STORES.find((store) => store === keyStore);
}

const LINE = /^keyStore:[ \t]+(?<quote>["']?)(?<store>os|vault)\k<quote>[ \t]*(?:[ \t]#.*)?\r?$/mu;
