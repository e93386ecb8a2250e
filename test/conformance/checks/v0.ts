import { type Check, skip } from '../check.ts';
import { call, ENDPOINTS, UNKNOWN, UNKNOWN_ID } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import { ensure, expectError } from '../expect.ts';
import { followState, followTask } from '../follow.ts';
import { act, readBackups, readListing } from '../reads.ts';
import { Created, Performed, type Task } from '../shapes.ts';
import type { Subject } from '../subject.ts';
import { distinct } from './compare.ts';

const HERE = { revisions: [61, 62, 'v0'], v0: true } as const;

/** Sections 2.9 and 4.4. */
export const V0: readonly Check[] = [
  {
    id: 'v0.listing',
    section: '2.9',
    title: 'the listing has all fields, and its ids agree with each other and with the address',
    needs: HERE,
    run: async (subject) => {
      const { value, exchange } = await readListing(subject);
      const { instance } = subject.api.access;
      ensure(value.instance_id === instance, 'instance_id is not the id of the address', exchange);
      const own = [...value.backups, ...value.restores].every(({ instance_id }) => instance_id === value.id);
      ensure(own, 'a backup or restore belongs to another instance', exchange);
      ensure(distinct(value.backups.map(({ id }) => id)), 'two backups share an id', exchange);
      ensure(distinct(value.restores.map(({ id }) => id)), 'two restores share an id', exchange);
      const related = value.backups.every(({ id, backup_agent_task }) => backup_agent_task.task_id === id);
      ensure(related, 'the task_id of a backup is not its id', exchange);
      for (const task of value.backups.map(({ backup_agent_task }) => backup_agent_task))
        expectOrder(task, exchange);
      for (const task of value.restores.flatMap(({ backup_agent_tasks }) => backup_agent_tasks)) {
        expectOrder(task, exchange);
      }
    },
  },
  {
    id: 'v0.same-ids',
    section: '4.3',
    title: 'a backup has the same id in V0 as in V1, since V1 callers download it there',
    needs: { v0: true },
    run: async (subject) => {
      const v1 = await readBackups(subject);
      const v0 = await readListing(subject);
      const known = new Set(v0.value.backups.map(({ id }) => id));
      const lost = v1.value.find(({ id, downloadable }) => downloadable === true && !known.has(id));
      ensure(lost === undefined, `backup ${lost?.id} of V1 is not in the listing`, v0.exchange);
    },
  },
  {
    id: 'v0.session',
    section: '5 (2)',
    title: 'a session cookie that was given is taken back',
    needs: HERE,
    run: async (subject) => {
      const fresh = subject.api.with({});
      for (const round of ['first', 'second', 'third']) {
        const { status } = await call(fresh, ENDPOINTS.v0List, UNKNOWN);
        ensure(status === 200, `the ${round} call of a session is answered ${status}`);
      }
    },
  },
  {
    id: 'v0.create',
    section: '4.4',
    title: 'a backup created by V0 is answered 201, appears in the listing, and is done in the end',
    needs: { ...HERE, level: 'safe' },
    run: async (subject) => {
      const before = await readListing(subject);
      const { value, exchange } = await act(subject, ENDPOINTS.v0Create, Created);
      ensure(
        !before.value.backups.some(({ id }) => id === value.id),
        'gives the id of an older backup',
        exchange,
      );
      const last = await followTask(subject, async () => {
        const listing = await readListing(subject);
        const backup = listing.value.backups.find(({ id }) => id === value.id);
        ensure(backup !== undefined, `backup ${value.id} is not in the listing`, listing.exchange);
        return { ...listing, status: backup.backup_agent_task.status };
      });
      ensure(last.status === 'done', `backup ${value.id} has ${last.status}`, last.exchange);
    },
  },
  {
    id: 'v0.restore',
    section: '4.4',
    title: 'a backup restored by V0 appears in the listing, and all its tasks are done in the end',
    needs: { ...HERE, level: 'all' },
    run: async (subject) => {
      const { value: listing } = await readListing(subject);
      const backup = listing.backups.findLast(({ backup_agent_task }) => backup_agent_task.status === 'done');
      if (backup === undefined) skip('no backup to restore');
      if (subject.revision !== 'v0') await followState(subject);
      const body = { instance_id: listing.id, backup_id: backup.id };
      const { value, exchange } = await act(subject, ENDPOINTS.v0Restore, Performed, { body });
      const { restore_id } = value;
      ensure(
        !listing.restores.some(({ id }) => id === restore_id),
        'gives the id of an older restore',
        exchange,
      );
      await followRestoreV0(subject, restore_id);
      if (subject.revision !== 'v0') await followState(subject);
    },
  },
  {
    id: 'v0.restore-mismatch',
    section: '4.4',
    title: 'a V0 restore of a backup with the id of another instance is answered 412',
    // A server that does not look at the instance restores the backup.
    needs: { ...HERE, level: 'all' },
    run: async (subject) => {
      const { value } = await readListing(subject);
      const backup = value.backups.findLast(({ backup_agent_task }) => backup_agent_task.status === 'done');
      if (backup === undefined) skip('no backup to name');
      const body = { instance_id: UNKNOWN_ID, backup_id: backup.id };
      expectError(await call(subject.api, ENDPOINTS.v0Restore, UNKNOWN, body), [412], 'v0');
    },
  },
];

/** A restore may be several tasks: the whole is over when all of them are, and failed when one is. */
async function followRestoreV0(subject: Subject, restore: number): Promise<void> {
  const last = await followTask(subject, async () => {
    const listing = await readListing(subject);
    const found = listing.value.restores.find(({ id }) => id === restore);
    ensure(found !== undefined, `restore ${restore} is not in the listing`, listing.exchange);
    const all = found.backup_agent_tasks.map(({ status }) => status);
    if (all.includes('failed')) return { ...listing, status: 'failed' };
    if (all.length > 0 && all.every((status) => status === 'done')) return { ...listing, status: 'done' };
    return { ...listing, status: all.every((status) => status === 'queued') ? 'queued' : 'running' };
  });
  ensure(last.status === 'done', `restore ${restore} has ${last.status}`, last.exchange);
}

function expectOrder(task: Task, exchange: Exchange): void {
  const kept = Date.parse(task.created_at) <= Date.parse(task.updated_at);
  ensure(kept, `task ${task.id} was updated before it was created`, exchange);
}
