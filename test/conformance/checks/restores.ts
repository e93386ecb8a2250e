import { type Check, skip } from '../check.ts';
import { ENDPOINTS, UNKNOWN } from '../endpoints.ts';
import { ensure } from '../expect.ts';
import { expectTimes, followRestore, followState } from '../follow.ts';
import { act, ask, newestBackup, readRestores } from '../reads.ts';
import { Restore, Restoring } from '../shapes.ts';
import { distinct, sameFields } from './compare.ts';

const LOOKS = 20;

/** Sections 2.2 and 4.1 (5) to (7). */
export const RESTORES: readonly Check[] = [
  {
    id: 'restores.list',
    section: '2.2',
    title: 'the list of restores has all fields, and no two restores share an id',
    run: async (subject) => {
      const { value, exchange } = await ask(subject, ENDPOINTS.listRestores, Restore.array());
      ensure(distinct(value.map(({ id }) => id)), 'an id stands in the list twice', exchange);
      for (const restore of value) expectTimes(restore, exchange);
    },
  },
  {
    id: 'restores.restore',
    section: '4.1 (7)',
    title: 'a backup that is restored appears in the list as a restore of it, and is done in the end',
    needs: { level: 'all' },
    run: async (subject) => {
      const backup = await newestBackup(subject);
      if (backup === undefined) skip('no backup to restore');
      await followState(subject);
      const before = await readRestores(subject);
      const options = { probe: { ...UNKNOWN, backup: backup.id } };
      const { value, exchange } = await act(subject, ENDPOINTS.restore, Restoring, options);
      ensure(!before.value.some(({ id }) => id === value.id), 'gives the id of an older restore', exchange);
      const after = await readRestores(subject);
      const made = after.value.find(({ id }) => id === value.id);
      ensure(made !== undefined, `restore ${value.id} is not in the list`, after.exchange);
      const last = await followRestore(subject, subject.api, value.id);
      ensure(last.status === 'done', `restore ${value.id} has ${last.status}`, last.exchange);
      ensure(
        last.value.backup_id === backup.id,
        `names backup ${String(last.value.backup_id)}`,
        last.exchange,
      );
      const from = Date.parse(last.value.metadata?.restored_from ?? '');
      const span = [backup.triggered_at, backup.finished_at ?? backup.triggered_at].map(Date.parse);
      const within = from >= Math.min(...span) && from <= Math.max(...span);
      ensure(within, 'restored_from is not when the backup was made', last.exchange);
      await followState(subject);
    },
  },
  {
    id: 'restores.get-one',
    section: '4.1 (6)',
    title: 'a restore looks the same in the list and by itself',
    run: async (subject) => {
      const { value } = await readRestores(subject);
      const ended = value.filter(({ status }) => status === 'done' || status === 'failed').slice(0, LOOKS);
      if (ended.length === 0) skip('no restore has ended');
      for (const listed of ended) {
        const options = { probe: { ...UNKNOWN, restore: listed.id } };
        const one = await ask(subject, ENDPOINTS.getRestore, Restore, options);
        const fields = ['id', 'backup_id', 'status', 'metadata', 'triggered_at', 'finished_at'];
        sameFields(listed, one.value, fields, one.exchange);
      }
    },
  },
];
