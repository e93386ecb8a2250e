import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { canTrace } from '../crash/strace.ts';
import { addressOf, type Servers, startServers } from '../team/servers.ts';
import { CANARIES, type House, openHouse } from './house.ts';
import { builtProduct } from './product.ts';

const product = builtProduct({ cheapVault: true, leaseMs: 3_000 });
let servers: Servers;
let made = 0;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers?.close());

async function freshAddress(): Promise<string> {
  made += 1;
  await servers.primary.query(`create database store_${made}`);
  return addressOf([servers.primary.port], `store_${made}`);
}

type Ending = { onTestFinished: (end: () => Promise<void>) => void };

async function houseOf(
  { onTestFinished }: Ending,
  options: Parameters<typeof openHouse>[1] = {},
): Promise<House> {
  const house = await openHouse(product, options);
  onTestFinished(() => house.close());
  return house;
}

async function statusOf(house: House, store?: string) {
  if (store !== undefined) Object.assign(house.env, { LIFEBOAT_STORE: store });
  const { stdout, stderr, code } = await house.run('store', 'status', '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

test('a store is made once, says what it is, and holds no secret in what it says', async (context) => {
  const store = await freshAddress();
  const house = await houseOf(context, { store });
  const before = await house.run('runs');
  expect(before).toMatchObject({ code: 1, stderr: expect.stringContaining('lifeboat store init') });
  const first = await house.run('store', 'init');
  expect(first, first.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('was made') });
  expect((await house.run('store', 'init')).stdout).toContain('is there');
  expect(await statusOf(house)).toMatchObject({ engine: 'postgresql', where: store, size: 0, holders: [] });
  const named = await house.run('store', 'init').then(async () => {
    Object.assign(house.env, { LIFEBOAT_STORE: store.replace('postgres@', `postgres:${CANARIES.token}@`) });
    return house.run('store', 'status');
  });
  expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining('~/.pgpass') });
  expect(named.stdout + named.stderr).not.toContain(CANARIES.token);
  Object.assign(house.env, { LIFEBOAT_STORE: 'sqlite' });
  expect((await house.run('store', 'init')).code).toBe(2);
});

test('what a home holds moves into PostgreSQL and back, and every checkpoint and anchor of before holds', async (context) => {
  const store = await freshAddress();
  const house = await houseOf(context);
  const made = await house.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  expect(made.code, made.stderr).toBe(0);
  const { stdout: anchor } = await house.run('audit', 'anchor');
  const before = await statusOf(house);
  Object.assign(house.env, { LIFEBOAT_STORE: store });
  expect((await house.run('store', 'init')).code).toBe(0);
  delete (house.env as Record<string, string>)['LIFEBOAT_STORE'];

  const copy = (from: string, to: string, size: number) =>
    house.run('store', 'copy', '--from', from, '--to', to, '--confirm', String(size));
  expect(await house.run('store', 'copy', '--from', 'sqlite', '--to', store)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`--confirm ${before.size}`),
  });
  const moved = await copy('sqlite', store, before.size);
  expect(moved.code, moved.stderr).toBe(0);

  const refused = await house.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('this store was moved to') });
  expect((await house.run('runs')).code).toBe(0);
  expect(await statusOf(house)).toMatchObject({ size: before.size + 1, movedTo: store });

  const there = await statusOf(house, store);
  expect(there).toMatchObject({ origin: before.origin, size: before.size + 2 });
  expect(await house.run('audit', 'verify', '--anchor', anchor.trim())).toMatchObject({ code: 0 });
  const again = await house.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  expect(again.code, again.stderr).toBe(0);
  const { size } = await statusOf(house);
  const back = await copy(store, 'sqlite', size);
  expect(back.code, back.stderr).toBe(0);
  expect((await house.run('runs')).code).toBe(0);
  expect(await statusOf(house, 'sqlite')).toMatchObject({ origin: before.origin, size: size + 2 });
  expect(await house.run('audit', 'verify', '--anchor', anchor.trim())).toMatchObject({ code: 0 });
  expect((await house.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes')).code).toBe(0);
});

test('a move that was killed is taken up by the same command', async (context) => {
  const store = await freshAddress();
  const house = await houseOf(context);
  await house.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  const { size } = await statusOf(house);
  await statusOf(house, 'sqlite');
  Object.assign(house.env, { LIFEBOAT_STORE: store });
  await house.run('store', 'init');
  Object.assign(house.env, { LIFEBOAT_STORE: 'sqlite' });
  // The database has the target, and nothing comes back to whoever copies.
  await servers.primary.query(
    `alter database ${new URL(store).pathname.slice(1)} with allow_connections false`,
  );
  const copy = (confirm: number) =>
    house.run('store', 'copy', '--from', 'sqlite', '--to', store, '--confirm', String(confirm));
  expect((await copy(size)).code).toBe(1);
  await servers.primary.query(
    `alter database ${new URL(store).pathname.slice(1)} with allow_connections true`,
  );
  const moving = house.start('store', 'copy', '--from', 'sqlite', '--to', store, '--confirm', String(size));
  while ((await statusOf(house)).movedTo === undefined && moving.child.exitCode === null);
  moving.child.kill('SIGKILL');
  await moving.ended;
  const left = await statusOf(house);
  const after = await copy(left.size);
  const isWhole = after.code === 2 && after.stderr.includes('already');
  expect(isWhole || after.code === 0, after.stderr).toBe(true);
  expect(await statusOf(house, store)).toMatchObject({ origin: left.origin, size: left.size + 1 });
});

test('nothing moves while somebody holds something, nor into a store that holds something else', {
  timeout: 180_000,
}, async (context) => {
  const [store, other] = [await freshAddress(), await freshAddress()];
  const house = await houseOf(context, { store, taskMs: 60_000 });
  const stranger = await houseOf(context, { store: other });
  for (const one of [house, stranger]) expect((await one.run('store', 'init')).code).toBe(0);
  expect((await stranger.run('keys', 'add', 'orders', '--file', stranger.tokenFile)).code).toBe(0);
  const running = house.start('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  while ((await statusOf(house)).holders.length === 0);
  const { size } = await statusOf(house);
  const copy = (from: string, to: string) =>
    house.run('store', 'copy', '--from', from, '--to', to, '--confirm', `${size}`);
  expect(await copy(store, other)).toMatchObject({ code: 3, stderr: expect.stringContaining('is in use') });
  running.child.kill('SIGKILL');
  await running.ended;
  while ((await statusOf(house)).holders.length > 0);
  expect(await copy(store, other)).toMatchObject({ code: 2, stderr: expect.stringContaining('holds') });
});

test.skipIf(!canTrace())('nothing of PostgreSQL is loaded while the store is SQLite', async (context) => {
  const house = await houseOf(context);
  const engines = readdirSync(product.folder).filter(
    (name) =>
      /\.js$/u.test(name) && readFileSync(join(product.folder, name), 'utf8').includes('lifeboat leases'),
  );
  expect(engines).toHaveLength(1);
  const trace = join(house.folder, 'trace');
  for (const words of [['run', 'back-up-and-verify', '--instance', 'orders', '--yes'], ['runs']]) {
    const strace = ['strace', '-f', '-qq', '-e', 'trace=openat', '-o', trace];
    const { code, stderr } = await house.startUnder(strace, ...words).ended;
    expect(code, stderr).toBe(0);
    const opened = readFileSync(trace, 'utf8');
    expect(opened).toContain('lifeboat.db');
    expect(opened).not.toContain(engines[0]);
  }
});
