import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { emptyDatabases, INITDB, initialise } from '../../src/lab/engine/empty-database.ts';
import { engineUser, type Launcher, makeLauncher } from '../../src/lab/engine/launcher.ts';
import { type Binaries, findBinaries } from '../../src/lab/engine/locate-postgres.ts';
import { isReachable } from '../../src/lab/home.ts';

const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache');

let [found, foundBare]: (Promise<string | undefined> | undefined)[] = [];

/**
 * The data folder of an empty database of the lab's PostgreSQL, for copies: `initdb` would be a tenth of the
 * time of all tests. It stays with the packages of the checkout, one for each version and user. Undefined if
 * PostgreSQL's user cannot read it, or this one cannot write. Do not change it or start a server on it.
 */
export function emptyDatabase(): Promise<string | undefined> {
  found ??= findOrMake();
  return found;
}

/**
 * As `emptyDatabase`, with one database in it and none to make another from: two thirds of what `initdb`
 * makes are those, and whatever copies, backs up or restores an instance of a lab would carry them along.
 */
export function bareDatabase(): Promise<string | undefined> {
  foundBare ??= findOrMake(BARE);
  return foundBare;
}

/** For a PostgreSQL that no other user can reach. */
const BARE = `update pg_database set datistemplate = false;
drop database template0;
drop database template1;
vacuum pg_database;
checkpoint;
`;

/** Makes an empty database in a new data folder. */
export async function makeEmptyDatabase(launcher: Launcher, binaries: Binaries, data: string): Promise<void> {
  const template = await emptyDatabase();
  if (template === undefined) return await initialise(launcher, binaries, data);
  const { signal } = new AbortController();
  await emptyDatabases(launcher, binaries, { template, isMade: true, signal })(data, signal);
}

/** With `sql` after `initdb`. */
async function findOrMake(sql = ''): Promise<string | undefined> {
  const user = await engineUser();
  const making = makeFolder();
  if (making === undefined) return undefined;
  try {
    if (user !== undefined && !(await isReachable(CACHE))) return undefined;
    const launcher = await makeLauncher(user);
    if (user !== undefined) chownSync(making, user.uid, user.gid);
    const binaries = await findBinaries(launcher, making);
    const facts = [binaries.version, user?.uid ?? process.getuid?.(), ...INITDB, sql];
    const digest = createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
    const made = join(CACHE, `lifeboat-empty-${digest}`);
    if (existsSync(made)) return made;
    const data = join(making, 'data');
    await initialise(launcher, binaries, data);
    if (sql !== '') {
      const script = 'printf %s "$1" | "$2" --single -D "$3" postgres';
      await launcher.run('/bin/sh', ['-c', script, 'sh', sql, binaries.postgres, data]);
    }
    try {
      renameSync(data, made);
    } catch (thrown) {
      // Another process was faster.
      if (!existsSync(made)) throw thrown;
    }
    return made;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** Undefined if the checkout belongs to another user. */
function makeFolder(): string | undefined {
  try {
    mkdirSync(CACHE, { recursive: true });
    return mkdtempSync(join(CACHE, 'lifeboat-empty-'));
  } catch {
    return undefined;
  }
}
