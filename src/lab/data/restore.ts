import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { LifeboatError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { Place, Query, Server, Settings } from '../engine/engine.ts';
import { removeFolder } from '../home.ts';
import {
  type ArchivedDatabase,
  type DataDirectory,
  filesFor,
  isUp,
  newArchivedDatabase,
  routeOf,
  spanOf,
  startServer,
  stopServer,
} from './data-directory.ts';
import { isHistory, type Route } from './history.ts';
import { archiveError } from './log-archive.ts';

/**
 * Replaces the data by a base backup. One of the current archived database begins a new timeline in its
 * archive; any other begins a new archived database, and the old archive is deleted.
 */
export async function restoreBackup(
  directory: DataDirectory,
  content: Readable,
  origin: 'own' | 'other',
): Promise<void> {
  const { place, store, archived: present } = directory;
  const data = nextData(directory);
  await place.extract(content, data);
  if (store === undefined || present === undefined) {
    return await replace(directory, data, { archived: undefined, start: () => place.start(data, {}) });
  }
  const begun = directory.labels.get((await labelOf(data)) ?? '');
  const goesOn = origin === 'own' && begun !== undefined && begun >= present.since;
  const archived = goesOn ? present : await newArchivedDatabase(place, store, directory.made);
  await replace(directory, data, { archived, start: () => recoverBackup(place, data, archived) });
}

/** Replaces the data by its own state at a time. Rejects with `lab.time` if it cannot be reached. */
export async function restoreTo(
  directory: DataDirectory,
  time: Date,
  open: (backupId: string) => Readable,
): Promise<{ readonly backupId: string }> {
  const { place, archived } = directory;
  if (archived === undefined) throw archiveError('this instance has none');
  const route = routeOf(archived, time);
  const data = nextData(directory);
  await place.extract(open(route.backup.id), data);
  await replace(directory, data, {
    archived,
    start: () => recoverTo(place, data, archived, { route, time }),
  });
  return { backupId: route.backup.id };
}

interface Next {
  /** Of the new server. */
  readonly archived: ArchivedDatabase | undefined;
  /** Admits only the superuser. */
  start(): Promise<Server>;
}

/** Switches to the new data folder. If that fails, nothing has changed. */
async function replace(directory: DataDirectory, data: string, next: Next): Promise<void> {
  const { data: oldData, archived: old } = directory;
  const wasUp = isUp(directory.server);
  const goesOn = next.archived?.archive === old?.archive;
  let salvaged: readonly string[] = [];
  let server: Server | undefined;
  try {
    await stopServer(directory);
    if (goesOn && old !== undefined) salvaged = await salvage(directory, old);
    // Rounded up: everything that the old server committed is before it.
    const from = Date.now() + 1;
    server = await next.start();
    await lockOutAppUsers(server.query);
    const span = await spanOf(server.query, data, from);
    await server.admit();
    // Backups may have been kept or forgotten meanwhile.
    const base = goesOn ? directory.archived : next.archived;
    directory.archived = base && { ...base, spans: [...base.spans, span] };
    directory.data = data;
    directory.server = server;
  } catch (error) {
    await server?.stop();
    await old?.archive.drop(salvaged);
    if (!goesOn) await next.archived?.archive.remove();
    await removeFolder(data);
    if (wasUp) await startServer(directory).catch(() => undefined);
    throw error;
  }
  await removeFolder(oldData);
  if (!goesOn) await old?.archive.remove();
}

/** Archives the end of the old log, so that every moment of the ended span can be restored to. */
async function salvage(
  { place, data }: DataDirectory,
  { archive, spans }: ArchivedDatabase,
): Promise<string[]> {
  const timeline = spans.at(-1)?.timeline;
  return timeline === undefined ? [] : await place.track(archive.salvage(data, timeline));
}

function nextData(directory: DataDirectory): string {
  directory.made += 1;
  return join(directory.place.folder, `data-${directory.made}`);
}

/** Recovers a base backup to its end, on a new timeline: an archived timeline never grows again. */
function recoverBackup(place: Place, data: string, archived: ArchivedDatabase): Promise<Server> {
  // It sees only the histories of the archive, for its new number: the backup contains its log, and the
  // archive may hold other log under the same names.
  const names = archived.archive.names().filter(isHistory);
  return recover(place, data, archived, names, [
    { recovery_target: 'immediate', recovery_target_timeline: 'current' },
  ]);
}

/** To a point in time. In an ended span, a time after the last commit means all of its log. */
function recoverTo(
  place: Place,
  data: string,
  archived: ArchivedDatabase,
  options: { readonly route: Route; readonly time: Date },
): Promise<Server> {
  const { route, time } = options;
  const line = { recovery_target_timeline: String(route.span.timeline) };
  const target = { ...line, recovery_target_time: targetTime(time), recovery_target_inclusive: 'on' };
  const attempts = route.isOver ? [target, line] : [target];
  return recover(place, data, archived, filesFor(archived, route), attempts);
}

/* Here the server takes ISO 8601 with a space and an offset, not with `T` and `Z`. */
function targetTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '+00');
}

const FOLDER = 'replay';

async function recover(
  place: Place,
  data: string,
  { archive }: ArchivedDatabase,
  names: readonly string[],
  attempts: readonly Settings[],
): Promise<Server> {
  const folder = await place.makeFolder(FOLDER);
  try {
    await place.track(archive.lay(names, folder));
    await writeFile(join(data, 'recovery.signal'), '', { mode: 0o644 });
    return await firstThatReaches(attempts, (target) =>
      place.start(data, { ...archive.settings, ...RECOVERY, ...target }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const RECOVERY: Settings = {
  restore_command: `/bin/cp ../${FOLDER}/%f %p`,
  recovery_target_action: 'promote',
  // Nothing queries it before the recovery ends.
  hot_standby: 'off',
};

/** A recovery that ended before its target can continue with another one. */
async function firstThatReaches(
  attempts: readonly Settings[],
  start: (target: Settings) => Promise<Server>,
): Promise<Server> {
  const [target = {}, ...others] = attempts;
  return await start(target).catch((error: unknown) => {
    if (others.length === 0 || !endedEarly(error)) throw error;
    return firstThatReaches(others, start);
  });
}

/** PostgreSQL's message if the log has no commit after the target time. */
function endedEarly(error: unknown): boolean {
  return (
    error instanceof LifeboatError &&
    JSON.stringify(error.evidence).includes('recovery ended before configured recovery target was reached')
  );
}

/** Undefined if the label file has none. */
async function labelOf(data: string): Promise<string | undefined> {
  const text = await readFile(join(data, 'backup_label'), 'utf8').catch(() => '');
  return /^LABEL: (.*)$/mu.exec(text)?.[1];
}

/**
 * The user reads and writes all tables. What it creates belongs to the group of all such users, so that a
 * rebound application's next user can see and change it.
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

/** Cuts the user's connections. What it owned stays; so do users that `createAppUser` did not make. */
export async function dropAppUser(query: Query, user: string): Promise<void> {
  if (!(await appUsers(query)).includes(user)) return;
  const name = escapeIdentifier(user);
  await query(`alter role ${name} nologin`);
  await query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = $1', [user]);
  await query(`reassign owned by ${name} to ${GROUP}; drop owned by ${name}; drop role ${name};`);
}

/** Unknown passwords: earlier bindings no longer open anything. */
async function lockOutAppUsers(query: Query): Promise<void> {
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
