import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommandContext } from '../../../src/cli/context.ts';
import { tooManyRights } from '../../../src/commands/doctor/store-rights.ts';
import { rightsInPostgres } from '../../../src/store/postgres/moving.ts';
import { type Cluster, startCluster } from '../../bench-kit/postgres.ts';
import { postgresStore } from './postgres-store.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.remove());

test('the rights of a user on a store are detected: to read it, to append to it, to change it, or all on the server', async () => {
  const { database, address } = await postgresStore(cluster);
  const env = { PGPASSWORD: 'open sesame' };
  const addressOf = (name: string) => `postgres://${name}@127.0.0.1:${cluster.port}/${database}`;
  const rightsOf = (name: string) => rightsInPostgres({ address: addressOf(name), env });
  for (const name of ['looker', 'member', 'owner', 'stranger'])
    await cluster.query(`create role ${name} login password 'open sesame'`);
  await cluster.query('grant lifeboat_member to member');
  await cluster.query(
    `grant usage on schema lifeboat to looker; grant select on all tables in schema lifeboat to looker;
     grant usage on schema lifeboat to owner; grant select on lifeboat.store to owner;
     alter table lifeboat.entries owner to owner`,
    database,
  );
  expect(await rightsOf('looker')).toBe('reader');
  expect(await rightsOf('member')).toBe('member');
  expect(await rightsOf('owner')).toBe('owner');
  expect(await rightsInPostgres({ address, env: process.env })).toBe('superuser');
  const warning = (store: string) =>
    tooManyRights({ env: { ...env, LIFEBOAT_STORE: store } } as unknown as CommandContext);
  expect(await warning(addressOf('member'))).toBeUndefined();
  expect(await warning(addressOf('owner'))).toContain('this user owns it, and could switch off');
  expect(await warning(address)).toContain('this user is a superuser, and could switch off');
  await expect(rightsOf('stranger')).rejects.toMatchObject({
    code: 'journal.refused',
    hints: ['the owner of the store lets a member in: grant lifeboat_member to "stranger"'],
  });
});
