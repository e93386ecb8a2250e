import { describe, expect, test } from 'vitest';
import { inspectTarget } from '../../src/activities/inspect-target.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';
import { type FakeService, fakeService } from './fake-service.ts';
import { backup, codes, FRESH, GIB, GUID, inspect, OTHER, platformWith, SOURCE } from './target.ts';
import { contextOf } from './world.ts';

describe('a fresh target of the same service and plan', () => {
  test('has no obstacles, and everything that identifies it is in the facts', async () => {
    const { facts, service } = await inspect({ needBytes: GIB });
    expect(facts).toEqual({
      identity: {
        instanceId: '12',
        name: 'orders-dr',
        tenant: 'acme',
        subtenant: 'prod',
        serviceId: 'postgres',
        planId: 'small',
        createdAt: '2026-02-28T00:00:00Z',
        state: 'available',
        backups: 0,
        restores: 0,
        runningTasks: [],
        boundApps: [],
      },
      disk: { usedPercent: 20, threshold: 80, freeBytes: 6 * GIB, needBytes: 3 * GIB },
      clockSkewSeconds: 0,
      warnings: ['the platform was not asked which applications are bound: there is none in this test'],
      blockers: [],
    });
    expect(service.calls).toEqual(['overview', 'backups', 'restores', 'metrics']);
  });

  test('is still inspected if neither metrics nor the platform answer', async () => {
    const { facts } = await inspect({}, (service) => {
      service.metrics = undefined;
      Object.assign(service.deps, {
        platform: async () => {
          throw new LifeboatError('platform.unreachable', 'nobody\u001b[2J is there');
        },
      });
    });
    expect([facts.blockers, facts.disk]).toEqual([[], undefined]);
    expect(facts.warnings).toEqual([
      'the platform was not asked which applications are bound: nobody\ufffd[2J is there',
      'the disk of the target is not known: metrics are out of order',
    ]);
  });

  test('with unreadable rows in its lists is reported: they cannot be judged', async () => {
    const { facts } = await inspect({}, (service) => {
      const { backups, restores } = service.deps.service;
      Object.assign(service.deps.service, {
        backups: async () => ({
          ...(await backups()),
          unread: [{ id: 2, atMs: undefined, field: 'status' }],
        }),
        restores: async () => ({
          ...(await restores()),
          unread: [{ id: undefined, atMs: undefined, field: '' }],
        }),
      });
      service.restores.push(Restore.parse({ id: 7, status: 'levitating' }));
    });
    expect(facts.warnings.slice(0, 3)).toEqual([
      'backup 2 in the list cannot be read (status) and is passed over',
      'a row of the list of restores cannot be read and is passed over',
      'the status of restore 7 (levitating) is not known: it may be under way',
    ]);
  });

  test('that cannot be asked at all is a failure, not an empty target', async () => {
    const service = fakeService();
    Object.assign(service.deps.service, {
      restores: async () => {
        throw new LifeboatError('service.unreachable', 'gone');
      },
    });
    const result = await inspectTarget(service.deps).run(
      { on: 'target' },
      contextOf(() => new Date()),
    );
    expect(result).toMatchObject({ ok: false, failure: { code: 'service.unreachable' } });
  });
});

describe('a target that is not empty', () => {
  test('says what it holds, and how big its newest backup is', async () => {
    const { facts } = await inspect({}, (service) => {
      service.backups.push(backup(1, 900), backup(2, 45_678));
      service.restores.push(Restore.parse({ id: 5, status: 'done' }));
      Object.assign(service.deps, platformWith(['shop', 'orders-api'], 1));
    });
    expect(facts.identity).toMatchObject({
      backups: 2,
      newestBackup: 2,
      restores: 1,
      newestRestore: 5,
      boundApps: ['orders-api', 'shop'],
    });
    expect(facts.blockers).toEqual([
      {
        code: 'target.not-empty',
        shortMessage:
          'target orders-dr is not empty: it holds 3 bound apps, 2 backups and 1 restore of its own',
        hints: [
          'choose a fresh instance of the same service and plan',
          'a fresh instance may have scheduled backups of an empty database: the newest one here has 44.6 KiB',
          'to overwrite it on purpose, type its name',
        ],
        evidence: {
          boundApps: ['orders-api', 'shop'],
          unseenApps: 1,
          backups: 2,
          restores: 1,
          newestBackup: 2,
          newestBytes: 45_678,
          newestAt: '2026-02-28T02:00:00Z',
        },
      },
    ]);
  });

  test.for([
    {
      what: 'a single done backup',
      by: (service: FakeService) => void service.backups.push(backup(1, 10)),
      holds: '1 backup',
    },
    {
      what: 'a single restore, whatever became of it',
      by: (service: FakeService) => void service.restores.push(Restore.parse({ id: 5, status: 'failed' })),
      holds: '1 restore',
    },
    {
      what: 'an application that the config names',
      by: (service: FakeService) => void Object.assign(service.deps, { apps: [{ name: 'reports' }] }),
      holds: '1 bound app',
    },
    {
      what: 'an application that only the platform knows',
      by: (service: FakeService) => void Object.assign(service.deps, platformWith(['reports'], 0)),
      holds: '1 bound app',
    },
    {
      what: 'an application that may not even be seen',
      by: (service: FakeService) => void Object.assign(service.deps, platformWith([], 1)),
      holds: '1 bound app',
    },
  ])('is recognised by $what', async ({ by, holds }) => {
    const { facts } = await inspect({}, by);
    expect(facts.blockers.map(({ shortMessage }) => shortMessage)).toEqual([
      `target orders-dr is not empty: it holds ${holds} of its own`,
    ]);
  });

  test('is not recognised by applications that the run will bind to it, unless the platform says that they are bound', async () => {
    const configured = (service: FakeService) => Object.assign(service.deps, { apps: [{ name: 'shop' }] });
    const intended = await inspect({ apps: ['shop'] }, configured);
    expect(intended.facts.blockers).toEqual([]);
    const bound = await inspect({ apps: ['shop'] }, (service) => {
      configured(service);
      Object.assign(service.deps, platformWith(['shop'], 0));
    });
    expect(codes(bound.facts)).toEqual(['target.not-empty']);
  });

  test('is not recognised by backups that failed', async () => {
    const { facts } = await inspect({}, (service) => {
      service.backups.push(Backup.parse({ id: 1, status: 'failed' }));
    });
    expect(facts.blockers).toEqual([]);
  });
});

describe('a target that is the source itself', () => {
  test('is recognised by its name in the config', async () => {
    const { facts } = await inspect({ source: { instance: 'orders-dr' } });
    expect(codes(facts)).toEqual(['target.is-source']);
  });

  test('is recognised by its address, whatever it is called', async () => {
    const service = fakeService();
    const context = contextOf(() => new Date(), { instance: 'orders-dr' });
    const look = (dashboardUrl: string) =>
      inspectTarget(service.deps, { dashboardUrl }).run(
        { on: 'target', source: { instance: 'orders' } },
        context,
      );
    expect(await look(service.deps.dashboardUrl)).toMatchObject({
      output: { blockers: [{ code: 'target.is-source' }] },
    });
    expect(await look('https://dashboard.example/service-instances/another')).toMatchObject({
      output: { blockers: [] },
    });
  });

  test('is recognised by the ids of its backups, whatever else it says, for a guid and for a backup id', async () => {
    for (const backupGuid of [GUID, `${GUID}-1742693407644`, GUID.toUpperCase()]) {
      const { facts } = await inspect({ source: { ...SOURCE, backupGuid } }, (service) => {
        service.backups.push(backup(1, 10, `${GUID}-1742693407000`));
      });
      expect(codes(facts)).toEqual(['target.is-source', 'target.not-empty']);
    }
  });

  test('is recognised by its id where nothing contradicts that', async () => {
    const { backupGuid: _, ...source } = SOURCE;
    const { facts } = await inspect({ source }, (service) => {
      service.overview = { ...FRESH, id: 7 };
      service.backups.push(backup(1, 10));
    });
    expect(codes(facts)).toEqual(['target.is-source', 'target.not-empty']);
  });

  test('is not recognised by an id that another region uses as well, which is a warning', async () => {
    const twin = (service: FakeService) => Object.assign(service, { overview: { ...FRESH, id: 7 } });
    const empty = await inspect({}, twin);
    const other = await inspect({}, (service) => {
      twin(service);
      service.backups.push(backup(1, 10, `${OTHER}-1742693407000`));
    });
    expect([codes(empty.facts), codes(other.facts)]).toEqual([[], ['target.not-empty']]);
    for (const { facts } of [empty, other])
      expect(facts.warnings[0]).toContain('has the same id as the source');
  });
});

test.for(['available', 'provisioned'])('a target that is %s fits', async (state) => {
  const { facts } = await inspect({}, (service) => {
    service.overview = { ...FRESH, state };
  });
  expect(codes(facts)).toEqual([]);
});

describe('a target that does not fit', () => {
  test.for([
    { what: 'service', overview: { service_id: 'mongo' }, codes: ['target.other-service'] },
    { what: 'plan', overview: { plan_id: 'big' }, codes: ['target.other-plan'] },
    {
      what: 'service and plan',
      overview: { service_id: 'mongo', plan_id: 'big' },
      codes: ['target.other-service', 'target.other-plan'],
    },
    { what: 'state', overview: { state: 'deploying' }, codes: ['target.state'] },
    { what: 'stopped', overview: { state: 'Stopped' }, codes: ['target.state'] },
    { what: 'state, though nobody knows it', overview: { state: 'stopped' }, codes: ['target.state'] },
    { what: 'state, since it is gone', overview: { state: 'deleted' }, codes: ['target.deleted'] },
  ])('by its $what is stopped', async ({ overview, codes: expected }) => {
    const { facts } = await inspect({}, (service) => {
      service.overview = { ...FRESH, ...overview };
    });
    expect(codes(facts)).toEqual(expected);
  });

  test('because it is at work is stopped, with the work named', async () => {
    const { facts } = await inspect({}, (service) => {
      service.backups.push(Backup.parse({ id: 3, status: 'queued' }));
      service.restores.push(Restore.parse({ id: 9, status: 'running' }));
    });
    expect(facts.identity.runningTasks).toEqual([3, 9]);
    expect(facts.blockers[0]?.shortMessage).toBe('target orders-dr is busy: backup 3, restore 9 under way');
  });

  test('perhaps, because service or plan are not reported, gets a warning', async () => {
    const { facts } = await inspect({ source: { instance: 'orders' } });
    expect(facts.blockers).toEqual([]);
    expect(facts.warnings[0]).toBe('service and plan of source and target could not all be compared');
  });
});
