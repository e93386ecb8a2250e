import { resolve } from 'node:path';
import { passingText, readBounded } from '../base/bounded-file.ts';
import { LONGEST_CONFIG, searchPath, storesOfPipes } from './find.ts';
import { chosenStore, SQLITE } from './store-address.ts';

/**
 * The store named by LIFEBOAT_STORE, else by the config; `sqlite` if neither names one, or there is no
 * config. A config without a store is not parsed: a journal can be read with an invalid config, and a command
 * that only reads it starts without the parser. Rejects with `config.store`, and as `loadConfig` does.
 */
export async function storeNamed(env: NodeJS.ProcessEnv, path?: string): Promise<string> {
  if (env['LIFEBOAT_STORE']) return chosenStore(env, undefined);
  for (const candidate of path === undefined ? searchPath(env) : [resolve(path)]) {
    if (storesOfPipes.has(candidate)) return chosenStore(env, storesOfPipes.get(candidate));
    const text = await readFirst(candidate);
    if (text === undefined) continue;
    // A key could be written with escapes; then the config is parsed.
    if (!/store|\\/u.test(text)) return SQLITE;
    const { loadConfig } = await import('./load.ts');
    return chosenStore(env, (await loadConfig(env, path)).store);
  }
  return SQLITE;
}

/** The text of a config, not yet trusted; undefined if there is none. A pipe is left for `loadConfig`. */
async function readFirst(path: string): Promise<string | undefined> {
  try {
    const bytes = await readBounded(path, LONGEST_CONFIG, (opened) => {
      if (!opened.isFile()) throw new Error('a pipe can be read only once');
    });
    return passingText(bytes);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'store';
  }
}
