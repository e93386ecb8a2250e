import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseAddress } from '../../../src/store/postgres/address.ts';
import { createLink } from '../../../src/store/postgres/link.ts';
import { openPostgresForReading } from '../../../src/store/postgres/open.ts';
import { initPostgresStore } from '../../../src/store/postgres/schema.ts';
import { type Cluster, startCluster } from '../../bench-kit/postgres.ts';

/* A server that encrypts, with certificates of a private authority. */
const certificates = mkdtempSync(join(tmpdir(), 'certificates-'));
const cluster = await startEncrypting();
afterAll(async () => {
  await cluster.remove();
  rmSync(certificates, { recursive: true });
});

await cluster.query("create role zoe superuser login password 'open sesame'");
const database = await cluster.makeDatabase();
await initPostgresStore({ address: cluster.address(database), env: {} });

const CA = join(certificates, 'ca.crt');
const PASSWORD = { PGPASSWORD: 'open sesame' };

async function open(query: string, { host = 'localhost', env = PASSWORD as NodeJS.ProcessEnv } = {}) {
  const address = `postgres://zoe@${host}:${cluster.port}/${database}?${query}`;
  const reader = await openPostgresForReading({ address, env, projections: [], patience: 300 });
  try {
    const [row] = await cluster.query<{ ssl: boolean }>(
      `select bool_and(ssl) as ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'zoe'`,
    );
    return row?.ssl;
  } finally {
    await reader.close();
  }
}

describe('sslmode', () => {
  test.each([
    ['disable', false],
    ['prefer', true],
    ['require', true],
    [`verify-ca&sslrootcert=${CA}`, true],
    [`verify-full&sslrootcert=${CA}`, true],
  ])('%s connects, encrypted: %s', async (mode, isEncrypted) => {
    expect(await open(`sslmode=${mode}`)).toBe(isEncrypted);
  });

  test('verify-full rejects an unknown authority', async () => {
    await expect(open('sslmode=verify-full')).rejects.toMatchObject({
      code: 'journal.refused',
      shortMessage: expect.stringMatching(/^localhost:\d+ cannot be trusted: /u),
      hints: [expect.stringContaining('sslrootcert=FILE'), expect.stringContaining('sslmode=require')],
    });
  });

  test('verify-full requires the name in the certificate, verify-ca does not', async () => {
    const host = '127.0.0.1';
    await expect(open(`sslmode=verify-full&sslrootcert=${CA}`, { host })).rejects.toMatchObject({
      code: 'journal.refused',
      hints: expect.arrayContaining([expect.stringContaining('for another name')]),
    });
    expect(await open(`sslmode=verify-ca&sslrootcert=${CA}`, { host })).toBe(true);
  });

  test('an unreadable certificate, or a key that others can read, is reported before connecting', async () => {
    await expect(open('sslmode=verify-full&sslrootcert=/nowhere/ca.crt')).rejects.toMatchObject({
      code: 'config.store',
      shortMessage: expect.stringContaining('/nowhere/ca.crt cannot be used for the store'),
    });
    const key = join(certificates, 'open.key');
    copyFileSync(join(certificates, 'server.key'), key);
    chmodSync(key, 0o644);
    await expect(open(`sslmode=require&sslkey=${key}`)).rejects.toMatchObject({
      code: 'config.store',
      shortMessage: expect.stringContaining('others can read it'),
    });
  });
});

test('the authority in ~/.postgresql/root.crt is trusted, even for the name of a server at a hostaddr', async () => {
  const HOME = mkdtempSync(join(tmpdir(), 'home-'));
  onTestFinished(() => rmSync(HOME, { recursive: true }));
  mkdirSync(join(HOME, '.postgresql'));
  copyFileSync(CA, join(HOME, '.postgresql', 'root.crt'));
  const env = { ...PASSWORD, HOME };
  expect(await open('sslmode=verify-full', { env })).toBe(true);
  expect(await open('sslmode=verify-full&hostaddr=127.0.0.1', { env })).toBe(true);
  const other = open('sslmode=verify-full&hostaddr=127.0.0.1', { env, host: 'other.example.com' });
  await expect(other).rejects.toMatchObject({
    hints: expect.arrayContaining([expect.stringContaining('for another name')]),
  });
});

describe('channel_binding=require', () => {
  test('connects if the password is bound to the certificate', async () => {
    expect(await open('sslmode=require&channel_binding=require')).toBe(true);
  });

  test('sends no password over an unencrypted connection', async () => {
    await expect(open('sslmode=disable&channel_binding=require')).rejects.toMatchObject({
      code: 'journal.refused',
      shortMessage: expect.stringMatching(/^localhost:\d+ does not bind the password to its certificate/u),
    });
  });

  test('refuses a server that asks for no password', async () => {
    const address = `${cluster.address(database)}&channel_binding=require`;
    const reader = openPostgresForReading({ address, env: {}, projections: [], patience: 20_000 });
    await expect(reader).rejects.toMatchObject({ code: 'journal.refused' });
  });
});

test('options in the address reach the session, and never weaken durability', async () => {
  const options = encodeURIComponent('-c synchronous_commit=off -c application_name=x -c work_mem=7MB');
  const link = createLink({
    address: parseAddress(`${cluster.address(database)}&options=${options}`, {}),
    ...{ env: {}, name: 'test', statementTimeout: 5_000, idleTimeout: 5_000, readOnly: true },
  });
  onTestFinished(() => link.close());
  const sql = "select current_setting('work_mem') as memory, current_setting('synchronous_commit') as commit";
  expect(await link.use((session) => session.query(sql))).toEqual([{ memory: '7MB', commit: 'on' }]);
});

describe('a failed connection', () => {
  test('because of a wrong password names the user, and says where passwords come from', async () => {
    const wrong = open('sslmode=require', { env: { PGPASSWORD: 'a wrong one' } });
    await expect(wrong).rejects.toMatchObject({
      code: 'journal.refused',
      shortMessage: expect.stringMatching(/^localhost:\d+ does not let user zoe in: /u),
      hints: [expect.stringContaining('PGPASSWORD or ~/.pgpass')],
    });
    await wrong.catch((error: unknown) => expect(JSON.stringify(error)).not.toContain('a wrong one'));
  });

  test('because of a missing password says why none was found', async () => {
    await expect(open('sslmode=require', { env: { HOME: '/nowhere' } })).rejects.toMatchObject({
      code: 'journal.refused',
      shortMessage: expect.stringMatching(/user zoe in: it asks for a password, and none is given$/u),
      hints: ['no password was sent: there is no /nowhere/.pgpass', expect.any(String)],
    });
  });

  test('because no server answers names all servers, and is abandoned after a while', async () => {
    const reader = openPostgresForReading({
      ...{ address: 'postgres://127.0.0.1:1,127.0.0.1:2/x', env: {}, projections: [], patience: 200 },
    });
    await expect(reader).rejects.toMatchObject({
      code: 'journal.unreachable',
      shortMessage: 'the store cannot be reached: nobody answers there',
      hints: [expect.stringContaining('127.0.0.1:1, 127.0.0.1:2'), 'try again when the database answers'],
    });
  });

  test('because no server answers is reported once to the opener, and at once', async () => {
    const heard: unknown[] = [];
    const reader = openPostgresForReading({
      ...{ address: 'postgres://127.0.0.1:1/x', env: {}, projections: [], patience: 300 },
      unreached: ({ shortMessage }, ms) => heard.push([shortMessage, ms]),
    });
    await expect(reader).rejects.toMatchObject({ code: 'journal.unreachable' });
    expect(heard).toEqual([['the store cannot be reached: nobody answers there', 300]]);
  });

  test('at one of several servers is retried at the next', async () => {
    const address = `postgres://zoe@127.0.0.1:1,localhost:${cluster.port}/${database}?sslmode=require`;
    const reader = await openPostgresForReading({ address, env: PASSWORD, projections: [] });
    expect(await reader.streams()).toEqual([]);
    await reader.close();
  });
});

/** With an authority that signs a certificate for `localhost` alone. */
async function startEncrypting(): Promise<Cluster> {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: certificates, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=test authority');
  openssl(
    ...['req', '-x509', ...key, '-keyout', 'server.key', '-out', 'server.crt', '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost', '-CA', 'ca.crt', '-CAkey', 'ca.key'],
  );
  const plain = await startCluster();
  const { uid, gid } = statSync(plain.folder);
  for (const name of ['server.key', 'server.crt']) {
    copyFileSync(join(certificates, name), join(plain.folder, name));
    chownSync(join(plain.folder, name), uid, gid);
    chmodSync(join(plain.folder, name), 0o600);
  }
  await plain.query(`alter system set ssl_cert_file = '${join(plain.folder, 'server.crt')}'`);
  await plain.query(`alter system set ssl_key_file = '${join(plain.folder, 'server.key')}'`);
  await plain.query('alter system set ssl = on');
  await plain.crash();
  await plain.start();
  return plain;
}
