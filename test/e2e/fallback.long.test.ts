import { describe, expect, test } from 'vitest';
import type { RunContext } from '../../machines/context.ts';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { fallbackOf } from '../../machines/parts/states.ts';
import { sampleDigest } from '../../src/lab/sample-data.ts';
import { backUp, curl, instanceOf, until } from '../lab/helpers.ts';
import { startingContext } from '../machines/starting-context.ts';
import { openFallbackBench } from './fallback-bench.ts';

/** A key that a shell, a JSON text or a config file could take for something else. */
const STRANGE_KEY = `a"new\\key & $(touch x) 'of \`id\` 43%s`;
const DO_IT = '';
const HAND_DONE = '';

const startingRotation = startingContext;
const restOf = (id: string) => (context: RunContext, state: string) =>
  fallbackOf((runbooks[id] as Runbook).machine, context, state);
const rotateKeyFallback = restOf('rotate-key');
const restoreBackupFallback = restOf('restore-backup');
const restorePointInTimeFallback = restOf('restore-point-in-time');
const disasterRecoveryFallback = restOf('disaster-recovery');

const BOUND: NonNullable<RunContext['followUps']['bound']> = {
  way: 'cf',
  notes: [],
  from: { guid: 'g1', name: 'orders', org: 'acme', space: 'prod' },
  to: { guid: 'g1', name: 'orders', org: 'acme', space: 'prod' },
  apps: [
    {
      key: 'orders-api',
      name: 'orders-api',
      org: 'acme',
      space: 'prod',
      running: true,
      binding: { guid: 'b1', name: 'db; touch x', parametersFile: '/private/it is here.json' },
      from: 'platform',
    },
    { key: 'nightly', name: 'nightly', org: 'acme', space: 'batch', running: false, from: 'platform' },
  ],
  keys: [{ name: 'reporting' }],
  unseen: [],
  order: 'replace',
  foundAt: '2026-03-01T02:59:00.000Z',
};

describe('a fallback script followed with nothing but bash', () => {
  test('sets the new key once, asks for one backup, and opens it', async () => {
    const { lab, token, follow, calls } = await openFallbackBench();
    const context = startingRotation({ instance: 'orders' });
    const answers = [
      ...[DO_IT, STRANGE_KEY, token, 'order', 'orders'],
      // Enter alone sends nothing.
      ...[DO_IT, '', 'yes'],
      ...[DO_IT, DO_IT, HAND_DONE],
    ];
    const { code, screen } = await follow(rotateKeyFallback(context, 'change.sending'), answers);
    expect(code, screen).toBe(0);
    expect(screen).toContain('That is not the name.');
    expect(screen).toContain('Nothing was sent.');
    expect(screen).toMatch(/readable: \d+ entries in its tar \(openssl enc -d -aes-256-cbc -md md5\)/u);
    expect(screen).not.toContain(STRANGE_KEY);
    expect(screen).not.toContain(token);
    expect(calls()).toEqual([
      { endpoint: 'PATCH /backups-config', instance: 'orders' },
      { endpoint: 'POST /backups', instance: 'orders' },
    ]);
    expect(lab.calls().at(-2)?.detail).toEqual({ encryption_key: expect.stringMatching(/^sha256:/u) });
  });

  test('recognizes that a call was already made', async () => {
    const { lab, token, key, follow, calls } = await openFallbackBench();
    const { json } = await curl(lab, 'POST', `${instanceOf(lab, 'orders').v1}/backups`);
    const { id } = json as { id: number };
    const context = startingRotation({ instance: 'orders' });
    const answers = [DO_IT, token, String(id), DO_IT, key, DO_IT, HAND_DONE];
    const { code, screen } = await follow(rotateKeyFallback(context, 'backup.inDoubt'), answers);
    expect(code, screen).toBe(0);
    expect(screen).toContain('readable: ');
    expect(calls()).toEqual([{ endpoint: 'POST /backups', instance: 'orders' }]);
  });

  test('says that a wrong key does not open the backup, and accepts another one', async () => {
    const { token, key, follow } = await openFallbackBench();
    const context = {
      ...startingRotation({ instance: 'orders' }),
      backup: { intents: 1, absences: 0, send: { is: 'landed' as const, id: 1, adopted: false } },
    };
    const answers = [DO_IT, `${key}x`, token, 'again', key, DO_IT, HAND_DONE];
    const { code, screen } = await follow(rotateKeyFallback(context, 'prove.downloading'), answers);
    expect(code, screen).toBe(0);
    const [refused, opened] = ['this key does not open', 'readable: '].map((words) => screen.indexOf(words));
    expect(refused).toBeGreaterThan(0);
    expect(opened).toBeGreaterThan(refused ?? 0);
  });

  test('restores a backup in place, only once although the answer is lost, and binds what was bound before', async () => {
    const bench = await openFallbackBench();
    const { lab, token, follow, calls, cfCalls } = bench;
    const { query } = instanceOf(lab, 'orders');
    const backup = await backUp(lab);
    const before = await sampleDigest(query);
    await query('select place_order()');
    lab.fault({ method: 'POST', path: '/backups/:id/restore', effect: { kind: 'drop', when: 'after' } });
    const context: RunContext = {
      ...startingContext({ instance: 'orders', backup: backup.id }),
      choose: { backup: { id: backup.id, status: 'done' } },
      followUps: { ...startingContext({ instance: 'orders' }).followUps, bound: BOUND },
    };
    const answers = [
      ...[DO_IT, token, 'orders', 'yes', '1'],
      ...[DO_IT],
      ...[DO_IT, DO_IT, DO_IT],
      ...[DO_IT, 'yes'],
      ...[DO_IT, HAND_DONE],
    ];
    const { code, screen } = await follow(restoreBackupFallback(context, 'confirm.asking'), answers);
    expect(code, screen).toBe(0);
    expect(screen).toContain('IN DOUBT: the service may have accepted it, although no clear answer came.');
    expect(await sampleDigest(query)).toEqual(before);
    expect(calls().slice(1)).toEqual([
      { endpoint: 'POST /backups/:id/restore', instance: 'orders' },
      { endpoint: 'POST /backups', instance: 'orders' },
    ]);
    expect(cfCalls()).toEqual([
      'target -o acme -s prod',
      'unbind-service orders-api orders --wait',
      'bind-service orders-api orders --binding-name db; touch x -c /private/it is here.json --wait',
      'restage orders-api --strategy rolling',
      'target -o acme -s batch',
      'unbind-service nightly orders --wait',
      'bind-service nightly orders --wait',
      'target -o acme -s prod',
      'delete-service-key orders reporting -f --wait',
      'create-service-key orders reporting --wait',
    ]);
  });

  test('also restores by the old interface, which has its own number for the instance', async () => {
    const { lab, token, follow, calls } = await openFallbackBench();
    const { query, v0 } = instanceOf(lab, 'orders');
    const before = await sampleDigest(query);
    const { json } = await curl(lab, 'GET', `${v0}/backups`);
    const { id } = json as { id: number };
    await query('select place_order()');
    const context: RunContext = {
      ...startingContext({ instance: 'orders', backup: 1 }),
      choose: { backup: { id: 1, status: 'done' } },
    };
    const answers = [
      ...[DO_IT, HAND_DONE, 'orders', String(id), token, 'yes'],
      ...[DO_IT, HAND_DONE, HAND_DONE],
      'stop',
    ];
    const { code, screen } = await follow(restoreBackupFallback(context, 'confirm.asking'), answers, 'v0');
    expect(code, screen).toBe(3);
    expect(calls()).toEqual([{ endpoint: expect.stringContaining('/backups'), instance: 'orders' }]);
    await until('the order is gone', async () => {
      const now = await sampleDigest(query).catch(() => undefined);
      return JSON.stringify(now) === JSON.stringify(before) || undefined;
    });
  });

  test('recovers into the target while the source is gone', async () => {
    const { lab, token, key, follow, calls } = await openFallbackBench();
    const { json } = await curl(lab, 'POST', `${instanceOf(lab, 'orders').v1}/disaster-recovery/prepare`, {
      body: {},
    });
    const { backup_guid } = json as { backup_guid: string };
    const { query } = instanceOf(lab, 'orders');
    await backUp(lab);
    const before = await sampleDigest(query);
    await lab.disaster('orders', true);
    const made = calls().length;
    const context = startingContext({ instance: 'orders', target: 'orders-dr', mode: 'perform' });
    const answers = [
      ...[DO_IT, backup_guid, key],
      ...[DO_IT, token],
      'skip',
      ...[DO_IT, 'orders-dr', 'yes'],
      DO_IT,
      ...[DO_IT, HAND_DONE],
      ...[DO_IT, 'make', 'orders-dr'],
      ...[DO_IT, 'yes'],
      ...[DO_IT, HAND_DONE],
      ...[DO_IT, HAND_DONE],
    ];
    const { code, screen } = await follow(disasterRecoveryFallback(context, 'source.readingRecord'), answers);
    expect(code, screen).toBe(0);
    expect(await sampleDigest(instanceOf(lab, 'orders-dr').query)).toEqual(before);
    expect(calls().slice(made)).toEqual([
      { endpoint: 'POST /disaster-recovery/perform', instance: 'orders-dr' },
      { endpoint: 'PATCH /backups-config', instance: 'orders-dr' },
      { endpoint: 'POST /backups', instance: 'orders-dr' },
      { endpoint: 'POST /disaster-recovery/prepare', instance: 'orders-dr' },
    ]);
  });

  test('restores to a point in time, and finds the restore although no answer names its id', async () => {
    const { lab, token, follow, calls } = await openFallbackBench();
    const { query, v1 } = instanceOf(lab, 'orders');
    await query('select place_order()');
    const before = await sampleDigest(query);
    const time = new Date(Date.now() + 1).toISOString();
    // An order can be placed in less than the millisecond until then.
    await until('the time is past', async () => Date.now() > Date.parse(time) || undefined);
    await until('the time can be reached', async () => {
      await query('select place_order()');
      const { json } = await curl(lab, 'GET', `${v1}/pitr`);
      return (
        (json as { end_time: string }).end_time > new Date(Date.parse(time) + 1_000).toISOString() ||
        undefined
      );
    });
    const context: RunContext = { ...startingContext({ instance: 'orders' }), choose: { time } };
    const answers = [
      ...[DO_IT, token, HAND_DONE, 'orders', 'yes'],
      ...[DO_IT],
      ...['skip', DO_IT, 'yes'],
      ...[DO_IT, HAND_DONE],
    ];
    const { code, screen } = await follow(
      restorePointInTimeFallback(context, 'confirm.readingRange'),
      answers,
    );
    expect(code, screen).toBe(0);
    expect(screen).toContain('its id is 1');
    expect(await sampleDigest(query)).toEqual(before);
    expect(calls()).toEqual([
      { endpoint: 'POST /pitr/restore', instance: 'orders' },
      { endpoint: 'POST /backups', instance: 'orders' },
    ]);
  });
});
