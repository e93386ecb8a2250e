import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { z } from 'zod';
import { Duration, Offset } from '../../base/duration.ts';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { LabInstance } from '../instance.ts';
import type { LabState } from '../lab-state.ts';
import { parseScenario } from '../scenarios/load-scenario.ts';
import { playScenario, scenarioOf } from '../scenarios/play-scenario.ts';
import { SCENARIOS, scenarioNamed } from '../scenarios/scenarios.ts';
import { authorise, type LabContext } from './authorise.ts';
import { createBinding, deleteBinding, listBindings } from './bindings.ts';
import { parseOrRefuse, Refusal, refusalBody } from './endpoint.ts';
import { readJson } from './read-json.ts';

/**
 * The lab's own face, for another process: what it is, what the service did, what is to go wrong.
 *
 * | route                                    | body                                    | answer
 * |
 * |------------------------------------------|-----------------------------------------|----------------------------------|
 * | GET /lab                                 |                                         | what runs, and what
 * goes wrong |
 * | GET /lab/calls                           |                                         | mutating calls
 * carried out |
 * | GET /lab/faults                          |                                         | `{faults}` that are
 * still open |
 * | POST /lab/faults                         | a fault                                 | `{faults}`
 * |
 * | DELETE /lab/faults                       |                                         | `{faults: []}`; held
 * tasks go on |
 * | GET /lab/scenario                        |                                         | `{playing,
 * scenarios}` |
 * | POST /lab/scenario                       | `{name}`, or a whole scenario           | `{playing,
 * scenarios}` |
 * | POST /lab/instances/:name/disaster       | `{lost: true}` or `{lost: false}`       | `{name, lost, state}`
 * |
 * | DELETE /lab/instances/:name              |                                         | `{name, state}`: it
 * is deleted |
 * | GET /lab/instances/:name/bindings        |                                         | bindings without
 * passwords |
 * | POST /lab/instances/:name/bindings       | `{app}`                                 | the binding, and its
 * credentials |
 * | DELETE /lab/instances/:name/bindings/:id |                                         | `{id}`
 * |
 * | GET /lab/apps                            |                                         | `{apps}`: the sample
 * applications |
 * | GET /lab/clock                           |                                         | `{now, rate, skewMs,
 * aheadMs}` |
 * | POST /lab/clock                          | `advance`, `rate`, `skew`: one or more  | the same
 * |
 * | GET /lab/settings                        |                                         | `{routerMs,
 * updateBlocking}` |
 * | POST /lab/settings                       | `router`, `updateBlocking`: one or both | the same
 * |
 * | POST /lab/tokens                         | `{expire}`: whether the old ones end    | `{file}`: holds the
 * new one |
 *
 * GET takes any token of the lab, the others the full one. Durations are texts: `30d`, `1h30m`; `skew` may
 * begin with `-`. `router` is when the platform's router ends a request to the service or the platform, and
 * no call of these routes. `:name` is a name or a guid. Of a deleted instance the service still tells all,
 * and changes nothing. Errors have the body of V1: 401, 403, 404 for an unknown instance or binding, 422 with
 * what is wrong with the body, 502 for a binding while the server is down.
 */
export function labRoutes(state: LabState): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  for (const { method, path, work } of routesOf(state)) {
    app.on(method, path, async (context) => {
      try {
        authorise(context, state, method === 'GET' ? 'read' : 'write');
        const body = method === 'POST' ? await readJson(context.env.incoming) : undefined;
        return context.json(await work(body, context));
      } catch (error) {
        const refusal = refusalOf(error);
        return context.json(refusalBody(refusal, 'v1'), refusal.status as 422);
      }
    });
  }
  return app;
}

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  work(body: unknown, context: LabContext): unknown;
}

function routesOf(state: LabState): readonly Route[] {
  const openFaults = () => ({ faults: state.faults.open });
  const scenarios = () => ({
    playing: scenarioOf(state) ?? null,
    scenarios: SCENARIOS.map(({ name, summary }) => ({ name, summary })),
  });
  return [
    { method: 'GET', path: '/', work: () => describe(state) },
    { method: 'GET', path: '/calls', work: () => state.calls },
    { method: 'GET', path: '/faults', work: openFaults },
    {
      method: 'POST',
      path: '/faults',
      work: (body) => {
        state.fault(body);
        return openFaults();
      },
    },
    {
      method: 'DELETE',
      path: '/faults',
      work: () => {
        state.clearFaults();
        return openFaults();
      },
    },
    { method: 'GET', path: '/scenario', work: scenarios },
    {
      method: 'POST',
      path: '/scenario',
      work: (body) => {
        const named = NamedScenario.safeParse(body);
        const scenario = named.success ? scenarioNamed(named.data.name) : parseScenario(body, 'in the body');
        playScenario(scenario, state, state.closing);
        return scenarios();
      },
    },
    {
      method: 'POST',
      path: '/instances/:name/disaster',
      work: async (body, context) => {
        const instance = instanceOf(state, context);
        const { lost } = parseOrRefuse(Disaster, body);
        await (lost ? instance.lose() : instance.bringBack());
        return { name: instance.name, lost: instance.lost, state: stateOf(instance) };
      },
    },
    {
      method: 'DELETE',
      path: '/instances/:name',
      work: async (_, context) => {
        const instance = instanceOf(state, context);
        await instance.delete();
        return { name: instance.name, state: instance.state };
      },
    },
    { method: 'GET', path: '/apps', work: () => ({ apps: state.platform?.appStates() ?? [] }) },
    { method: 'GET', path: '/clock', work: () => state.clock.facts() },
    {
      method: 'POST',
      path: '/clock',
      work: (body) => {
        const { advance, rate, skew } = parseOrRefuse(ClockChange, body);
        if (advance !== undefined) state.clock.advance(advance);
        if (rate !== undefined) state.clock.rate(rate);
        if (skew !== undefined) state.clock.skew(skew);
        return state.clock.facts();
      },
    },
    { method: 'GET', path: '/settings', work: () => state.settings },
    {
      method: 'POST',
      path: '/settings',
      work: (body) => {
        const { router, updateBlocking } = parseOrRefuse(SettingsChange, body);
        if (router !== undefined) state.settings.routerMs = router;
        if (updateBlocking !== undefined) state.setUpdateBlocking(updateBlocking);
        return state.settings;
      },
    },
    {
      method: 'POST',
      path: '/tokens',
      work: async (body) => {
        if (parseOrRefuse(Renewal, body).expire) state.tokens.expire();
        await state.tokens.renew();
        return { file: state.tokens.file };
      },
    },
    ...bindingRoutes(state),
  ];
}

function bindingRoutes(state: LabState): readonly Route[] {
  const path = '/instances/:name/bindings';
  return [
    { method: 'GET', path, work: (_, context) => listBindings(instanceOf(state, context)) },
    { method: 'POST', path, work: (body, context) => createBinding(instanceOf(state, context), body) },
    {
      method: 'DELETE',
      path: `${path}/:id`,
      work: (_, context) => deleteBinding(instanceOf(state, context), context.req.param('id') ?? ''),
    },
  ];
}

/** A year in five minutes. */
const FASTEST = 100_000;
const FURTHEST = 3650 * 86_400_000;

const NamedScenario = z.strictObject({ name: z.string() });
const Disaster = z.strictObject({ lost: z.boolean() });
const Renewal = z.strictObject({ expire: z.boolean() });
const ClockChange = z
  .strictObject({
    advance: Duration.optional(),
    rate: z.number().min(1).max(FASTEST).optional(),
    skew: Offset.refine((ms) => Math.abs(ms) <= FURTHEST, 'must be 3650d or less').optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'give advance, rate or skew');

const SettingsChange = z
  .strictObject({
    router: Duration.refine((ms) => ms > 0, 'must be 1ms or more').optional(),
    updateBlocking: z.boolean().optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'give router or updateBlocking');

function instanceOf(state: LabState, context: LabContext): LabInstance {
  const name = context.req.param('name') ?? '';
  const instance = state.instanceNamed(name);
  if (instance === undefined) {
    throw new Refusal(404, 'instanceNotFound', `there is no instance ${show(name)}`);
  }
  return instance;
}

/** What the lab itself refuses is the caller's mistake; anything else is not. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof RangeError) return new Refusal(422, 'invalidClock', error.message);
  if (!(error instanceof LifeboatError)) throw error;
  const word = { 'lab.fault': 'invalidFault', 'lab.scenario': 'invalidScenario' }[error.code];
  if (word === undefined) throw error;
  return new Refusal(422, word, error.shortMessage);
}

function describe(state: LabState) {
  return {
    status: 'ready',
    engine: state.engine,
    revision: state.revision,
    scenario: scenarioOf(state) ?? null,
    faults: state.faults.open,
    instances: state.instances.map((instance) => ({
      name: instance.name,
      guid: instance.guid,
      state: stateOf(instance),
      pid: instance.data.pid,
      backups: instance.backups.length,
    })),
  };
}

function stateOf({ lost, deleted, data }: LabInstance): 'lost' | 'deleted' | 'running' | 'stopped' {
  if (lost) return 'lost';
  if (deleted) return 'deleted';
  return data.running ? 'running' : 'stopped';
}
