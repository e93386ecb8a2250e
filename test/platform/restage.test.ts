import { describe, expect, test } from 'vitest';
import { failureOf } from '../../src/base/errors.ts';
import { rejection } from '../service/serve.ts';
import { LOST, scene } from './world.ts';

const OLD = Date.now() - 3_600_000;

describe('restaging', () => {
  test('stages the package, rolls the droplet out, and proves that every instance was started since', async () => {
    const { platform, app, bound, options, land, did } = await scene();
    const proof = await platform.restage(bound, options);
    const [build] = land.builds;
    const [deployment] = land.deployments;
    expect(proof).toMatchObject({
      outcome: 'done',
      evidence: {
        build: build?.guid,
        droplet: build?.droplet,
        deployment: deployment?.guid,
        instances: 2,
      },
    });
    expect(did()).toEqual(['POST /v3/builds', 'POST /v3/deployments']);
    expect(app.droplet.guid).toBe(build?.droplet);
  });

  test('finds when repeated what it has done, and does nothing', async () => {
    const { platform, bound, options, did } = await scene();
    await platform.restage(bound, options);
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'already' });
    expect(did()).toHaveLength(2);
  });

  test('does not reuse a build and deployment from before a newer binding', async () => {
    const { platform, app, bound, to, options, land, did } = await scene();
    await platform.restage(bound, options);
    for (const one of [...land.builds, ...land.deployments]) one.createdAt = Date.now() - 60_000;
    land.bindings = [];
    await platform.bind(bound, to, { ...options, parameters: undefined, beside: false });
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(did().filter((one) => one === 'POST /v3/deployments')).toHaveLength(2);
    expect(app.state).toBe('STARTED');
  });

  test('leaves a stopped application alone and explains what that means', async () => {
    const { platform, bound, options, did } = await scene({ app: { state: 'STOPPED' } });
    const proof = await platform.restage(bound, options);
    expect(proof.outcome).toBe('not-needed');
    expect(proof.text).toContain('stopped');
    expect(did()).toEqual([]);
  });

  test('deploys a docker application without staging it', async () => {
    const { platform, bound, options, did } = await scene({ app: { lifecycle: 'docker' } });
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(did()).toEqual(['POST /v3/deployments']);
  });

  test('stops, takes the new droplet and starts where the platform has no deployments', async () => {
    const { platform, bound, options, did } = await scene({ capi: { deployments: false } });
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(did()).toEqual([
      'POST /v3/builds',
      'POST /v3/apps/:guid/actions/stop',
      'PATCH /v3/apps/:guid/relationships/current_droplet',
      'POST /v3/apps/:guid/actions/start',
    ]);
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(did()).toHaveLength(4);
  });

  test('starts an application again that it had stopped before it failed', async () => {
    const { platform, app, bound, options, faults, did } = await scene({ capi: { deployments: false } });
    for (let tries = 0; tries < 5; tries += 1) {
      faults.push({ call: /^PATCH/u, how: LOST['reset-before'] });
    }
    await rejection(platform.restage(bound, options));
    expect(app.state).toBe('STOPPED');
    faults.length = 0;
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(app.state).toBe('STARTED');
    expect(did().filter((one) => one === 'POST /v3/apps/:guid/actions/stop')).toHaveLength(1);
  });

  test('that cannot be staged gives the reason, and stages again the next time', async () => {
    const { platform, bound, options, faults } = await scene();
    faults.push({ call: /^POST .*builds/u, how: { fails: 'NoAppDetectedError - \u001b]0;evil\u0007' } });
    const failure = failureOf(await rejection(platform.restage(bound, options)));
    expect(failure.code).toBe('platform.failed');
    expect(failure.shortMessage).toContain('NoAppDetectedError');
    expect(JSON.stringify(failure)).not.toContain('\\u001b');
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
  });

  test.for(['CANCELED', 'SUPERSEDED'] as const)(
    'whose deployment ends as %s fails with the reason of the platform; the next attempt deploys the same droplet',
    async (reason) => {
      const { platform, bound, options, land, faults } = await scene();
      faults.push({ call: /^POST .*deployments/u, how: { fails: 'Insufficient resources', reason } });
      const failure = failureOf(await rejection(platform.restage(bound, options)));
      expect(failure).toMatchObject({
        code: 'platform.failed',
        evidence: { words: 'Insufficient resources' },
      });
      expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
      expect(land.builds).toHaveLength(1);
      expect(land.deployments).toHaveLength(2);
    },
  );

  test('whose instances crash fails with their states', async () => {
    const { platform, app, bound, options } = await scene();
    for (const one of app.processes) one.state = 'CRASHED';
    const failure = failureOf(await rejection(platform.restage(bound, options)));
    expect(failure.code).toBe('platform.failed');
    expect(failure.shortMessage).toContain('0 of 2 instances run, 2 CRASHED');
  });

  test('is stopped by its signal, whatever it is waiting for', async () => {
    const { platform, app, bound, options } = await scene();
    for (const one of app.processes) one.state = 'STARTING';
    const stop = new AbortController();
    const tell = (what: string) => {
      if (what.includes('starting')) stop.abort();
    };
    const failure = failureOf(
      await rejection(platform.restage(bound, { ...options, signal: stop.signal, tell })),
    );
    expect(failure.code).toBe('platform.stopped');
  });
});

describe.for(['reset-before', 'reset-after', 'gateway-after'] as const)('an answer lost by %s', (how) => {
  test.for([
    { call: /^POST .*builds/u, gone: false, what: 'POST /v3/builds' },
    { call: /^POST .*deployments/u, gone: false, what: 'POST /v3/deployments' },
    { call: /^POST .*stop/u, gone: true, what: 'POST /v3/apps/:guid/actions/stop' },
    {
      call: /^PATCH .*current_droplet/u,
      gone: true,
      what: 'PATCH /v3/apps/:guid/relationships/current_droplet',
    },
    { call: /^POST .*start/u, gone: true, what: 'POST /v3/apps/:guid/actions/start' },
  ])('to $what: doing it again does it once', async ({ call, gone, what }) => {
    const { faults, did, platform, bound, options } = await scene({ capi: { deployments: !gone } });
    faults.push({ call, how: LOST[how] });
    const first = platform.restage(bound, options);
    if (how === 'reset-before') expect(failureOf(await rejection(first)).code).toBe('platform.unreachable');
    else expect(await first).toMatchObject({ outcome: 'done' });
    await platform.restage(bound, options);
    expect(faults).toEqual([]);
    expect(did().filter((one) => one === what)).toEqual([what]);
  });
});

describe('proof', () => {
  const prove = async (world: Awaited<ReturnType<typeof scene>>) =>
    world.platform.prove(world.bound, world.to, world.options);

  test('is given for an application that is bound and was started after the restore, by any person', async () => {
    const world = await scene({
      binding: { createdAt: Date.now() },
      startedAt: [Date.now(), Date.now()],
    });
    expect(await prove(world)).toMatchObject({ outcome: 'done', evidence: { binding: world.binding.guid } });
  });

  test.for([
    { what: 'bound since before the restore', scene: {}, words: 'before the restore' },
    {
      what: 'not started since',
      scene: { binding: { createdAt: Date.now() } },
      words: '2 since before it was bound',
    },
    {
      what: 'started in part',
      scene: { binding: { createdAt: Date.now() }, startedAt: [Date.now(), OLD] as const },
      words: '1 since before it was bound',
    },
  ])('is refused for one that is $what', async ({ scene: overrides, words }) => {
    const failure = await prove(await scene(overrides));
    expect(failure).toMatchObject({ code: 'app.not-rebound' });
    expect('shortMessage' in failure ? failure.shortMessage : '').toContain(words);
  });

  test('is refused for one that is not bound at all', async () => {
    const world = await scene();
    world.land.bindings = [];
    expect(await prove(world)).toMatchObject({ code: 'app.not-rebound' });
  });
});
