import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../../base/errors.ts';

/** A folder for the tool `cf` that holds a copy of the user's login. */
export interface PrivateHome {
  readonly path: string;
  /** A file in it, for its owner only, until `forget` is called. Gives its path. */
  keep(name: string, text: string): Promise<string>;
  forget(path: string): Promise<void>;
  /** Removes the folder with all that is in it. */
  remove(): Promise<void>;
}

/**
 * Copies `config.json` of the tool `cf` to a folder of its own (0700), since its target is global: whoever
 * works in another window shall not find herself in another space. Undefined when nobody has ever logged in.
 * A process that dies leaves the folder, which only its owner can read.
 */
export async function privateHome(env: NodeJS.ProcessEnv): Promise<PrivateHome | undefined> {
  const source = join(env['CF_HOME'] || env['HOME'] || homedir(), '.cf', 'config.json');
  const path = await mkdtemp(join(tmpdir(), 'lifeboat-cf-'));
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    await mkdir(join(path, '.cf'), { mode: 0o700 });
    const copy = join(path, '.cf', 'config.json');
    await copyFile(source, copy);
    await chmod(copy, 0o600);
  } catch (thrown) {
    await remove();
    if (errorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
  return {
    path,
    keep: async (name, text) => {
      const file = join(path, name);
      await rm(file, { force: true });
      await writeFile(file, text, { flag: 'wx', mode: 0o600 });
      return file;
    },
    forget: (file) => rm(file, { force: true }),
    remove,
  };
}
