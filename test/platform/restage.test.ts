import { describe, expect, test } from 'vitest';
import { failureOf } from '../../src/base/errors.ts';
import { rejection } from '../service/serve.ts';
import { stamp } from './capi-model.ts';
import { scene } from './world.ts';

const OLD = Date.now() - 3_600_000;

describe('restaging', () => {
  test('stages the package, rolls the droplet out, and proves that every instance was started since', async () => {
    const { capi, platform, app, bound, options } = await scene();
    const proof = await platform.restage(bound, options);
    const [build] = capi.model.builds;
    const [deployment] = capi.model.deployments;
    expect(proof).toMatchObject({
      outcome: 'done',
      evidence: {
        build: build?.guid,
        droplet: build?.droplet?.guid,
        deployment: deployment?.guid,
        instances: 2,
      },
    });
    expect(capi.model.ledger).toEqual(['app.build.create', 'app.deployment.create']);
    expect(app.droplet.guid).toBe(build?.droplet?.guid);
  });

  test('again finds what it has done and does nothing', async () => {
    const { capi, platform, bound, options } = await scene();
    await platform.restage(bound, options);
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'already' });
    expect(capi.model.ledger).toHaveLength(2);
  });

  test('does not take the build and deployment of before a newer binding for its own', async () => {
    const { capi, platform, app, bound, to, options } = await scene();
    await platform.restage(bound, options);
    for (const one of [...capi.model.builds, ...capi.model.deployments])
      one.created_at = stamp(Date.now() - 60_000);
    capi.model.bindings = [];
    await platform.bind(bound, to, { ...options, parameters: undefined, beside: false });
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(capi.model.ledger.filter((did) => did === 'app.deployment.create')).toHaveLength(2);
    expect(app.state).toBe('STARTED');
  });

  test('leaves a stopped application alone and says what that means', async () => {
    const { capi, platform, bound, options } = await scene({ app: { state: 'STOPPED' } });
    const proof = await platform.restage(bound, options);
    expect(proof.outcome).toBe('not-needed');
    expect(proof.text).toContain('stopped');
    expect(capi.model.ledger).toEqual([]);
  });

  test('deploys a docker application without staging it', async () => {
    const { capi, platform, bound, options } = await scene({ app: { lifecycle: 'docker' } });
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(capi.model.ledger).toEqual(['app.deployment.create']);
  });

  test('stops, takes the new droplet and starts where the platform has no deployments', async () => {
    const { capi, platform, bound, options } = await scene();
    capi.model.deployments404 = true;
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(capi.model.ledger).toEqual(['app.build.create', 'app.stop', 'app.droplet.mapped', 'app.start']);
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(capi.model.ledger).toHaveLength(4);
  });

  test('starts an application again that it had stopped when it died', async () => {
    const { capi, platform, app, bound, options } = await scene();
    capi.model.deployments404 = true;
    for (let tries = 0; tries < 5; tries += 1) {
      capi.faults.push({ call: /^PATCH/u, how: 'reset-before' });
    }
    await rejection(platform.restage(bound, options));
    expect(app.state).toBe('STOPPED');
    capi.faults.length = 0;
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
    expect(app.state).toBe('STARTED');
    expect(capi.model.ledger.filter((did) => did === 'app.stop')).toHaveLength(1);
  });

  test('that cannot be staged says why, and stages anew the next time', async () => {
    const { capi, platform, bound, options } = await scene();
    capi.model.nextBuildFails = 'NoAppDetectedError - \u001b]0;evil\u0007';
    const failure = failureOf(await rejection(platform.restage(bound, options)));
    expect(failure.code).toBe('platform.failed');
    expect(failure.shortMessage).toContain('NoAppDetectedError');
    expect(JSON.stringify(failure)).not.toContain('\\u001b');
    expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
  });

  test.for(['CANCELED', 'SUPERSEDED'])(
    'whose deployment ends as %s fails with its words; the next try deploys the same droplet',
    async (reason) => {
      const { capi, platform, bound, options } = await scene();
      capi.model.nextDeploymentEnds = { reason, error: 'Insufficient resources' };
      const failure = failureOf(await rejection(platform.restage(bound, options)));
      expect(failure).toMatchObject({
        code: 'platform.failed',
        evidence: { words: 'Insufficient resources' },
      });
      expect(await platform.restage(bound, options)).toMatchObject({ outcome: 'done' });
      expect(capi.model.builds).toHaveLength(1);
      expect(capi.model.deployments).toHaveLength(2);
    },
  );

  test('whose instances crash fails with their states', async () => {
    const { platform, bound, options } = await scene({ app: { instanceState: 'CRASHED' } });
    const failure = failureOf(await rejection(platform.restage(bound, options)));
    expect(failure.code).toBe('platform.failed');
    expect(failure.shortMessage).toContain('0 of 2 instances run, 2 CRASHED');
  });

  test('is stopped by its signal, whatever it waits for', async () => {
    const { platform, bound, options } = await scene({ app: { instanceState: 'STARTING' } });
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
    { call: /^POST .*builds/u, gone: false, did: 'app.build.create' },
    { call: /^POST .*deployments/u, gone: false, did: 'app.deployment.create' },
    { call: /^POST .*stop/u, gone: true, did: 'app.stop' },
    { call: /^PATCH .*current_droplet/u, gone: true, did: 'app.droplet.mapped' },
    { call: /^POST .*start/u, gone: true, did: 'app.start' },
  ])('to $did: doing it again does it once', async ({ call, gone, did }) => {
    const { capi, platform, bound, options } = await scene();
    capi.model.deployments404 = gone;
    capi.faults.push({ call, how });
    const first = platform.restage(bound, options);
    if (how === 'reset-before') expect(failureOf(await rejection(first)).code).toBe('platform.unreachable');
    else expect(await first).toMatchObject({ outcome: 'done' });
    await platform.restage(bound, options);
    expect(capi.faults).toEqual([]);
    expect(capi.model.ledger.filter((one) => one === did)).toEqual([did]);
  });
});

describe('proof', () => {
  const prove = async (world: Awaited<ReturnType<typeof scene>>) =>
    world.platform.prove(world.bound, world.to, world.options);

  test('is given for an application that is bound and was started after the restore, whoever did it', async () => {
    const world = await scene({
      binding: { created_at: stamp() },
      app: { starts: [Date.now(), Date.now()] },
    });
    expect(await prove(world)).toMatchObject({ outcome: 'done', evidence: { binding: world.binding.guid } });
  });

  test.for([
    { what: 'bound since before the restore', scene: {}, words: 'before the restore' },
    {
      what: 'not started since',
      scene: { binding: { created_at: stamp() } },
      words: '2 since before it was bound',
    },
    {
      what: 'started in part',
      scene: { binding: { created_at: stamp() }, app: { starts: [Date.now(), OLD] } },
      words: '1 since before it was bound',
    },
  ])('is refused for one that is $what', async ({ scene: overrides, words }) => {
    const failure = await prove(await scene(overrides));
    expect(failure).toMatchObject({ code: 'app.not-rebound' });
    expect('shortMessage' in failure ? failure.shortMessage : '').toContain(words);
  });

  test('is refused for one that is not bound at all', async () => {
    const world = await scene();
    world.capi.model.bindings = [];
    expect(await prove(world)).toMatchObject({ code: 'app.not-rebound' });
  });
});
