import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { chosenStore, problemOfStore } from '../../src/config/store-address.ts';
import { storeNamed } from '../../src/config/store-named.ts';

test.for([
  'sqlite',
  'postgres://db.example.com/lifeboat',
  'postgresql://robin@db.example.com:5433/lifeboat?sslmode=verify-full',
  'postgres://robin@a.example.com:5432,b.example.com:5433/lifeboat?target_session_attrs=read-write',
  'postgres://[2001:db8::7]:5432/lifeboat',
  'postgres:///lifeboat?host=/var/run/postgresql',
])('%s is a store', (address) => {
  expect(problemOfStore(address)).toBeUndefined();
  expect(parseConfig(`store: ${JSON.stringify(address)}\ninstances: {}`, '/etc/l.yaml').store).toBe(address);
});

const SECRET = 'hunter2';

test.for([
  ['postgres://robin:hunter2@db/lifeboat', '~/.pgpass'],
  ['postgres://robin@db/lifeboat?password=hunter2', '~/.pgpass'],
  ['postgres://robin@db/lifeboat?sslmode=require&sslpassword=hunter2', '~/.pgpass'],
  ['mysql://hunter2@db/lifeboat', 'postgres://'],
  ['http://hunter2/', 'postgres://'],
  ['postgres://a;hunter2/lifeboat', 'one host'],
  ['postgres://db/lifeboat hunter2', 'without spaces'],
  ['postgres://db/lifeboat#hunter2', 'of the form'],
])('%s is not accepted as a store, and not shown', async ([address = '', why = '']) => {
  const text = `store: ${JSON.stringify(address)}\ninstances: {}`;
  for (const attempt of [
    async () => parseConfig(text, '/etc/lifeboat.yaml'),
    async () => chosenStore({ LIFEBOAT_STORE: address }, undefined),
  ]) {
    const thrown = await attempt().catch((error: unknown) => error);
    expect(thrown).toMatchObject({ exitCode: 2 });
    expect(inspect(thrown)).toContain(why);
    expect(inspect(thrown)).not.toContain(SECRET);
  }
});

test('LIFEBOAT_STORE wins over the config, and without an address the store is SQLite', async ({
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'lifeboat.yaml');
  const named = (text: string | undefined, env: NodeJS.ProcessEnv = {}) => {
    if (text !== undefined) writeFileSync(path, text);
    return storeNamed({ LIFEBOAT_CONFIG: path, ...env });
  };
  expect(await named(undefined)).toBe('sqlite');
  expect(await named('instances: {}')).toBe('sqlite');
  expect(await named('store: postgres://db/lifeboat\ninstances: {}')).toBe('postgres://db/lifeboat');
  expect(await named(undefined, { LIFEBOAT_STORE: 'postgres://other/x' })).toBe('postgres://other/x');
  expect(await named(undefined, { LIFEBOAT_STORE: 'sqlite' })).toBe('sqlite');
});

test('a wrong config does not prevent opening a journal, unless the config may name its store', async ({
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'lifeboat.yaml');
  writeFileSync(path, 'instances: [');
  expect(await storeNamed({ LIFEBOAT_CONFIG: path })).toBe('sqlite');
  writeFileSync(path, 'instances: [\nstore: postgres://db/lifeboat');
  await expect(storeNamed({ LIFEBOAT_CONFIG: path })).rejects.toMatchObject({ code: 'config.yaml' });
});
