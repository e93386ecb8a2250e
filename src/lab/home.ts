import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { EXIT, errorCode, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { EngineUser } from './engine/launcher.ts';

const HOME_PREFIX = 'lifeboat-lab-';
/** A socket's path has 107 bytes at most (`unix(7)`; 103 on macOS); the lab puts 34 below its home. */
const LONGEST_HOME = 69;

/** Databases live in `engine`, everything secret in `state`. */
export interface Home {
  readonly path: string;
  /** 0700, belongs to the user that PostgreSQL runs as. */
  readonly engine: string;
  /** 0700, belongs to the user who started the lab. */
  readonly state: string;
  release(): Promise<void>;
}

/**
 * In the first suitable temporary folder: short enough for a socket, reachable by the database's user. A
 * listening socket marks a living lab; the kernel closes it at any death, so abandoned homes are found.
 */
export async function claimHome(user: EngineUser | undefined): Promise<Home> {
  const path = await mkdtemp(join(await suitableRoot(user), HOME_PREFIX));
  const alive = createServer((socket) => socket.destroy()).unref();
  try {
    await new Promise<void>((resolve, reject) => {
      alive.once('error', reject);
      alive.listen(join(path, 'alive'), resolve);
    });
    const [engine, state] = [join(path, 'pg'), join(path, 'state')];
    await mkdir(engine, { mode: 0o700 });
    await mkdir(state, { mode: 0o700 });
    if (user !== undefined) {
      await chown(engine, user.uid, user.gid);
      // The database's user may pass through the home, but neither list nor change it.
      await chown(path, 0, user.gid);
      await chmod(path, 0o710);
    }
    const release = async () => {
      await new Promise((resolve) => alive.close(resolve));
      await removeFolder(path);
    };
    return { path, engine, state, release };
  } catch (error) {
    alive.close();
    await removeFolder(path);
    throw error;
  }
}

/** Removes killed labs' homes that belong to this user, if nothing listens and the databases have ended. */
export async function sweepHomes(log: (line: string) => void): Promise<void> {
  for (const root of await temporaryRoots()) {
    for (const name of await readdir(root).catch(() => [])) {
      if (!name.startsWith(HOME_PREFIX)) continue;
      const path = join(root, name);
      if (!(await isLeftOver(path))) continue;
      if (await databasesEnd(path)) {
        await removeRemains(path).catch(() => undefined);
        log(`removed what a killed lab left behind: ${path}`);
      } else {
        log(`left ${path} alone: a database of a killed lab still runs there`);
      }
    }
  }
}

/** On a unix socket; a full queue counts as a yes. */
async function listens(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => resolve(true));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    );
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.destroy());
  });
}

/** For other users: they can pass every folder above the path. */
export async function isReachable(path: string): Promise<boolean> {
  for (let at = await realpath(path); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (dirname(at) === at) return true;
  }
}

export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

/** The socket goes last, so that the next sweep can resume one that is killed. */
async function removeRemains(path: string): Promise<void> {
  const names = (await readdir(path)).filter((name) => name !== 'alive');
  await Promise.all(names.map((name) => removeFolder(join(path, name))));
  await removeFolder(path);
}

async function temporaryRoots(): Promise<string[]> {
  const roots = await Promise.all(
    [tmpdir(), '/tmp', '/var/tmp'].map((root) => realpath(root).catch(() => '')),
  );
  return [...new Set(roots)].filter((root) => root !== '');
}

async function suitableRoot(user: EngineUser | undefined): Promise<string> {
  for (const root of await temporaryRoots()) {
    if (Buffer.byteLength(join(root, `${HOME_PREFIX}XXXXXX`)) > LONGEST_HOME) continue;
    if (user === undefined || (await isReachable(root))) return root;
  }
  throw new LifeboatError(
    'lab.folder',
    'no temporary folder is short and open enough for a database socket',
    { hints: ['set TMPDIR to a short path, such as /tmp'] },
  );
}

/** Making a home takes milliseconds; an older one without a socket was abandoned. */
const HALF_MADE_MS = 60_000;

async function isLeftOver(path: string): Promise<boolean> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined || !facts.isDirectory() || facts.uid !== process.getuid?.()) return false;
  const socket = join(path, 'alive');
  if ((await lstat(socket).catch(() => undefined)) === undefined) {
    // A home gets its socket first, so this one is empty; anything else is not a home.
    return Date.now() - facts.mtimeMs > HALF_MADE_MS && (await readdir(path)).length === 0;
  }
  return !(await listens(socket));
}

/** PostgreSQL shuts down by itself when its lab dies, which takes a moment. */
async function databasesEnd(path: string): Promise<boolean> {
  const engine = join(path, 'pg');
  const names = await readdir(engine).catch(() => []);
  for (let look = 0; look < 100; look += 1) {
    const running = await Promise.all(names.map((name) => listens(join(engine, name, '.s.PGSQL.5432'))));
    if (!running.includes(true)) return true;
    await pause(50);
  }
  return false;
}

interface StateFolder {
  readonly path: string;
  /** Also the folder, if the lab made it and it is empty. */
  release(): Promise<void>;
}

const MARK = 'lab.json';
/** Beside the keys of the instances. */
const OWN = [MARK, 'token', 'token-readonly', 'lifeboat.yaml', 'store', 'archive', 'sockets.json'];

/** Strict, with a word that nothing else writes, because its folder is removed. */
const Mark = z.strictObject({
  lifeboat: z.literal('lab'),
  home: z.string().refine((home) => basename(home).startsWith(HOME_PREFIX)),
  names: z.array(z.string()),
});

/**
 * For tokens, keys and stored backups: the requested folder, or one in the lab's home. A folder with anything
 * but a killed lab's remains rejects with `lab.folder`, untouched.
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
