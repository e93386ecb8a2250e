import { randomBytes } from 'node:crypto';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { Secret } from '../../base/secret.ts';
import type { Query } from '../engine/engine.ts';

/**
 * Creates a user that reads and writes all tables. What it creates belongs to the group of all such users, so
 * that the next user of a rebound application can see and change it.
 */
export async function createAppUser(query: Query): Promise<{ user: string; password: Secret }> {
  const user = `app_${randomBytes(6).toString('hex')}`;
  const password = newPassword();
  const name = escapeIdentifier(user);
  // A query of several statements is one transaction.
  await query(`
    do $$ begin create role ${GROUP} nologin; exception when duplicate_object then null; end $$;
    grant pg_read_all_data, pg_write_all_data to ${GROUP};
    grant create on schema public to ${GROUP};
    create role ${name} login password ${escapeLiteral(password.reveal())} in role ${GROUP};
    alter role ${name} set role to ${GROUP};
  `);
  return { user, password };
}

/** Drops a user that `createAppUser` made and cuts its connections. What it owned, and others, stay. */
export async function dropAppUser(query: Query, user: string): Promise<void> {
  if (!(await appUsers(query)).includes(user)) return;
  const name = escapeIdentifier(user);
  await query(`alter role ${name} nologin`);
  await query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = $1', [user]);
  await query(`reassign owned by ${name} to ${GROUP}; drop owned by ${name}; drop role ${name};`);
}

/** Gives every application user an unknown password: earlier bindings no longer open anything. */
export async function lockOutAppUsers(query: Query): Promise<void> {
  for (const user of await appUsers(query)) {
    const password = escapeLiteral(newPassword().reveal());
    await query(`alter role ${escapeIdentifier(user)} password ${password}`);
  }
}

/* Membership identifies the applications' users in any catalog that a restore brings. */
const GROUP = 'lifeboat_app';

async function appUsers(query: Query): Promise<string[]> {
  const rows = await query<{ name: string }>(
    `select u.rolname as name from pg_auth_members m join pg_roles u on u.oid = m.member
     join pg_roles g on g.oid = m.roleid where g.rolname = $1`,
    [GROUP],
  );
  return rows.map(({ name }) => name);
}

function newPassword(): Secret {
  return new Secret(randomBytes(24).toString('base64url'));
}
