import { describe, expect, test } from 'vitest';
import type { ReadActivity } from '../../src/activities/activity.ts';
import { waitForBackup, waitForRestore } from '../../src/activities/wait-for-task.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { Restore } from '../../src/service/schemas.ts';
import { type FakeService, fakeService } from './fake-service.ts';
import { contextOf } from './world.ts';

describe('a task missing from the list of the instance', () => {
  test('is in doubt, although the service says that it is done', async () => {
    for (const [verb, kind] of [
      [waitForRestore, 'restore'],
      [waitForBackup, 'backup'],
    ] as const) {
      const { run, service, clock } = begin<{ id: number }, unknown>(verb);
      service[`${kind}s`].push({ ...restore('done') } as never);
      let looks = 0;
      const list = async () => {
        looks += 1;
        clock.ms += looks === 2 ? 60_001 : 0;
        return { value: [], raw: [], status: 200, skew: undefined };
      };
      Object.assign(service.deps.service, { [`${kind}s`]: list });
      expect(await run({ id: 5 })).toMatchObject({
        ok: false,
        failure: {
          code: 'doubt.unlisted',
          shortMessage: `the service says that ${kind} 5 is done, and its list of ${kind}s does not have it`,
        },
      });
    }
  });

  test('is waited for as long as a list may lag behind', async () => {
    const { run, service } = begin(waitForRestore);
    service.restores.push(restore('done'));
    const whole = service.deps.service.restores;
    let looks = 0;
    const restores = async () => {
      looks += 1;
      const answer = await whole();
      return looks > 2 ? answer : { ...answer, value: [] };
    };
    Object.assign(service.deps.service, { restores });
    expect(await run({ id: 5 })).toMatchObject({ ok: true, output: { id: 5 } });
  });

  test('does not count as done if the list cannot be read', async () => {
    const { run, service } = begin(waitForRestore);
    service.restores.push(restore('done'));
    const restores = async () => {
      throw new LifeboatError('service.forbidden', 'no', { evidence: { status: 403 } });
    };
    Object.assign(service.deps.service, { restores });
    expect(await run({ id: 5 })).toMatchObject({ ok: false, failure: { code: 'service.forbidden' } });
  });
});

function restore(status: string): Restore {
  return Restore.parse({ id: 5, status, backup_id: 3, triggered_at: '2026-03-01T03:00:00Z' });
}

function begin<Input, Output>(verb: (deps: FakeService['deps']) => ReadActivity<Input, Output>) {
  const clock = { ms: Date.parse('2026-03-01T03:00:00Z') };
  const service = fakeService(() => clock.ms);
  const context = contextOf(() => new Date(clock.ms));
  return { run: (input: Input) => verb(service.deps).run(input, context), service, clock };
}
