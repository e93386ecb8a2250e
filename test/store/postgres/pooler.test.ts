import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { auditVerify } from '../../../src/audit/audit.ts';
import { openPostgresForReading } from '../../../src/store/postgres/open.ts';
import { initPostgresStore } from '../../../src/store/postgres/schema.ts';
import { startCluster } from '../../bench-kit/postgres.ts';
import { until } from '../../bench-kit/until.ts';
import { NOTES } from '../contract/projection.ts';
import { note } from '../contract/store-under-test.ts';
import { postgresStore } from './postgres-store.ts';

/* A pooler between Lifeboat and a database: Debian's pgbouncer, in front of a healthy store. */
const cluster = await startCluster({ open: true });
afterAll(() => cluster.remove());

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The address of a database behind a pgbouncer of this mode. */
async function pooled(database: string, mode: 'session' | 'transaction', more: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  const port = await freePort();
  const settings = [
    '[databases]',
    `* = host=127.0.0.1 port=${cluster.port} user=postgres`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    ...more,
  ];
  writeFileSync(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`);
  // It does not run as root.
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn(PGBOUNCER, ['-q', ...asUser, join(folder, 'pgbouncer.ini')], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true });
  });
  await until(async () => {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database });
    client.on('error', () => undefined);
    return await client.connect().then(
      () => client.end().then(() => true),
      () => false,
    );
  });
  return `postgres://postgres@127.0.0.1:${port}/${database}?sslmode=disable`;
}

const IGNORE = 'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,options';

async function filled() {
  const store = await postgresStore(cluster);
  const journal = await store.open();
  onTestFinished(() => journal.close());
  await journal.append([note('one')], [await journal.hold('run/a')]);
  return store;
}

const PGBOUNCER = '/usr/sbin/pgbouncer';
if (!existsSync(PGBOUNCER)) console.warn('pgbouncer is not here: its tests were skipped');

describe.skipIf(!existsSync(PGBOUNCER))('a pooler before the database', () => {
  test.each([
    ['as it is installed', []],
    ['that passes our settings over', [IGNORE]],
    ['with one connection', [IGNORE, 'default_pool_size = 1']],
  ])('in transaction mode, %s, is refused and named before anything is read or written', async (_, more) => {
    const { database } = await filled();
    const address = await pooled(database, 'transaction', more);
    const named = {
      code: 'journal.pooled',
      shortMessage: expect.stringContaining('pgbouncer in transaction mode'),
    };
    const reading = openPostgresForReading({ address, env: {}, projections: NOTES, patience: 300 });
    await expect(reading).rejects.toMatchObject(named);
    await expect(initPostgresStore({ address, env: {} })).rejects.toMatchObject(named);
  });

  test('in session mode makes no difference', async () => {
    const { database } = await filled();
    const address = await pooled(database, 'session', [IGNORE]);
    const reader = await openPostgresForReading({ address, env: {}, projections: NOTES });
    onTestFinished(() => reader.close());
    expect(await reader.rows('notes')).toHaveLength(1);
  });

  test('that appears during an audit prevents a verdict', async () => {
    const { open, signer } = await filled();
    const journal = await open();
    onTestFinished(() => journal.close());
    const { pooled: refusal } = await import('../../../src/store/postgres/trouble.ts');
    const log = { ...journal.log, head: () => Promise.reject(refusal()) };
    const audit = auditVerify({
      log,
      places: [],
      storedKey: signer.publicKey,
      transcriptOf: () => undefined,
    });
    await expect(audit).rejects.toMatchObject({ code: 'audit.no-verdict', exitCode: 2 });
  });
});

test('a database that cannot hold every character is refused at init, by name, and nothing is created', async () => {
  await cluster.query("create database latin encoding 'LATIN1' locale 'C' template template0");
  const address = cluster.address('latin');
  await expect(initPostgresStore({ address, env: process.env })).rejects.toMatchObject({
    code: 'journal.encoding',
    shortMessage: 'the database latin has the encoding LATIN1, and a store needs UTF8',
  });
  expect(await cluster.query("select from pg_namespace where nspname = 'lifeboat'", 'latin')).toEqual([]);
});
