import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { runProduct } from '../bench-kit/product.ts';
import { tapIn } from './tap.ts';
import { watchOver } from './watched.ts';

const SECRET = 'sec-Pq4nRw8sLz2mXb6c';
const START = `const { spawnSync } = process.getBuiltinModule('node:child_process');
const { readFileSync, writeFileSync } = process.getBuiltinModule('node:fs');
const { TMPDIR, HOME } = process.env;
const secret = readFileSync(HOME + '/given', 'utf8');
`;

/** Programs that give a secret away, each in another way. */
const CARELESS: Readonly<Record<string, string>> = {
  'a piece of it in what is said': `console.log('it begins with ' + secret.slice(4, 13))`,
  'all of it in a complaint': 'console.error(secret)',
  'an argument of a child': `spawnSync('sleep', ['0.3'], { argv0: secret })`,
  'the environment of a child': `spawnSync('sleep', ['0.3'], { env: { ...process.env, GIVEN: secret } })`,
  'a temporary file': `writeFileSync(TMPDIR + '/x', Buffer.from('12' + secret + '3').toString('base64'))`,
  'the name of a file': `writeFileSync(TMPDIR + '/' + secret, '')`,
  'a file of the home': `writeFileSync([HOME, 'home', 'x'].join('/'), Buffer.from(secret).toString('hex'))`,
};

function placeOf(program: string, { onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-careless-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'given'), SECRET);
  const cli = join(folder, 'careless.cjs');
  writeFileSync(cli, program);
  const env = { HOME: folder };
  const start = () => runProduct({ cli, folder, compiled: join(folder, 'compiled') }, [], env);
  return { folder, env, start };
}

const looking = { known: [SECRET], held: async () => [], folders: ['home'] };

describe.skipIf(!existsSync('/proc/self/environ'))('the watch for secrets', () => {
  test.for(Object.entries(CARELESS))('finds one in %s', async ([, program], context) => {
    const place = placeOf(`${START}${program}`, context);
    const { found } = await watchOver(place, looking, async (run) => void (await run()));
    expect(found).not.toEqual([]);
  });

  test('finds none where there is none', async (context) => {
    const place = placeOf(`${START}spawnSync('sleep', ['0.1']); console.log(TMPDIR)`, context);
    const { found, looks } = await watchOver(place, looking, async (run) => void (await run()));
    expect(found).toEqual([]);
    expect(looks).toBeGreaterThan(2);
  });

  test('knows the random bytes that a program and its children have drawn', async (context) => {
    const draws = (size: number) => `process.getBuiltinModule('node:crypto').randomBytes(${size})`;
    const child = `spawnSync(process.execPath, ['-e', ${JSON.stringify(draws(24))}])`;
    const place = placeOf(
      `${START}console.log('the key is ' + ${draws(32)}.toString('base64url')); ${draws(6)}; ${child}`,
      context,
    );
    const tap = tapIn(place.folder);
    Object.assign(place.env, tap.env);
    const held = async () => tap.drawn();
    const { found } = await watchOver(
      place,
      { ...looking, held, known: [] },
      async (run) => void (await run()),
    );
    expect(tap.drawn().map(({ length }) => length)).toEqual([43, 32]);
    expect(found).not.toEqual([]);
  });
});
