import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { EXIT, errorCode, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import { HOME_PREFIX, type Home, listens, removeFolder } from './home.ts';

export interface StateFolder {
  readonly path: string;
  /** Removes what the lab put there, and the folder if the lab made it and it is empty. */
  release(): Promise<void>;
}

const MARK = 'lab.json';
/** The files that a lab writes beside the keys of its instances. */
const OWN = [MARK, 'token', 'token-readonly', 'lifeboat.yaml', 'store', 'archive', 'sockets.json'];

/** Strict, with a word that nothing else writes, because its folder is removed. */
const Mark = z.strictObject({
  lifeboat: z.literal('lab'),
  home: z.string().refine((home) => basename(home).startsWith(HOME_PREFIX)),
  names: z.array(z.string()),
});

/**
 * The folder for tokens, keys and stored backups: the requested one, or one in the lab's home. A folder that
 * holds anything but a killed lab's remains rejects with `lab.folder` and is left untouched.
 */
export async function openStateFolder(
  wanted: string | undefined,
  home: Home,
  instances: readonly string[],
): Promise<StateFolder> {
  if (wanted === undefined) return { path: home.state, release: async () => undefined };
  const path = resolve(wanted);
  const names = [...OWN, ...instances.map((name) => `${name}.key`)];
  const made = await makeFolder(path);
  await clearRemains(path);
  const mark: z.infer<typeof Mark> = { lifeboat: 'lab', home: home.path, names };
  await writeFile(join(path, MARK), JSON.stringify(mark), { mode: 0o600 });
  return {
    path,
    release: async () => {
      await removeNames(path, names);
      if (made) await rmdir(path).catch(() => undefined);
    },
  };
}

/** Returns whether it was created. Making several folders at once can hang (nodejs/node#27198). */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return false;
    throw refused(
      code === 'ENOENT'
        ? `the folder ${path} cannot be made: ${dirname(path)} does not exist or takes no folders`
        : `the folder ${path} cannot be made (${code ?? 'unknown'})`,
      error,
    );
  }
}

async function clearRemains(path: string): Promise<void> {
  const found = await readdir(path).catch((error: unknown) => {
    throw refused(
      errorCode(error) === 'ENOTDIR' ? `${path} is not a folder` : `the folder ${path} cannot be read`,
      error,
    );
  });
  if (found.length === 0) return;
  const mark = await readMark(path);
  if (mark === undefined || !found.every((name) => mark.names.includes(name))) {
    throw refused(`the folder ${path} is not empty`);
  }
  if (await listens(join(mark.home, 'alive'))) throw refused(`another lab uses the folder ${path}`);
  await removeNames(path, mark.names);
}

async function readMark(path: string): Promise<z.infer<typeof Mark> | undefined> {
  try {
    return Mark.parse(JSON.parse(await readFile(join(path, MARK), 'utf8')));
  } catch {
    return undefined;
  }
}

/** The mark goes last, so that a killed removal can be resumed. */
async function removeNames(path: string, names: readonly string[]): Promise<void> {
  const plain = names.filter((name) => name !== MARK && basename(name) === name);
  await Promise.all(plain.map((name) => removeFolder(join(path, name))));
  await removeFolder(join(path, MARK));
}

function refused(why: string, cause?: unknown): LifeboatError {
  return new LifeboatError('lab.folder', show(why), {
    hints: ['choose an empty folder, or one that does not exist yet: every lab needs its own'],
    exitCode: EXIT.usage,
    cause,
  });
}
