import { describe, expect, test } from 'vitest';
import { failureOf } from '../../src/base/errors.ts';
import type { Binding } from '../bench-kit/foreign/capi-land.ts';
import { stamp } from '../bench-kit/foreign/capi-show.ts';
import { rejection } from '../service/serve.ts';
import { LOST, problem, RUN, type Scene, scene } from './world.ts';

const PARAMETERS = { role: 'writer', password: 'hunter2-hunter2' };
const bindOptions = ({ options }: Scene) => ({ ...options, parameters: PARAMETERS, beside: false });
const POST = /^POST .*bindings/u;
const DELETE = /^DELETE /u;

/** Acts when the bindings are read for the third time: until then it is in progress. */
function atThirdLook({ faults }: Pick<Scene, 'faults'>, work: () => void): void {
  const call = /^GET .*bindings/u;
  const done = () => {
    work();
    return {};
  };
  faults.push({ call, how: {} }, { call, how: {} }, { call, how: done });
}

describe('unbinding', () => {
  test('removes the binding, waits until it is gone, and proves it with ids', async () => {
    const { platform, bound, binding, options, land } = await scene();
    const proof = await platform.unbind(bound, options);
    expect(proof).toMatchObject({ outcome: 'done', evidence: { binding: binding.guid } });
    expect(String(proof.evidence['auditEvents'])).toContain('audit.service_binding.delete');
    expect(land.bindings).toEqual([]);
  });

  test('of a missing binding is already done, and nothing is sent', async () => {
    const { platform, bound, options, land, did } = await scene();
    land.bindings = [];
    expect(await platform.unbind(bound, options)).toMatchObject({ outcome: 'already' });
    expect(did()).toEqual([]);
  });

  test.each([
    ['that runs', {}, false],
    ['that is stopped, and is not staged again', { state: 'STOPPED' as const }, true],
  ])('of an application %s whose package has expired is checked beforehand', async (_, app, isUnbound) => {
    const { platform, bound, options, land, faults, did } = await scene({ app });
    const none = { pagination: { total_pages: 1, next: null }, resources: [] };
    faults.push({ call: /^GET .*packages/u, how: { answer: { status: 200, json: none } } });
    if (isUnbound) {
      expect(await platform.unbind(bound, options)).toMatchObject({ outcome: 'done' });
      return;
    }
    const failure = failureOf(await rejection(platform.unbind(bound, options)));
    expect(failure).toMatchObject({
      code: 'platform.failed',
      shortMessage: expect.stringContaining('no package to stage for orders-api: it has expired'),
      hints: expect.arrayContaining([expect.stringContaining('nothing was unbound')]),
    });
    expect(did()).toEqual([]);
    expect(land.bindings).toHaveLength(1);
  });

  test('is not needed for an application without a binding', async () => {
    const { platform, bound, options } = await scene();
    const { binding, ...free } = bound;
    expect(binding).toBeDefined();
    expect(await platform.unbind(free, options)).toMatchObject({ outcome: 'not-needed' });
  });

  test('that the broker fails is reported in its words, cleaned, and can be tried again', async () => {
    const { platform, bound, options, faults } = await scene();
    faults.push({ call: DELETE, how: { fails: 'role owns objects \u001b[31mred\u202e' } });
    const failure = failureOf(await rejection(platform.unbind(bound, options)));
    expect(failure).toMatchObject({ code: 'platform.failed' });
    expect(failure.shortMessage).toContain('role owns objects \ufffd[31mred\ufffd');
    expect(await platform.unbind(bound, options)).toMatchObject({ outcome: 'done' });
  });

  test('that is in progress is awaited and not requested again', async () => {
    const { platform, bound, binding, options, land, faults, did } = await scene();
    binding.operation = { type: 'delete', state: 'in progress', description: '' };
    atThirdLook({ faults }, () => {
      land.bindings = [];
    });
    expect(await platform.unbind(bound, options)).toMatchObject({ outcome: 'done' });
    expect(did()).toEqual([]);
  });
});

describe('binding', () => {
  test('gives name, parameters and label, and proves it', async () => {
    const world = await scene({ binding: { name: 'db' } });
    world.land.bindings = [];
    const proof = await world.platform.bind(world.bound, world.to, bindOptions(world));
    const [made] = world.land.bindings as [Binding];
    expect(made).toMatchObject({
      name: 'db',
      parameters: PARAMETERS,
      labels: { 'lifeboat.run': RUN },
    });
    expect(proof).toMatchObject({
      outcome: 'done',
      at: stamp(made.createdAt),
      evidence: { binding: made.guid, app: world.app.guid },
    });
    expect(JSON.stringify(proof)).not.toContain('hunter2');
  });

  test('does not accept the old binding as its result', async () => {
    const world = await scene();
    const failure = failureOf(
      await rejection(world.platform.bind(world.bound, world.to, bindOptions(world))),
    );
    expect(failure.code).toBe('platform.bound');
    expect(world.did()).toEqual([]);
  });

  test('does not add a second binding beside the old one unless requested, even where the platform would allow it', async () => {
    const world = await scene({ capi: { maxBindings: 3 } });
    const failure = failureOf(
      await rejection(world.platform.bind(world.bound, world.to, bindOptions(world))),
    );
    expect(failure.code).toBe('platform.bound');
    expect(world.did()).toEqual([]);
  });

  test('is already done when this run has bound it before', async () => {
    const world = await scene();
    world.land.bindings = [];
    await world.platform.bind(world.bound, world.to, bindOptions(world));
    const again = await world.platform.bind(world.bound, world.to, bindOptions(world));
    expect(again.outcome).toBe('already');
    expect(world.did()).toEqual(['POST /v3/service_credential_bindings']);
  });

  test('accepts a binding that another person has made after the restore, and says so', async () => {
    const world = await scene({ binding: { createdAt: Date.now() } });
    const proof = await world.platform.bind(world.bound, world.to, bindOptions(world));
    expect(proof).toMatchObject({ outcome: 'already', evidence: { binding: world.binding.guid } });
    expect(proof.text).toContain('by somebody else');
  });

  test('waits for a binding that is in progress', async () => {
    const operation = { type: 'create' as const, state: 'in progress' as const, description: '' };
    const world = await scene({ binding: { createdAt: Date.now(), operation } });
    atThirdLook(world, () => {
      world.binding.operation = { ...operation, state: 'succeeded' };
    });
    expect(await world.platform.bind(world.bound, world.to, bindOptions(world))).toMatchObject({
      outcome: 'already',
    });
    expect(world.did()).toEqual([]);
  });

  test('beside the old one works where the platform allows two', async () => {
    const world = await scene({ capi: { maxBindings: 2 } });
    const proof = await world.platform.bind(world.bound, world.to, { ...bindOptions(world), beside: true });
    expect(proof.outcome).toBe('done');
    expect(world.land.bindings).toHaveLength(2);
    expect(JSON.stringify(world.capi.wishes)).toContain('"strategy":"multiple"');
  });

  test.for([
    { max: 1, words: 'already bound' },
    { max: 0, words: 'too many bindings' },
  ])(
    'beside the old one says that the old one has to go first where it may not ($words)',
    async ({ max }) => {
      const world = await scene({ capi: { maxBindings: max } });
      const beside = { ...bindOptions(world), beside: true };
      const failure = failureOf(await rejection(world.platform.bind(world.bound, world.to, beside)));
      expect(failure.code).toBe('platform.bound');
    },
  );

  test('that the broker refuses gives the reason, without the secrets that it quotes, and can be tried again', async () => {
    const world = await scene();
    world.land.bindings = [];
    world.faults.push({ call: POST, how: { fails: 'no role for password hunter2-hunter2' } });
    const bind = () => world.platform.bind(world.bound, world.to, bindOptions(world));
    const failure = failureOf(await rejection(bind()));
    expect(failure.shortMessage).toContain('no role for password [secret]');
    expect(JSON.stringify(failure)).not.toContain('hunter2');
    expect(await bind()).toMatchObject({ outcome: 'done' });
  });

  test('of an application in another space is refused in the words of the platform', async () => {
    const world = await scene();
    world.land.bindings = [];
    const words = 'The service instance and the app are in different spaces';
    world.faults.push({ call: POST, how: problem(422, words) });
    const failure = failureOf(
      await rejection(world.platform.bind(world.bound, world.to, bindOptions(world))),
    );
    expect(failure).toMatchObject({ code: 'platform.refused', evidence: { words } });
  });
});

describe('a service key whose name is already taken when it is created', () => {
  const TAKEN = problem(422, 'Key binding names must be unique.');
  const late = ({ capi, faults, land, instance }: Scene, createdAt: number) =>
    faults.push({
      call: POST,
      how: () => {
        const operation = { type: 'create' as const, state: 'in progress' as const, description: '' };
        const made = land.addBinding({ instance, name: 'ops', createdAt, operation });
        capi.later(() => {
          made.operation = { ...operation, state: 'succeeded' };
        });
        return TAKEN;
      },
    });

  test('is awaited and accepted: an earlier attempt has arrived in the meantime', async () => {
    const world = await scene();
    late(world, Date.now());
    expect(await world.platform.renewKey({ name: 'ops' }, world.to, world.options)).toMatchObject({
      outcome: 'already',
    });
    expect(world.did()).toEqual([]);
  });

  test('is not accepted when it is older than the restore', async () => {
    const world = await scene();
    late(world, Date.parse('2020-01-01T00:00:00Z'));
    const failed = rejection(world.platform.renewKey({ name: 'ops' }, world.to, world.options));
    expect(failureOf(await failed).code).toBe('platform.refused');
  });
});

describe.for(['reset-before', 'reset-after', 'gateway-after'] as const)('an answer lost by %s', (how) => {
  const twice = async (verb: () => Promise<unknown>) => {
    // What was done in spite of the lost answer is found in the same attempt; what was not is left for the
    // next.
    if (how === 'reset-before') expect(failureOf(await rejection(verb())).code).toBe('platform.unreachable');
    else expect(await verb()).toMatchObject({ outcome: 'done' });
    return verb();
  };
  const lose = (world: Scene, call: RegExp) => void world.faults.push({ call, how: LOST[how] });

  test('to an unbinding: doing it again removes it once', async () => {
    const world = await scene();
    lose(world, DELETE);
    await twice(() => world.platform.unbind(world.bound, world.options));
    expect(world.faults).toEqual([]);
    expect(world.did()).toEqual(['DELETE /v3/service_credential_bindings/:guid']);
    expect(world.land.bindings).toEqual([]);
  });

  test.for([false, true])('to a binding (beside: %s): doing it again binds once', async (beside) => {
    const world = await scene({ capi: { maxBindings: beside ? 3 : 1 } });
    if (!beside) world.land.bindings = [];
    lose(world, POST);
    await twice(() => world.platform.bind(world.bound, world.to, { ...bindOptions(world), beside }));
    expect(world.faults).toEqual([]);
    expect(world.did()).toEqual(['POST /v3/service_credential_bindings']);
  });

  test('to a service key: doing it again makes one', async () => {
    const world = await scene();
    world.land.addBinding({ instance: world.instance, name: 'ops' });
    lose(world, POST);
    await twice(() => world.platform.renewKey({ name: 'ops' }, world.to, world.options));
    expect(world.did()).toEqual([
      'DELETE /v3/service_credential_bindings/:guid',
      'POST /v3/service_credential_bindings',
    ]);
    lose(world, DELETE);
    expect(await world.platform.renewKey({ name: 'ops' }, world.to, world.options)).toMatchObject({
      outcome: 'already',
    });
  });
});
