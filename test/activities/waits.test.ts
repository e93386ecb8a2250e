import { describe, expect, test } from 'vitest';
import type { Progress, ReadActivity } from '../../src/activities/activity.ts';
import { updateLines } from '../../src/activities/doubt-action.ts';
import { waitForInstance } from '../../src/activities/wait-for-instance.ts';
import { waitForBackup, waitForRestore } from '../../src/activities/wait-for-task.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { Backup, InstanceOverview, Restore } from '../../src/service/schemas.ts';
import { type FakeService, fakeService } from './fake-service.ts';
import { contextOf } from './world.ts';

const BEFORE = '2026-01-01T00:00:00Z';
const AFTER = '2026-03-01T03:00:00Z';
const UNSEEN = { seenDeploying: false, reason: expect.stringContaining('it was not seen deploying') };

describe('waiting for a restore', () => {
  test("ends with the service's data once it is done", async () => {
    const { run, service, seen } = begin(waitForRestore);
    service.restores.push(restore('queued'));
    next(service, () => service.restores.splice(0, 1, restore('done')));
    expect(await run({ id: 5 })).toEqual({
      ok: true,
      output: {
        id: 5,
        status: 'done',
        backup: 3,
        restoredFrom: '2026-02-28T01:30:00Z',
        triggeredAt: AFTER,
        finishedAt: AFTER,
      },
      ledger: [],
    });
    expect(seen).toEqual(['restore 5: queued', 'restore 5: done']);
  });

  test('reports when it was seen to leave the queue, or the time that the service gives', async () => {
    const { run, service, clock } = begin(waitForRestore);
    service.restores.push(restore('queued'));
    const running = () => {
      clock.ms += 30_000;
      service.restores.splice(0, 1, restore('running'));
    };
    const done = () => {
      clock.ms += 30_000;
      const started_at = '2026-03-01T03:00:29Z';
      service.restores.splice(0, 1, Restore.parse({ ...restore('done'), started_at }));
    };
    next(service, running, done);
    expect(await run({ id: 5 })).toMatchObject({
      output: { startedAt: '2026-03-01T03:00:29Z', seenRunningAt: '2026-03-01T03:00:30.000Z' },
    });
  });

  test('does not say when it left the queue if it was not seen there', async () => {
    const { run, service } = begin(waitForRestore);
    service.restores.push(restore('running'));
    next(service, () => service.restores.splice(0, 1, restore('done')));
    const result = await run({ id: 5 });
    expect(result.ok && 'seenRunningAt' in result.output).toBe(false);
  });

  test.for(['failed', 'deleted'])(
    'fails when it is %s, and says that the content is not known',
    async (status) => {
      const { run, service } = begin(waitForRestore);
      service.restores.push(restore(status));
      expect(await run({ id: 5 })).toMatchObject({
        ok: false,
        failure: {
          code: `restore.${status}`,
          shortMessage: `restore 5 is ${status}; the service gives no reason`,
        },
      });
    },
  );

  test('continues through an unknown status, and shows it harmlessly', async () => {
    const { run, service, seen } = begin(waitForRestore);
    service.restores.push(restore('re\u001b[31mplaying'));
    next(service, () => service.restores.splice(0, 1, restore('done')));
    expect(await run({ id: 5 })).toMatchObject({ ok: true });
    expect(seen[0]).toBe('restore 5: re\ufffd[31mplaying');
  });

  test('continues while the service does not know it yet, for at most two minutes', async () => {
    const { run, service, seen, clock } = begin(waitForRestore);
    next(service, () => service.restores.push(restore('done')));
    expect(await run({ id: 5 })).toMatchObject({ ok: true });
    expect(seen[0]).toContain('not seen');
    service.restores.length = 0;
    next(service, () => {
      clock.ms += 120_001;
    });
    const gone = { code: 'restore.gone', shortMessage: expect.stringContaining('no longer knows restore 5') };
    expect(await run({ id: 5 })).toMatchObject({ ok: false, failure: gone });
  });

  test('continues when a service of revision 61 is too busy with the task to answer', async () => {
    const { run, service, seen } = begin(waitForRestore);
    service.restores.push(restore('done'));
    service.beforeRead = () => {
      service.beforeRead = () => undefined;
      throw new LifeboatError('service.conflict', 'the same action is already in progress (409)');
    };
    expect(await run({ id: 5 })).toMatchObject({ ok: true });
    expect(seen[0]).toContain('not seen: the same action is already in progress');
  });

  test('stops at once when the token is refused', async () => {
    const { run, service } = begin(waitForRestore);
    service.beforeRead = () => {
      throw new LifeboatError('credentials.refused', 'the token is refused');
    };
    expect(await run({ id: 5 })).toMatchObject({ ok: false, failure: { code: 'credentials.refused' } });
  });

  test('stops when the run is left', async () => {
    const leaving = new AbortController();
    const { run, service } = begin(waitForRestore, leaving.signal);
    service.restores.push(restore('running'));
    next(service, () => leaving.abort(new LifeboatError('run.left', 'left')));
    expect(await run({ id: 5 })).toMatchObject({ ok: false, failure: { code: 'run.left' } });
  });
});

test('waiting for a backup finds its `backup_id` in the list, where revision 62 has it', async () => {
  const { run, service } = begin(waitForBackup);
  service.backups.push(Backup.parse({ id: 5, status: 'done', backup_id: 'guid-17' }));
  const whole = service.deps.service.backup;
  Object.assign(service.deps.service, {
    backup: async (id: number) => {
      const answer = await whole(id);
      return { ...answer, value: { ...answer.value, backup_id: undefined } };
    },
  });
  expect(await run({ id: 5 })).toMatchObject({ ok: true, output: { id: 5, backupId: 'guid-17' } });
});

describe('waiting for the instance', () => {
  test('does not take the state from before the action for the one after it', async () => {
    const { run, service, seen } = begin(waitForInstance);
    service.overview = { state: 'available', updated_at: BEFORE };
    next(
      service,
      () => undefined,
      () => Object.assign(service.overview, { state: 'deploying' }),
      () => Object.assign(service.overview, { state: 'available', available_updates: [] }),
    );
    expect(await run({ action: 'restart', updatedAt: BEFORE })).toMatchObject({
      ok: true,
      output: { state: 'available', updatedAt: BEFORE, pendingUpdates: 0, seenDeploying: true },
    });
    expect(seen.slice(-2)).toEqual(['the instance: deploying', 'the instance: available']);
  });

  test('is over when the time of the last change has moved and nothing has followed for a while, even if it was too quick to be seen', async () => {
    const { run, service, seen, clock } = begin(waitForInstance);
    service.overview = { state: 'provisioned', updated_at: AFTER };
    next(service, later(clock, 1_999), later(clock, 1));
    expect(await run({ action: 'restart', updatedAt: BEFORE })).toMatchObject({
      ok: true,
      output: { state: 'provisioned', reason: expect.stringContaining('nothing has changed for 2 s') },
    });
    expect(seen).toHaveLength(3);
  });

  test('is not over before the action begins, if the service moves that time when it accepts', async () => {
    const { run, service, seen, clock } = begin(waitForInstance);
    service.overview = { state: 'available', updated_at: AFTER };
    next(
      service,
      later(clock, 1_900),
      () => Object.assign(service.overview, { state: 'deploying' }),
      () => Object.assign(service.overview, { state: 'available' }),
    );
    expect(await run({ action: 'recreate', updatedAt: BEFORE })).toMatchObject({
      ok: true,
      output: { reason: 'it was seen deploying, and is no longer' },
    });
    expect(seen.slice(-2)).toEqual(['the instance: deploying', 'the instance: available']);
  });

  test('is not over for an update that is still offered, whatever was deployed since', async () => {
    const { run, service, clock } = begin(waitForInstance);
    const available_updates = [{ name: 'pg', type: 'release', version: '2' }];
    const updates = updateLines(InstanceOverview.parse({ available_updates })) ?? [];
    service.overview = { state: 'deploying', updated_at: AFTER, available_updates };
    const back = () => Object.assign(service.overview, { state: 'available' });
    next(service, back, later(clock, 60_000), later(clock, 60_001));
    expect(await run({ action: 'update', updatedAt: BEFORE, updates })).toMatchObject({
      ok: false,
      failure: { code: 'instance.unchanged', shortMessage: expect.stringContaining('still offered') },
    });
    service.overview = { state: 'deploying', updated_at: AFTER, available_updates: [] };
    next(service, back);
    expect(await run({ action: 'update', updatedAt: BEFORE, updates })).toMatchObject({ ok: true });
  });

  test('is not over at once if the service gives no time of a change', async () => {
    const { run, service, clock, seen } = begin(waitForInstance);
    service.overview = { state: 'available' };
    next(service, later(clock, 1_999), later(clock, 1));
    expect(await run({ action: 'restart' })).toMatchObject({ ok: true, output: UNSEEN });
    expect(seen).toHaveLength(3);
  });

  test('that shows no trace is over once the in-flight window has passed since the run began to wait', async () => {
    const { run, service, clock, seen } = begin(waitForInstance);
    service.overview = { state: 'available', updated_at: BEFORE };
    next(service, later(clock, 1_999), later(clock, 1));
    expect(await run({ action: 'recreate', updatedAt: BEFORE })).toMatchObject({
      ok: true,
      output: {
        ...UNSEEN,
        reason: 'it was not seen deploying; it is available 2 s after the recreate was accepted',
      },
    });
    expect(seen).toHaveLength(3);
    // A later process does not restart the time.
    const late = begin(waitForInstance, undefined, new Date(Date.parse(AFTER) - 2_000).toISOString());
    late.service.overview = { state: 'available', updated_at: BEFORE };
    expect(await late.run({ action: 'recreate', updatedAt: BEFORE })).toMatchObject({ output: UNSEEN });
    expect(late.seen).toHaveLength(1);
  });

  test('is over even if the service moves the time of the last change at every look', async () => {
    const { run, service, clock } = begin(waitForInstance);
    service.overview = { state: 'available', updated_at: BEFORE };
    const moves = () => {
      clock.ms += 500;
      Object.assign(service.overview, { updated_at: new Date(clock.ms).toISOString() });
    };
    next(service, moves, moves, moves, moves, moves);
    expect(await run({ action: 'restart', updatedAt: BEFORE })).toMatchObject({ ok: true, output: UNSEEN });
  });

  test('fails at once when the instance is deleted, even if nothing else has changed', async () => {
    const { run, service } = begin(waitForInstance);
    service.overview = { state: 'deleted', updated_at: BEFORE };
    expect(await run({ action: 'restart', updatedAt: BEFORE })).toMatchObject({
      ok: false,
      failure: { code: 'instance.deleted' },
    });
  });

  test('fails when the action leaves it failed, but not for an earlier failure', async () => {
    const { run, service, clock } = begin(waitForInstance);
    service.overview = { state: 'failed', updated_at: BEFORE };
    next(
      service,
      () => Object.assign(service.overview, { state: 'deploying' }),
      () => Object.assign(service.overview, { state: 'available' }),
    );
    const input = { action: 'restart', updatedAt: BEFORE } as const;
    expect(await run(input)).toMatchObject({ ok: true, output: { state: 'available' } });
    service.overview = { state: 'failed', updated_at: AFTER };
    next(service, later(clock, 2_000));
    expect(await run(input)).toMatchObject({ ok: false, failure: { code: 'instance.failed' } });
  });

  test('continues through an unknown state, and shows it', async () => {
    const { run, service, seen } = begin(waitForInstance);
    service.overview = { state: 'migrating' };
    next(service, () => Object.assign(service.overview, { state: 'available' }));
    expect(await run({})).toMatchObject({ ok: true });
    expect(seen).toEqual(['the instance: migrating', 'the instance: available']);
  });
});

function restore(status: string): Restore {
  return Restore.parse({
    id: 5,
    backup_id: 3,
    status,
    metadata: { restored_from: '2026-02-28T01:30:00Z' },
    triggered_at: AFTER,
    finished_at: AFTER,
  });
}

function later(clock: { ms: number }, ms: number): () => void {
  return () => {
    clock.ms += ms;
  };
}

/** Acts before each read from the second on; the first sees the service unchanged. */
function next(service: FakeService, ...changes: readonly (() => unknown)[]): void {
  let reads = 0;
  service.beforeRead = () => {
    changes[reads - 1]?.();
    reads += 1;
  };
}

/** A waiting verb on a service in memory, with a clock that only the test moves. */
function begin<Input, Output>(
  verb: (deps: FakeService['deps']) => ReadActivity<Input, Output>,
  signal = new AbortController().signal,
  arrivedAt?: string,
) {
  const clock = { ms: Date.parse(AFTER) };
  const service = fakeService(() => clock.ms);
  const seen: string[] = [];
  const report = (progress: Progress) => {
    if (progress.kind === 'task') seen.push(`${progress.what}: ${progress.status}`);
  };
  const context = contextOf(() => new Date(clock.ms), { signal, report, ...(arrivedAt && { arrivedAt }) });
  return { run: (input: Input) => verb(service.deps).run(input, context), service, seen, clock };
}
