import { describe, expect, test } from 'vitest';
import type { RestorableBackups } from '../../machines/parts/recovery-data.ts';
import { listBackups, recheck } from '../../src/activities/baseline.ts';
import { updatesChangeable } from '../../src/activities/change-settings.ts';
import { pitrRange } from '../../src/activities/pitr-range.ts';
import { preflight } from '../../src/activities/preflight.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';
import { fakeService } from './fake-service.ts';
import { contextOf } from './world.ts';

const NOW = '2026-03-01T03:00:00.000Z';
const context = contextOf(() => new Date(NOW));

describe('preflight', () => {
  test.for([
    { what: 'the state failed', overview: { state: 'failed' }, backups: [] },
    {
      what: 'a backup under way',
      overview: { state: 'available' },
      backups: [
        { id: 3, status: 'done' },
        { id: 4, status: 'running' },
      ],
    },
  ])('of a restore only warns about $what, which would stop any other run', async (found) => {
    const service = fakeService();
    service.overview = found.overview;
    service.backups.push(...found.backups.map((backup) => Backup.parse(backup)));
    const strict = await preflight(service.deps).run({ instance: 'orders' }, context);
    const tolerant = await preflight(service.deps).run({ instance: 'orders', tolerant: true }, context);
    if (!strict.ok || !tolerant.ok) throw new Error('it looks, whatever it finds');
    const [blocker] = strict.output.blockers;
    expect([strict.output.blockers.length, strict.output.warnings]).toEqual([1, []]);
    expect(tolerant.output.blockers).toEqual([]);
    expect(tolerant.output.warnings).toEqual([blocker?.shortMessage]);
  });

  test('reports the service and plan of the instance, for the choice of a target', async () => {
    const service = fakeService();
    service.overview = { state: 'available', service_id: 'postgres', plan_id: 'small' };
    const result = await preflight(service.deps).run({ instance: 'orders' }, context);
    expect(result).toMatchObject({ output: { service: { offering: 'postgres', plan: 'small' } } });
  });

  test.for(['available', 'provisioned'])('finds nothing wrong with the state %s', async (state) => {
    const service = fakeService();
    service.overview = { state };
    const result = await preflight(service.deps).run({ instance: 'orders' }, context);
    expect(result).toMatchObject({ ok: true, output: { blockers: [], warnings: [] } });
  });

  test('of a deleted instance does not say that it will become available', async () => {
    const service = fakeService();
    service.overview = { state: 'deleted' };
    const result = await preflight(service.deps).run({ instance: 'orders' }, context);
    if (!result.ok) throw new Error('it looks, whatever it finds');
    expect(result.output.blockers[0]?.hints.join()).toContain('recover its data into another one');
  });

  test.for(['deleted', 'deploying', 'stopped'])('of a restore stops at the state %s', async (state) => {
    const service = fakeService();
    service.overview = { state };
    const result = await preflight(service.deps).run({ instance: 'orders', tolerant: true }, context);
    expect(result).toMatchObject({ ok: true, output: { blockers: [{ code: 'instance.state' }] } });
  });
});

test('what the interface has no call for is neither requested nor guessed', async () => {
  const service = fakeService();
  service.overview = { state: 'available' };
  for (const operation of ['overview', 'backupsConfig']) service.lacks.add(operation);
  service.backups.push(Backup.parse({ id: 3, status: 'done' }));
  const looked = await preflight(service.deps).run({ instance: 'orders', restores: true }, context);
  if (!looked.ok) throw new Error('it looks with the calls that there are');
  const baseline = { newestBackup: 3, runningTasks: [], runningRestores: [] };
  expect(looked.output).toMatchObject({
    service: {},
    unsaid: { by: 'V0', what: ['the state'] },
    blockers: [],
  });
  expect(looked.output.baseline).toEqual(baseline);
  expect(looked.output.warnings).toEqual(['V0 will go']);
  const again = await recheck(service.deps).run({ instance: 'orders' }, context);
  expect(again.ok && again.output).toEqual(baseline);
  expect([...new Set(service.calls)]).toEqual(['backups', 'restores']);
});

describe('preflight of a restore, where another one', () => {
  const look = { instance: 'orders', tolerant: true, restores: true };

  test.for(['queued', 'RUNNING'])(
    'is %s, stops with the reason in the words of the raw command',
    async (status) => {
      const service = fakeService();
      service.overview = { state: 'available' };
      service.restores.push(Restore.parse({ id: 103, status: 'done' }), Restore.parse({ id: 104, status }));
      const result = await preflight(service.deps).run(look, context);
      expect(result).toMatchObject({
        ok: true,
        output: {
          baseline: { runningRestores: [104] },
          blockers: [
            {
              code: 'service.restore-running',
              shortMessage: `restore 104 of orders is ${status.toLowerCase()}`,
              hints: [
                'to wait for it: lifeboat restores get 104 --wait --instance orders',
                'nothing was sent',
              ],
            },
          ],
        },
      });
      const again = await recheck(service.deps).run({ instance: 'orders' }, context);
      expect(again).toMatchObject({ ok: true, output: { runningRestores: [104], newestRestore: 104 } });
    },
  );

  test('is over, continues', async () => {
    const service = fakeService();
    service.overview = { state: 'available' };
    service.restores.push(Restore.parse({ id: 103, status: 'done' }));
    const result = await preflight(service.deps).run(look, context);
    expect(result).toMatchObject({
      output: { baseline: { runningRestores: [] }, blockers: [], warnings: [] },
    });
  });

  test.for([403, 404, 501])('cannot be seen (%i), only warns about it', async (status) => {
    const service = fakeService();
    service.overview = { state: 'available' };
    const refused = async () => {
      throw new LifeboatError('service.any', 'no', { evidence: { status } });
    };
    const deps = { ...service.deps, service: { ...service.deps.service, restores: refused } };
    const result = await preflight(deps).run(look, context);
    expect(result).toMatchObject({
      output: {
        blockers: [],
        warnings: ['the service does not report whether a restore is under way: look at its dashboard'],
      },
    });
    expect(JSON.stringify(result)).not.toContain('runningRestores');
  });

  test('could be in progress, fails while the service is out of order', async () => {
    const service = fakeService();
    const broken = async () => {
      throw new LifeboatError('service.error', 'broken', { evidence: { status: 502 } });
    };
    const deps = { ...service.deps, service: { ...service.deps.service, restores: broken } };
    expect(await preflight(deps).run(look, context)).toMatchObject({
      ok: false,
      failure: { code: 'service.error' },
    });
  });

  test('is irrelevant, does not request the list', async () => {
    const service = fakeService();
    service.overview = { state: 'available' };
    await preflight(service.deps).run({ instance: 'orders' }, context);
    expect(service.calls).not.toContain('restores');
  });
});

describe('the backups that can be restored', () => {
  test('are those that are done, newest first by the time they were triggered', async () => {
    const service = fakeService();
    service.backups.push(
      backup(1, 'done', '2026-02-03T00:00:00Z'),
      backup(2, 'failed', '2026-02-04T00:00:00Z'),
      backup(3, 'done', '2026-02-05T00:00:00Z'),
      backup(4, 'running', '2026-02-06T00:00:00Z'),
      backup(5, 'done', '2026-02-04T00:00:00Z'),
    );
    const result = await listBackups(service.deps).run({}, context);
    expect(result).toMatchObject({
      ok: true,
      output: { newest: [{ id: 3 }, { id: 5 }, { id: 1 }], total: 3 },
    });
    expect(service.calls).toEqual(['backups']);
  });

  test('are marked if their times are in the future of the service, whose clock or zone is wrong', async () => {
    const service = fakeService();
    service.backups.push(backup(1, 'done', '2026-03-01T07:50:00.000Z'), backup(2, 'done', NOW));
    const { output } = (await listBackups(service.deps).run({}, context)) as { output: RestorableBackups };
    expect(output.newest.map(({ id, aheadSeconds }) => [id, aheadSeconds])).toEqual([
      [1, 17_400],
      [2, undefined],
    ]);
  });

  test('are at most fifty, together with the total number', async () => {
    const service = fakeService();
    for (let id = 1; id <= 51; id += 1) service.backups.push(backup(id, 'done', NOW));
    const result = await listBackups(service.deps).run({}, context);
    if (!result.ok) throw new Error('it lists');
    expect(result.output.total).toBe(51);
    expect(result.output.newest.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, at) => 51 - at));
  });
});

describe('the range of points in time', () => {
  test('is shortened by a margin at both ends, and begins and ends with whole seconds', async () => {
    const range = { start_time: '2026-02-01T20:53:20.001Z', end_time: '2026-02-02T11:45:37.601Z' };
    expect(await rangeOf(range)).toEqual({
      ok: true,
      output: {
        start: range.start_time,
        end: range.end_time,
        readAt: NOW,
        earliest: '2026-02-01T20:53:26.000Z',
        latest: '2026-02-02T11:45:36.000Z',
      },
      ledger: [],
    });
  });

  test('is given in UTC, however the service writes it', async () => {
    const range = { start_time: '2026-02-01 20:53:20', end_time: '2026-02-02T12:45:37+01:00' };
    expect(await rangeOf(range)).toMatchObject({
      output: { earliest: '2026-02-01T20:53:25.000Z', latest: '2026-02-02T11:45:36.000Z' },
    });
  });

  test.for(['2026-02-01T20:53:20Z', '2026-02-01T20:53:26Z', '2026-02-01T20:53:27Z'])(
    'that is short is reported as the service gives it: to %s',
    async (end_time) => {
      const start_time = '2026-02-01T20:53:20Z';
      const [start, end] = [start_time, end_time].map((time) => new Date(time).toISOString());
      expect(await rangeOf({ start_time, end_time })).toMatchObject({ ok: true, output: { start, end } });
    },
  );

  test('that ends before it begins is a failure', async () => {
    const [start_time, end_time] = ['2026-02-01T20:53:20Z', '2026-01-01T20:53:20Z'];
    expect(await rangeOf({ start_time, end_time })).toMatchObject({
      ok: false,
      failure: { code: 'pitr.bad-range', evidence: { start: start_time, end: end_time } },
    });
  });

  test.for([{}, { start_time: NOW, end_time: 'soon\u001b[2J' }])(
    "that is unreadable is a failure, and the service's text is cleaned: %o",
    async (range) => {
      const result = await rangeOf(range);
      expect(result).toMatchObject({ ok: false, failure: { code: 'pitr.bad-range' } });
      expect(JSON.stringify(result)).not.toContain('u001b');
    },
  );

  test('of an instance without continuous archiving says so, and that it cannot be switched on later', async () => {
    const result = await rangeOf(undefined);
    expect(result).toMatchObject({
      ok: false,
      failure: {
        code: 'pitr.not-available',
        shortMessage: 'the instance has no continuous archiving, so no time can be chosen',
        hints: [expect.stringContaining('cannot be switched on later'), expect.any(String)],
      },
    });
  });

  test('is not requested if the revision cannot restore to it', async () => {
    const service = fakeService();
    service.lacks.add('restoreToTime');
    service.range = { start_time: '2026-02-01T00:00:00Z', end_time: '2026-02-02T00:00:00Z' };
    const result = await pitrRange(service.deps).run({}, context);
    expect(result).toMatchObject({ ok: false, failure: { code: 'service.unsupported' } });
    expect(service.calls).toEqual([]);
  });
});

test('whether updates can be forbidden depends on the revision, and nothing is sent', async () => {
  const service = fakeService();
  const verb = updatesChangeable(service.deps);
  expect(await verb.run({}, context)).toMatchObject({ output: { changeable: true } });
  service.lacks.add('changeUpdateSetting');
  expect(await verb.run({}, context)).toMatchObject({
    ok: true,
    output: { changeable: false, why: 'the revision of this test cannot changeUpdateSetting' },
  });
  expect(service.calls).toEqual([]);
});

function rangeOf(range: Record<string, unknown> | undefined) {
  const service = fakeService();
  service.range = range;
  return pitrRange(service.deps).run({}, context);
}

function backup(id: number, status: string, triggered_at: string): Backup {
  return Backup.parse({ id, status, triggered_at });
}
