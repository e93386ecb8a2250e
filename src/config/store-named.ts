import { resolve } from 'node:path';
import { readBounded } from '../base/bounded-file.ts';
import { LONGEST_CONFIG, searchPath, storesOfPipes } from './find.ts';
import { chosenStore, SQLITE } from './store-address.ts';

/**
 * The store that the config names, and LIFEBOAT_STORE before it; `sqlite` where neither does, or there is no
 * config. A config that says nothing of a store is not parsed: a journal can be read with a config that is
 * wrong, and a command that only reads it starts without the parser. Rejects with `config.store`, and as
 * `loadConfig` does.
 */
export async function storeNamed(env: NodeJS.ProcessEnv, path?: string): Promise<string> {
  if (env['LIFEBOAT_STORE']) return chosenStore(env, undefined);
  for (const candidate of path === undefined ? searchPath(env) : [resolve(path)]) {
    if (storesOfPipes.has(candidate)) return chosenStore(env, storesOfPipes.get(candidate));
    const text = await readFirst(candidate);
    if (text === undefined) continue;
    // A key can be written with escapes; nobody does, and then it is parsed.
    if (!/store|\\/u.test(text)) return SQLITE;
    const { loadConfig } = await import('./load.ts');
    return chosenStore(env, (await loadConfig(env, path)).store);
  }
  return SQLITE;
}

/**
 * What may be in a config, without belief in it; undefined when there is none. What comes out of a pipe is
 * left for `loadConfig`.
 */
async function readFirst(path: string): Promise<string | undefined> {
  try {
    const bytes = await readBounded(path, LONGEST_CONFIG, (opened) => {
      if (!opened.isFile()) throw new Error('a pipe can be read only once');
    });
    return bytes.toString('utf8');
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'store';
  }
}
