import { describe, expect, it } from 'vitest';
import type { Check } from './check.ts';
import { CHECKS } from './checks/index.ts';
import {
  at,
  failuresOf,
  NOT_HERE,
  openServer,
  REVISIONS,
  runSuite,
  skippedBut,
  verdictOf,
  wrongOptions,
} from './kit.ts';
import { linesOf } from './report.ts';
import { v0Error, v1Error } from './wrong/change.ts';
import { MUTATIONS } from './wrong/mutations.ts';
import { setsType } from './wrong/of-changing.ts';

describe('a server that is right', () => {
  for (const revision of REVISIONS) {
    it(`in revision ${revision} passes every check, and its revision is found`, async () => {
      const server = await openServer(revision);
      const results = await runSuite({ ...wrongOptions(server), revision: 'auto' });
      expect(failuresOf(results)).toEqual([]);
      expect(skippedBut(results, NOT_HERE)).toEqual([]);
      const run = results.filter(({ outcome }) => outcome.kind !== 'skip').map(({ check }) => check);
      expect(run).toEqual(CHECKS.filter((check) => fits(check, revision, false)));
    });
  }

  it('gets only reads unless changes are allowed', async () => {
    const methods = new Set<string>();
    const server = await openServer(62, {
      before: (call) => {
        methods.add(call.method);
        return call;
      },
    });
    const results = await runSuite({ ...wrongOptions(server), level: 'none' });
    expect(failuresOf(results)).toEqual([]);
    expect([...methods]).toEqual(['GET']);
  });

  it('keeps its data, its key and its configuration when only harmless changes are allowed', async () => {
    const server = await openServer(62);
    const { settings, keys, restores, deployments } = server.service.instance('orders');
    const before = structuredClone({ settings, keys, restores });
    await runSuite({ ...wrongOptions(server), level: 'safe' });
    expect({ settings, keys }).toEqual({ settings: before.settings, keys: before.keys });
    expect(restores).toHaveLength(before.restores.length);
    expect(deployments).toEqual([]);
  });

  it('has its type of backups restored when it lets the suite change it', async () => {
    const types: unknown[] = [];
    const setting = setsType();
    const server = await openServer(62, {
      ...setting,
      before: (call, service) => {
        if (call.method === 'PATCH') types.push(call.body['backup_type'] ?? []);
        return setting.before?.(call, service) ?? call;
      },
    });
    const results = await runSuite(wrongOptions(server));
    const failed = results.filter(({ outcome }) => outcome.kind === 'fail').map(({ check }) => check.id);
    expect(failed).toEqual(['config.read-only']);
    expect(types.flat()).toEqual(['standard', 'continuous_archiving']);
  });

  it('is reported with what could not be restored', async () => {
    const server = await openServer(62, {
      // Days are only ever added.
      before: (call, { instances: [instance] }) => {
        const days = Number(call.body['retention_time']);
        const isLess = instance !== undefined && days < instance.settings.retention_time;
        return isLess ? { ...call, body: { ...call.body, retention_time: undefined } } : call;
      },
    });
    const results = await runSuite({ ...wrongOptions(server), level: 'safe' });
    const last = results.find(({ check }) => check.id === 'changes.put-back')?.outcome;
    expect(last).toMatchObject({ kind: 'fail', why: 'retention_time of the instance was 7 and is 8' });
  });

  it('without a backup has one checked as soon as the suite may make one', async () => {
    const server = await openServer(62, {}, 0);
    const results = await runSuite({ ...wrongOptions(server), level: 'safe' });
    expect(failuresOf(results)).toEqual([]);
    expect(verdictOf(results, 'backups.get-one')).toBe('pass');
  });

  it('may deny the update setting to application developers', async () => {
    const server = await openServer(61, {
      after: (answer, { path }) => (path.endsWith('/broker/edit') ? { status: 404, body: '' } : answer),
    });
    const results = await runSuite(wrongOptions(server));
    expect(failuresOf(results)).toEqual([]);
    expect(verdictOf(results, 'operations.broker-edit')).toBe('skip');
  });

  it('is found to be V0 when it has no V1, and passes', async () => {
    const server = await openServer(62, {
      after: (answer, { path }) => (path.startsWith('/v1/') ? v1Error(404, 'notFound') : answer),
    });
    const results = await runSuite(wrongOptions(server));
    expect(failuresOf(results)).toEqual([]);
    expect(verdictOf(results, 'v0.restore')).toBe('pass');
    expect(verdictOf(results, 'backups.list')).toBe('skip');
  });

  it('may have no V0, unless it is said to be one', async () => {
    const server = await openServer(62, {
      after: (answer, { path }) => (path.startsWith('/v1/') ? answer : v0Error(404)),
    });
    const results = await runSuite(wrongOptions(server));
    expect(failuresOf(results)).toEqual([]);
    expect(verdictOf(results, 'v0.listing')).toBe('skip');
    const asV0 = await runSuite({ ...wrongOptions(server), revision: 'v0' });
    expect(verdictOf(asV0, 'v0.listing')).toBe('fail');
  });
});

describe('a server that is wrong is caught by the check that is meant for it', () => {
  for (const mutation of MUTATIONS) {
    it(`when it ${mutation.what}`, async () => {
      let tried = 0;
      for (const revision of mutation.revision === undefined ? REVISIONS : [mutation.revision]) {
        const meant = CHECKS.filter(
          (check) => isMeant(mutation.caughtBy, check) && fits(check, revision, mutation.standard === true),
        );
        const server = await openServer(revision, mutation);
        const { url, target } = server;
        const options = wrongOptions(server, mutation.standard === true ? at(target, url) : at(url, target));
        const results = await runSuite({ ...options, revision, deadline: 200 }, meant);
        const passed = results.filter(({ outcome }) => outcome.kind !== 'fail');
        expect(passed.map((result) => linesOf(result, []))).toEqual([]);
        tried += meant.length;
      }
      expect(tried).toBeGreaterThan(0);
    });
  }

  it('and every check is failed by some mutation', () => {
    const never = CHECKS.filter((check) => !MUTATIONS.some(({ caughtBy }) => isMeant(caughtBy, check)));
    expect(never.map(({ id }) => id)).toEqual([]);
  });

  it('and every mutation names existing checks', () => {
    const names = MUTATIONS.flatMap(({ caughtBy }) => caughtBy);
    expect(names.filter((name) => !CHECKS.some((check) => isMeant([name], check)))).toEqual([]);
  });
});

function fits({ needs = {} }: Check, revision: 61 | 62, standard: boolean): boolean {
  const { revisions = [61, 62], archiving } = needs;
  return revisions.includes(revision) && archiving !== standard;
}

function isMeant(names: readonly string[], { id }: Check): boolean {
  return names.some((name) => (name.endsWith('*') ? id.startsWith(name.slice(0, -1)) : id === name));
}
