import { setTimeout as pause } from 'node:timers/promises';
import { type Check, skip } from '../check.ts';
import { call, ENDPOINTS, successOf, UNKNOWN } from '../endpoints.ts';
import { ensure, expectBody, expectError } from '../expect.ts';
import { CLOCK_GRAIN, expectTimes, followBackup } from '../follow.ts';
import { act, ask, readBackups } from '../reads.ts';
import { BACKUP, Created } from '../shapes.ts';
import { distinct, sameFields } from './compare.ts';

/** As many single looks as tell something; an instance may keep hundreds. */
const LOOKS = 20;

/** Sections 2.1 and 4.1 (1) to (3). */
export const BACKUPS: readonly Check[] = [
  {
    id: 'backups.list',
    section: '2.1',
    title: 'the list of backups has all fields of its revision',
    run: async (subject) => {
      const shape = BACKUP[subject.revision === 61 ? 61 : 62].listed.array();
      await ask(subject, ENDPOINTS.listBackups, shape);
    },
  },
  {
    id: 'backups.ids',
    section: '2.1',
    title: 'no two backups share an id or a backup_id',
    run: async (subject) => {
      const { value, exchange } = await readBackups(subject);
      ensure(distinct(value.map(({ id }) => id)), 'an id stands in the list twice', exchange);
      ensure(
        distinct(value.flatMap(({ backup_id }) => backup_id ?? [])),
        'a backup_id stands in the list twice',
        exchange,
      );
    },
  },
  {
    id: 'backups.times',
    section: '2.1',
    title: 'a backup is triggered, started and finished in this order, and never in the future',
    run: async (subject) => {
      const { value, exchange } = await readBackups(subject);
      for (const backup of value) expectTimes(backup, exchange);
    },
  },
  {
    id: 'backups.downloadable',
    section: '2.1',
    title: 'only a backup that is done can be downloaded',
    run: async (subject) => {
      const { value, exchange } = await readBackups(subject);
      const early = value.find(({ downloadable, status }) => downloadable === true && status !== 'done');
      ensure(early === undefined, `backup ${early?.id} is ${early?.status} and downloadable`, exchange);
    },
  },
  {
    id: 'backups.create',
    section: '4.1 (3)',
    title: 'a backup that is created appears in the list as the newest, and is done in the end',
    needs: { level: 'safe' },
    run: async (subject) => {
      const before = await readBackups(subject);
      const created = await act(subject, ENDPOINTS.createBackup, Created);
      const { id } = created.value;
      ensure(
        !before.value.some((backup) => backup.id === id),
        'gives the id of an older backup',
        created.exchange,
      );
      const after = await readBackups(subject);
      const made = after.value.find((backup) => backup.id === id);
      ensure(made !== undefined, `backup ${id} is not in the list`, after.exchange);
      const newest = Math.max(...before.value.map(({ triggered_at }) => Date.parse(triggered_at)));
      ensure(Date.parse(made.triggered_at) >= newest, 'is triggered before an older backup', after.exchange);
      const last = await followBackup(subject, id);
      ensure(last.status === 'done', `backup ${id} has ${last.status}`, last.exchange);
      ensure(last.value.size !== 0, 'a backup that is done is empty', last.exchange);
      sameFields(made, last.value, ['id', 'backup_id', 'triggered_at'], last.exchange);
    },
  },
  {
    id: 'backups.create-clock',
    section: '2.1',
    title: 'triggered_at is the time of the call by the clock of the service',
    needs: { level: 'safe' },
    run: async (subject) => {
      const created = await act(subject, ENDPOINTS.createBackup, Created);
      const { value, exchange } = await readBackups(subject);
      const [began, now] = [created.exchange.date, exchange.date];
      if (began === undefined || now === undefined) skip('the server sends no Date');
      const made = value.find(({ id }) => id === created.value.id);
      ensure(made !== undefined, `backup ${created.value.id} is not in the list`, exchange);
      const at = Date.parse(made.triggered_at);
      const near = at >= began - CLOCK_GRAIN && at <= now + CLOCK_GRAIN;
      ensure(near, 'triggered_at is not between the Dates of the call and of the list', exchange);
      await followBackup(subject, made.id);
    },
  },
  {
    id: 'backups.create-twice',
    section: '4.1 (3), 7 (4)',
    title: 'two backups asked for at once are two, or the second is refused with 409 in revision 61',
    needs: { level: 'safe' },
    run: async (subject) => {
      const { api, revision } = subject;
      const endpoint = ENDPOINTS.createBackup;
      const ids: number[] = [];
      // Both may be refused because of a backup of the service's own.
      for (const end = performance.now() + subject.deadline; ids.length === 0; await pause(subject.poll)) {
        const answers = await Promise.all([call(api, endpoint, UNKNOWN), call(api, endpoint, UNKNOWN)]);
        for (const exchange of answers) {
          if (exchange.status === 409 && revision === 61) expectError(exchange, [409], 'v1');
          else ids.push(expectBody(exchange, successOf(endpoint, revision), Created).id);
        }
        ensure(ids.length > 0 || performance.now() < end, 'both are refused until the deadline', answers[0]);
      }
      ensure(distinct(ids), 'two backups have the same id');
      for (const id of ids) {
        const { status, exchange } = await followBackup(subject, id);
        ensure(status === 'done', `backup ${id} has ${status}`, exchange);
      }
    },
  },
  // Behind those that make backups: an instance may have had none.
  {
    id: 'backups.get-one',
    section: '4.1 (2)',
    title: 'a backup looks the same in the list and by itself',
    run: async (subject) => {
      const { revision, api } = subject;
      const { value } = await readBackups(subject);
      const ended = value.filter(({ status }) => status === 'done' || status === 'failed').slice(0, LOOKS);
      if (ended.length === 0) skip('no backup has ended');
      for (const listed of ended) {
        const exchange = await call(api, ENDPOINTS.getBackup, { ...UNKNOWN, backup: listed.id });
        const shape = BACKUP[revision === 61 ? 61 : 62].one;
        const one = expectBody(exchange, successOf(ENDPOINTS.getBackup, revision), shape);
        sameFields(
          listed,
          one,
          ['id', 'backup_id', 'size', 'triggered_at', 'started_at', 'finished_at'],
          exchange,
        );
      }
    },
  },
];
