import type { Api } from '../api.ts';
import { type Check, skip } from '../check.ts';
import { call, ENDPOINTS, successOf, UNKNOWN, UNKNOWN_GUID } from '../endpoints.ts';
import type { Exchange } from '../exchange.ts';
import { ensure, expectBody, expectRefusal } from '../expect.ts';
import { followBackup, followRestore, followState } from '../follow.ts';
import { act, readConfig, readRestores } from '../reads.ts';
import { Created, Message, Performed, Prepared } from '../shapes.ts';
import type { Subject } from '../subject.ts';

/** Sections 2.6 and 4.1 (10), (11). */
export const RECOVERY: readonly Check[] = [
  {
    id: 'recovery.prepare',
    section: '4.1 (10)',
    title: 'preparing gives the GUID of the backups of the instance, the same each time',
    needs: { level: 'all' },
    run: async (subject) => {
      const first = await act(subject, ENDPOINTS.prepare, Prepared);
      const second = await act(subject, ENDPOINTS.prepare, Prepared);
      ensure(first.value.backup_guid === second.value.backup_guid, 'gives another GUID', second.exchange);
    },
  },
  {
    id: 'recovery.prepare-short-key',
    section: '8',
    title: 'preparing with a key shorter than min_encryption_key_length is refused',
    needs: { level: 'all', key: true },
    run: async (subject) => {
      const { value } = await readConfig(subject);
      const length = (value.min_encryption_key_length ?? 0) - 1;
      if (length < 1) skip('every key is long enough here');
      const body = { encryption_key: 'k'.repeat(length) };
      expectRefusal(await call(subject.api, ENDPOINTS.prepare, UNKNOWN, body));
    },
  },
  missing('backup_guid', { encryption_key: 'conformance-suite-key-that-opens-nothing' }),
  missing('encryption_key', { backup_guid: UNKNOWN_GUID }),
  {
    id: 'recovery.unknown-guid',
    section: '4.1 (11)',
    title: 'performing with a GUID of no instance is refused, or its restore fails',
    needs: { level: 'all', target: true },
    run: async (subject) => {
      const { target } = subject;
      if (target === undefined) skip('no target');
      await neverDone(subject, target, await call(target, ENDPOINTS.perform, UNKNOWN));
    },
  },
  {
    id: 'recovery.wrong-key',
    section: '4.1 (11)',
    title: 'performing with a key that does not open the backups is refused, or its restore fails',
    needs: { level: 'all', target: true, key: true },
    run: async (subject) => {
      const { target, key } = subject;
      if (target === undefined || key === undefined) skip('no target or no key');
      const { backup_guid } = await prepared(subject, key);
      const encryption_key = `not-${key}`;
      const exchange = await call(target, ENDPOINTS.perform, UNKNOWN, { backup_guid, encryption_key });
      await neverDone(subject, target, exchange);
    },
  },
  {
    id: 'recovery.perform',
    section: '4.1 (11)',
    title: 'performing brings the newest backup into the target, as a restore that is done in the end',
    needs: { level: 'all', target: true, key: true },
    run: async (subject) => {
      const { target, key } = subject;
      if (target === undefined || key === undefined) skip('no target or no key');
      const { backup_guid } = await prepared(subject, key);
      await followState(subject, target);
      const before = await readRestores(subject, target);
      const body = { backup_guid, encryption_key: key };
      const { value, exchange } = await act(subject, ENDPOINTS.perform, Performed, { api: target, body });
      const { restore_id } = value;
      ensure(!before.value.some(({ id }) => id === restore_id), 'gives the id of an older restore', exchange);
      const after = await readRestores(subject, target);
      ensure(
        after.value.some(({ id }) => id === restore_id),
        'is not in the list of the target',
        after.exchange,
      );
      const last = await followRestore(subject, target, restore_id);
      ensure(last.status === 'done', `restore ${restore_id} has ${last.status}`, last.exchange);
      await followState(subject, target);
    },
  },
  {
    id: 'recovery.prepare-key',
    section: '4.1 (10), rule 2',
    title: 'a key given while preparing is taken, and is the one that opens the backups from then on',
    needs: { level: 'all', target: true, key: true },
    run: async (subject) => {
      const { target, key } = subject;
      if (target === undefined || key === undefined) skip('no target or no key');
      const setKey = (encryption_key: string) =>
        act(subject, ENDPOINTS.setConfig, Message, { body: { encryption_key } });
      try {
        await setKey(`${key}-before`);
        const { value } = await act(subject, ENDPOINTS.prepare, Prepared, { body: { encryption_key: key } });
        await newBackup(subject);
        await followState(subject, target);
        const body = { backup_guid: value.backup_guid, encryption_key: key };
        const performed = await act(subject, ENDPOINTS.perform, Performed, { api: target, body });
        const last = await followRestore(subject, target, performed.value.restore_id);
        ensure(last.status === 'done', `the restore has ${last.status}`, last.exchange);
        await followState(subject, target);
      } finally {
        // Whatever happened, the key in force is the one in the key file.
        await setKey(key);
      }
    },
  },
];

function missing(field: string, body: object): Check {
  return {
    id: `recovery.missing.${field}`,
    section: '4.1 (11)',
    title: `performing without ${field} is refused`,
    needs: { level: 'all', target: true },
    run: async ({ target }) => {
      if (target === undefined) skip('no target');
      expectRefusal(await call(target, ENDPOINTS.perform, UNKNOWN, body));
    },
  };
}

/** The key is set, a backup is made under it, and the GUID is known. */
async function prepared(subject: Subject, key: string): Promise<{ readonly backup_guid: string }> {
  await act(subject, ENDPOINTS.setConfig, Message, { body: { encryption_key: key } });
  await newBackup(subject);
  return (await act(subject, ENDPOINTS.prepare, Prepared)).value;
}

async function newBackup(subject: Subject): Promise<void> {
  const { value } = await act(subject, ENDPOINTS.createBackup, Created);
  const { status, exchange } = await followBackup(subject, value.id);
  ensure(status === 'done', `backup ${value.id} has ${status}`, exchange);
}

/** Refused at once, or accepted and failed: when the service finds out is not said. */
async function neverDone(subject: Subject, target: Api, exchange: Exchange): Promise<void> {
  const success = successOf(ENDPOINTS.perform, subject.revision);
  if (!success.includes(exchange.status)) return expectRefusal(exchange);
  const { restore_id } = expectBody(exchange, success, Performed);
  const last = await followRestore(subject, target, restore_id);
  ensure(last.status === 'failed', `restore ${restore_id} is ${last.status}`, last.exchange);
  await followState(subject, target);
}
