import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { LifeboatError } from '../errors.ts';
import { type Home, listens, removeFolder } from './home.ts';

export interface StateFolder {
  readonly path: string;
  /** Removes what the lab put there; the folder itself too when the lab made it. */
  release(): Promise<void>;
}

const MARK = 'lab.json';
const Mark = z.object({ home: z.string() });

/**
 * The folder for tokens, keys and stored backups: the one that was asked for, else one in the lab's home. A folder
 * that holds anything but the remains of a killed lab rejects with `lab.folder`.
 */
export async function openStateFolder(wanted: string | undefined, home: Home): Promise<StateFolder> {
  if (wanted === undefined) return { path: home.state, release: async () => undefined };
  const path = resolve(wanted);
  const made = (await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined;
  await clearRemains(path);
  await writeFile(join(path, MARK), JSON.stringify({ home: home.path }), {
    mode: 0o600,
  });
  return {
    path,
    release: () => (made ? removeFolder(path) : emptyFolder(path)),
  };
}

async function clearRemains(path: string): Promise<void> {
  if ((await readdir(path)).length === 0) return;
  const text = await readFile(join(path, MARK), 'utf8').catch(() => undefined);
  const mark = text === undefined ? undefined : Mark.safeParse(JSON.parse(text));
  if (mark?.success !== true) {
    throw new LifeboatError('lab.folder', `the folder ${path} is not empty`, {
      hints: [
        'choose an empty folder, or one that does not exist yet: the lab removes its folder at the end',
      ],
    });
  }
  if (await listens(join(mark.data.home, 'alive'))) {
    throw new LifeboatError('lab.folder', `another lab uses the folder ${path}`, {
      hints: ['choose another folder: every lab needs its own'],
    });
  }
  await emptyFolder(path);
}

async function emptyFolder(path: string): Promise<void> {
  await Promise.all((await readdir(path)).map((name) => removeFolder(join(path, name))));
}
