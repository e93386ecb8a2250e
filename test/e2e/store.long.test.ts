import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { addressOf, type Cluster, startCluster } from '../bench-kit/postgres.ts';
import { builtProduct, scriptWith } from '../bench-kit/product.ts';
import { openBench, type TestBench } from '../bench-kit/test-bench.ts';

const product = builtProduct({ cheapVault: true, leaseMs: 3_000 });
let cluster: Cluster;
let made = 0;
beforeAll(async () => {
  cluster = await startCluster({ open: true });
});
afterAll(() => cluster?.remove());

async function freshAddress(): Promise<string> {
  made += 1;
  await cluster.query(`create database store_${made}`);
  return addressOf([cluster.port], `store_${made}`);
}

type Ending = { onTestFinished: (end: () => Promise<void>) => void };

async function benchOf(
  { onTestFinished }: Ending,
  options: Parameters<typeof openBench>[1] = {},
): Promise<TestBench> {
  const sharedPlace = mkdtempSync(join(tmpdir(), 'lifeboat-shared-'));
  const bench = await openBench(product, { commandsHere: true, sharedPlace, ...options });
  onTestFinished(async () => rmSync(sharedPlace, { recursive: true, force: true }));
  onTestFinished(() => bench.close());
  return bench;
}

async function statusOf(bench: TestBench, store?: string) {
  if (store !== undefined) Object.assign(bench.env, { LIFEBOAT_STORE: store });
  const { stdout, stderr, code } = await bench.run('store', 'status', '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

test('a store is created once, says what it is, and shows no secret', async (context) => {
  const store = await freshAddress();
  const bench = await benchOf(context, { store });
  const before = await bench.run('runs');
  expect(before).toMatchObject({ code: 1, stderr: expect.stringContaining('lifeboat store init') });
  const first = await bench.run('store', 'init');
  expect(first, first.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('was made') });
  expect((await bench.run('store', 'init')).stdout).toContain('is there');
  expect((await bench.run('store', 'migrate')).stdout).toContain('the version of the store is 2 already');
  expect(await statusOf(bench)).toMatchObject({ engine: 'postgresql', where: store, size: 0, holders: [] });
  const named = await bench.run('store', 'init').then(async () => {
    Object.assign(bench.env, { LIFEBOAT_STORE: store.replace('postgres@', `postgres:${CANARIES.token}@`) });
    return bench.run('store', 'status');
  });
  expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining('~/.pgpass') });
  expect(named.stdout + named.stderr).not.toContain(CANARIES.token);
  Object.assign(bench.env, { LIFEBOAT_STORE: 'sqlite' });
  for (const command of ['init', 'migrate']) expect((await bench.run('store', command)).code).toBe(2);
});

test('the contents of a home move into PostgreSQL and back, and earlier checkpoints, anchors and receipts still verify', async (context) => {
  const store = await freshAddress();
  const bench = await benchOf(context);
  const made = await bench.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  expect(made.code, made.stderr).toBe(0);
  const receipts = join(bench.folder, 'receipts');
  mkdirSync(receipts);
  const receipt = async (name: string) => {
    const { code, stderr } = await bench.run('receipt', 'last', '--out', join(receipts, name));
    expect(code, stderr).toBe(0);
  };
  /** The states of all receipts by the store in use, which vouches for their key. */
  const verified = async () => {
    const { stdout } = await bench.run('audit', 'verify', '--receipts', receipts, '--json');
    return JSON.parse(stdout).receipts.map(({ state }: { readonly state: string }) => state);
  };
  await receipt('before');
  const { stdout: anchor } = await bench.run('audit', 'anchor');
  const before = await statusOf(bench);
  Object.assign(bench.env, { LIFEBOAT_STORE: store });
  expect((await bench.run('store', 'init')).code).toBe(0);
  delete (bench.env as Record<string, string>)['LIFEBOAT_STORE'];

  const copy = (from: string, to: string, size: number) =>
    bench.run('store', 'copy', '--from', from, '--to', to, '--confirm', String(size));
  expect(await bench.run('store', 'copy', '--from', 'sqlite', '--to', store)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`--confirm ${before.size}`),
  });
  const moved = await copy('sqlite', store, before.size);
  expect(moved.code, moved.stderr).toBe(0);
  expect(moved.stderr).not.toContain('warning');
  const left = await bench.run('doctor');
  expect(left.stdout).toMatch(/^warn +journal +all of it was moved to another store/mu);
  expect(left.stdout).not.toMatch(/^BAD +checkpoints/mu);
  expect(await bench.run('audit', 'verify')).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('this store was moved to'),
  });

  const refused = await bench.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('this store was moved to') });
  expect((await bench.run('runs')).code).toBe(0);
  expect(await statusOf(bench)).toMatchObject({ size: before.size + 1, movedTo: store });

  const there = await statusOf(bench, store);
  expect(there).toMatchObject({ origin: before.origin, size: before.size + 2 });
  expect(await bench.run('audit', 'verify', '--anchor', anchor.trim())).toMatchObject({ code: 0 });
  const again = await bench.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  expect(again.code, again.stderr).toBe(0);
  expect(await verified()).toEqual(['verified']);
  await receipt('there');
  expect(await verified()).toEqual(['verified', 'verified']);
  const { size } = await statusOf(bench);
  const back = await copy(store, 'sqlite', size);
  expect(back.code, back.stderr).toBe(0);
  expect((await bench.run('runs')).code).toBe(0);
  expect(await statusOf(bench, 'sqlite')).toMatchObject({ origin: before.origin, size: size + 2 });
  expect(await verified()).toEqual(['verified', 'verified']);
  expect(await bench.run('audit', 'verify', '--anchor', anchor.trim())).toMatchObject({ code: 0 });
  expect((await bench.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes')).code).toBe(0);
});

test('a move that was killed is continued by the same command', async (context) => {
  const store = await freshAddress();
  const bench = await benchOf(context);
  await bench.run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  const { size } = await statusOf(bench);
  await statusOf(bench, 'sqlite');
  Object.assign(bench.env, { LIFEBOAT_STORE: store });
  await bench.run('store', 'init');
  Object.assign(bench.env, { LIFEBOAT_STORE: 'sqlite' });
  // The database has the target, and the copier gets no answer.
  await cluster.query(`alter database ${new URL(store).pathname.slice(1)} with allow_connections false`);
  const copy = (confirm: number) =>
    bench.run('store', 'copy', '--from', 'sqlite', '--to', store, '--confirm', String(confirm));
  expect((await copy(size)).code).toBe(1);
  await cluster.query(`alter database ${new URL(store).pathname.slice(1)} with allow_connections true`);
  const moving = bench.start('store', 'copy', '--from', 'sqlite', '--to', store, '--confirm', String(size));
  while ((await statusOf(bench)).movedTo === undefined && moving.child.exitCode === null);
  moving.child.kill('SIGKILL');
  await moving.ended;
  const left = await statusOf(bench);
  const after = await copy(left.size);
  const isWhole = after.code === 2 && after.stderr.includes('already');
  expect(isWhole || after.code === 0, after.stderr).toBe(true);
  expect(await statusOf(bench, store)).toMatchObject({ origin: left.origin, size: left.size + 1 });
});

test('nothing moves while any stream is held, or into a store that holds something else', {
  timeout: 1_800_000,
}, async (context) => {
  const [store, other] = [await freshAddress(), await freshAddress()];
  const bench = await benchOf(context, { store, taskMs: 60_000 });
  const stranger = await benchOf(context, { store: other });
  for (const one of [bench, stranger]) expect((await one.run('store', 'init')).code).toBe(0);
  expect((await stranger.run('keys', 'add', 'orders', '--file', stranger.tokenFile)).code).toBe(0);
  const running = bench.start('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
  while ((await statusOf(bench)).holders.length === 0);
  const { size } = await statusOf(bench);
  const copy = (from: string, to: string) =>
    bench.run('store', 'copy', '--from', from, '--to', to, '--confirm', `${size}`);
  expect(await copy(store, other)).toMatchObject({ code: 3, stderr: expect.stringContaining('is in use') });
  running.child.kill('SIGKILL');
  await running.ended;
  while ((await statusOf(bench)).holders.length > 0);
  expect(await copy(store, other)).toMatchObject({ code: 2, stderr: expect.stringContaining('holds') });
});

test('a team without a shared folder changes nothing without --alone, and doctor says so', async (context) => {
  const bench = await benchOf(context, { store: await freshAddress() });
  expect((await bench.run('store', 'init')).code).toBe(0);
  const config = bench.env['LIFEBOAT_CONFIG'] ?? '';
  const text = readFileSync(config, 'utf8');
  writeFileSync(config, text.replace(/^checkpoints: .*\n/mu, ''));
  const backUp = ['backups', 'create', '--instance', 'orders', '--yes'];
  const refused = await bench.run(...backUp);
  expect(refused.code, refused.stderr).toBe(2);
  expect(refused.stderr).toContain(
    'the checkpoint folder of this team cannot be used: the config names none',
  );
  expect(refused.stderr).toContain('add `--alone REASON`');
  expect((await bench.run('runs')).code).toBe(0);
  expect(bench.server.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
  const alone = await bench.run(...backUp, '--alone', 'the disk is down');
  expect(alone.code, alone.stderr).toBe(0);
  expect((await bench.run('audit', 'verify')).stdout).toContain(': the disk is down');
  expect((await bench.run('doctor')).stdout).toMatch(/^BAD +checkpoints: shared/mu);
  // It is new now, and the first command fills it.
  writeFileSync(config, text);
  expect((await bench.run(...backUp)).code).toBe(2);
  expect((await bench.run(...backUp, '--alone', 'first use of the folder')).code).toBe(0);
  const further = await bench.run(...backUp);
  expect(further.code, further.stderr).toBe(0);
});

test('no code for PostgreSQL is loaded while the store is SQLite', async (context) => {
  const folder = `${product.folder}-watched`;
  context.onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  cpSync(product.folder, folder, { recursive: true });
  // This copy says aloud when the client of PostgreSQL starts.
  const client = /"node_modules\/pg\/lib\/index\.js"\(\w+,\w+\)\{/u;
  const script = scriptWith(folder, client);
  const started = readFileSync(script, 'utf8').replace(client, (head) => {
    return `${head}process.stderr.write("PostgreSQL starts\\n");`;
  });
  writeFileSync(script, started);
  const bench = await openBench(
    { cli: join(folder, 'cli.js'), folder, compiled: join(folder, 'compiled') },
    {},
  );
  context.onTestFinished(() => bench.close());
  for (const words of [['run', 'back-up-and-verify', '--instance', 'orders', '--yes'], ['runs']]) {
    const { code, stderr } = await bench.run(...words);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('PostgreSQL starts');
  }
  Object.assign(bench.env, { LIFEBOAT_STORE: await freshAddress() });
  expect((await bench.run('runs')).stderr).toContain('PostgreSQL starts');
});
