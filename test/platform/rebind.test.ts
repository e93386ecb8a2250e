import { describe, expect, test } from 'vitest';
import { failureOf } from '../../src/base/errors.ts';
import { rejection } from '../service/serve.ts';
import { problem } from './capi-changes.ts';
import { type ModelBinding, stamp } from './capi-model.ts';
import type { Fault } from './capi-server.ts';
import { RUN, type Scene, scene } from './world.ts';

const PARAMETERS = { role: 'writer', password: 'hunter2-hunter2' };
const bindOptions = ({ options }: Scene) => ({ ...options, parameters: PARAMETERS, beside: false });
const POST = /^POST .*bindings/u;
const DELETE = /^DELETE /u;

describe('unbinding', () => {
  test('removes the binding, waits until it is gone, and proves it with ids', async () => {
    const { capi, platform, bound, binding, options } = await scene();
    const proof = await platform.unbind(bound, options);
    expect(proof).toMatchObject({ outcome: 'done', evidence: { binding: binding.guid } });
    expect(String(proof.evidence['auditEvents'])).toContain('audit.service_binding.delete');
    expect(capi.model.bindings).toEqual([]);
  });

  test('of a binding that is gone is done already, and nothing is sent', async () => {
    const { capi, platform, bound, options } = await scene();
    capi.model.bindings = [];
    expect(await platform.unbind(bound, options)).toMatchObject({ outcome: 'already' });
    expect(capi.model.ledger).toEqual([]);
  });

  test('of an application without a binding is not needed', async () => {
    const { platform, bound, options } = await scene();
    const { binding, ...free } = bound;
    expect(binding).toBeDefined();
    expect(await platform.unbind(free, options)).toMatchObject({ outcome: 'not-needed' });
  });

  test('that the broker fails says so in its words, cleaned, and can be tried again', async () => {
    const { capi, platform, bound, options } = await scene();
    capi.model.nextJobFails = 'role owns objects \u001b[31mred\u202e';
    const failure = failureOf(await rejection(platform.unbind(bound, options)));
    expect(failure).toMatchObject({ code: 'platform.failed' });
    expect(failure.shortMessage).toContain('role owns objects \ufffd[31mred\ufffd');
    expect(await platform.unbind(bound, options)).toMatchObject({ outcome: 'done' });
  });

  test('that is under way is waited for and not asked for again', async () => {
    const { capi, platform, bound, binding, options } = await scene();
    binding.operation = { type: 'delete', state: 'in progress', description: '' };
    capi.model.job(() => {
      capi.model.bindings = [];
    });
    expect(await platform.unbind(bound, options)).toMatchObject({ outcome: 'done' });
    expect(capi.model.ledger).toEqual([]);
  });
});

describe('binding', () => {
  test('gives name, parameters and label, and proves it', async () => {
    const world = await scene({ binding: { name: 'db' } });
    world.capi.model.bindings = [];
    const proof = await world.platform.bind(world.bound, world.to, bindOptions(world));
    const [made] = world.capi.model.bindings as [ModelBinding];
    expect(made).toMatchObject({
      name: 'db',
      parameters: PARAMETERS,
      metadata: { labels: { 'lifeboat.run': RUN } },
    });
    expect(proof).toMatchObject({
      outcome: 'done',
      at: made.created_at,
      evidence: { binding: made.guid, app: world.app.guid },
    });
    expect(JSON.stringify(proof)).not.toContain('hunter2');
  });

  test('is never content with the old binding', async () => {
    const world = await scene();
    const failure = failureOf(
      await rejection(world.platform.bind(world.bound, world.to, bindOptions(world))),
    );
    expect(failure.code).toBe('platform.bound');
    expect(world.capi.model.ledger).toEqual([]);
  });

  test('does not slip in beside the old binding unless it was asked to, even where the platform would let it', async () => {
    const world = await scene();
    world.capi.model.maxBindings = 3;
    const failure = failureOf(
      await rejection(world.platform.bind(world.bound, world.to, bindOptions(world))),
    );
    expect(failure.code).toBe('platform.bound');
    expect(world.capi.model.ledger).toEqual([]);
  });

  test('is done already when this run has bound it before', async () => {
    const world = await scene();
    world.capi.model.bindings = [];
    await world.platform.bind(world.bound, world.to, bindOptions(world));
    const again = await world.platform.bind(world.bound, world.to, bindOptions(world));
    expect(again.outcome).toBe('already');
    expect(world.capi.model.ledger).toEqual(['service_binding.create']);
  });

  test('takes a binding that somebody else has made after the restore, and says so', async () => {
    const world = await scene({ binding: { created_at: stamp() } });
    const proof = await world.platform.bind(world.bound, world.to, bindOptions(world));
    expect(proof).toMatchObject({ outcome: 'already', evidence: { binding: world.binding.guid } });
    expect(proof.text).toContain('by somebody else');
  });

  test('waits for a binding that is in progress', async () => {
    const operation = { type: 'create' as const, state: 'in progress' as const, description: '' };
    const world = await scene({ binding: { created_at: stamp(), operation } });
    world.capi.model.job(() => {
      world.binding.operation = { ...operation, state: 'succeeded' };
    });
    expect(await world.platform.bind(world.bound, world.to, bindOptions(world))).toMatchObject({
      outcome: 'already',
    });
    expect(world.capi.model.ledger).toEqual([]);
  });

  test('beside the old one works where the platform allows two', async () => {
    const world = await scene();
    world.capi.model.maxBindings = 2;
    const proof = await world.platform.bind(world.bound, world.to, { ...bindOptions(world), beside: true });
    expect(proof.outcome).toBe('done');
    expect(world.capi.model.bindings).toHaveLength(2);
    expect(world.capi.bodies.join()).toContain('"strategy":"multiple"');
  });

  test.for([
    { max: 1, words: 'already bound' },
    { max: 0, words: 'too many bindings' },
  ])(
    'beside the old one says that the old one has to go first where it may not ($words)',
    async ({ max }) => {
      const world = await scene();
      world.capi.model.maxBindings = max;
      const beside = { ...bindOptions(world), beside: true };
      const failure = failureOf(await rejection(world.platform.bind(world.bound, world.to, beside)));
      expect(failure.code).toBe('platform.bound');
    },
  );

  test('that the broker refuses says why, without the secrets that it quotes, and can be tried again', async () => {
    const world = await scene();
    world.capi.model.bindings = [];
    world.capi.model.nextJobFails = 'no role for password hunter2-hunter2';
    const bind = () => world.platform.bind(world.bound, world.to, bindOptions(world));
    const failure = failureOf(await rejection(bind()));
    expect(failure.shortMessage).toContain('no role for password [secret]');
    expect(JSON.stringify(failure)).not.toContain('hunter2');
    expect(await bind()).toMatchObject({ outcome: 'done' });
  });

  test('of an application in another space says the platform’s own words', async () => {
    const world = await scene();
    world.capi.model.bindings = [];
    const words = 'The service instance and the app are in different spaces';
    world.capi.faults.push({ call: POST, how: problem(422, words) });
    const failure = failureOf(
      await rejection(world.platform.bind(world.bound, world.to, bindOptions(world))),
    );
    expect(failure).toMatchObject({ code: 'platform.refused', evidence: { words } });
  });
});

describe('a service key whose name is taken by the time it is made', () => {
  const TAKEN = problem(422, 'Key binding names must be unique.');
  const late = (world: Scene, created_at: string) =>
    world.capi.faults.push({
      call: POST,
      how: (model) => {
        const operation = { type: 'create' as const, state: 'in progress' as const, description: '' };
        const made = model.addBinding(undefined, world.to.guid, { name: 'ops', created_at, operation });
        model.job(() => {
          made.operation = { ...operation, state: 'succeeded' };
        });
        return TAKEN;
      },
    });

  test('is waited for and taken: what an earlier attempt sent has arrived meanwhile', async () => {
    const world = await scene();
    late(world, stamp());
    expect(await world.platform.renewKey({ name: 'ops' }, world.to, world.options)).toMatchObject({
      outcome: 'already',
    });
    expect(world.capi.model.ledger).toEqual([]);
  });

  test('is not taken when it is older than the restore', async () => {
    const world = await scene();
    late(world, '2020-01-01T00:00:00Z');
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
  const lose = (world: Scene, call: RegExp) => {
    const fault: Fault = { call, how };
    world.capi.faults.push(fault);
  };

  test('to an unbinding: doing it again removes it once', async () => {
    const world = await scene();
    lose(world, DELETE);
    await twice(() => world.platform.unbind(world.bound, world.options));
    expect(world.capi.faults).toEqual([]);
    expect(world.capi.model.ledger).toEqual(['service_binding.delete']);
    expect(world.capi.model.bindings).toEqual([]);
  });

  test.for([false, true])('to a binding (beside: %s): doing it again binds once', async (beside) => {
    const world = await scene();
    world.capi.model.maxBindings = beside ? 3 : 1;
    if (!beside) world.capi.model.bindings = [];
    lose(world, POST);
    await twice(() => world.platform.bind(world.bound, world.to, { ...bindOptions(world), beside }));
    expect(world.capi.faults).toEqual([]);
    expect(world.capi.model.ledger).toEqual(['service_binding.create']);
  });

  test('to a service key: doing it again makes one', async () => {
    const world = await scene();
    world.capi.model.addBinding(undefined, world.to.guid, { name: 'ops' });
    lose(world, POST);
    await twice(() => world.platform.renewKey({ name: 'ops' }, world.to, world.options));
    expect(world.capi.model.ledger).toEqual(['service_key.delete', 'service_key.create']);
    lose(world, DELETE);
    expect(await world.platform.renewKey({ name: 'ops' }, world.to, world.options)).toMatchObject({
      outcome: 'already',
    });
  });
});
