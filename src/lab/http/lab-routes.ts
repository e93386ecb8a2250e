import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import * as z from 'zod';
import { Duration, Limit, Offset } from '../../base/duration.ts';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { LabInstance } from '../instance.ts';
import type { LabState } from '../lab-state.ts';
import { DOWNLOAD_RULES } from '../manager/instance-backups.ts';
import { playScenario, scenarioOf } from '../scenarios/play-scenario.ts';
import { parseScenario, SCENARIOS, scenarioNamed } from '../scenarios/scenario.ts';
import { createBinding, deleteBinding, listBindings } from './bindings.ts';
import { parseOrRefuse, Refusal, refusalBody } from './endpoint.ts';
import { authorise, type LabContext, readJson } from './request.ts';

/**
 * The lab's own routes, for another process: what it is, what the service did, what shall go wrong. GET takes
 * any token of the lab, the others the full one. Durations are texts: `30d`, `1h30m`; `skew` may begin with
 * `-`. `router` is when the platform's router ends a request to the service or the platform, not to these
 * routes. `:name` is a name or a GUID. A deleted instance can be read, but not changed. Errors have V1's
 * body: 401, 403, 404 for an unknown instance or binding, 422 with what is wrong with the body, 502 for a
 * binding while the server is down.
 */
export function labRoutes(state: LabState): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  for (const [method, path, work] of routesOf(state)) {
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

type Route = readonly [
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  work: (body: unknown, context: LabContext) => unknown,
];

/** Below `/lab`. The schemas below describe what a POST takes. */
function routesOf(state: LabState): readonly Route[] {
  const openFaults = () => ({ faults: state.faults.open });
  const scenarios = () => ({
    playing: scenarioOf(state) ?? null,
    scenarios: SCENARIOS.map(({ name, summary }) => ({ name, summary })),
  });
  const bindings = '/instances/:name/bindings';
  return [
    ['GET', '/', () => describe(state)],
    ['GET', '/calls', () => state.calls.latest],
    ['GET', '/counts', (_, context) => countsOf(state, context.req.query('instance'))],
    ['GET', '/faults', openFaults],
    [
      'POST',
      '/faults',
      (fault) => {
        state.faults.add(fault);
        return openFaults();
      },
    ],
    [
      'DELETE',
      '/faults',
      () => {
        state.clearFaults();
        return openFaults();
      },
    ],
    ['GET', '/scenario', scenarios],
    [
      'POST',
      '/scenario',
      (body) => {
        const named = NamedScenario.safeParse(body);
        const scenario = named.success ? scenarioNamed(named.data.name) : parseScenario(body, 'in the body');
        playScenario(scenario, state, state.closing);
        return scenarios();
      },
    ],
    [
      'POST',
      '/instances/:name/disaster',
      async (body, context) => {
        const instance = instanceOf(state, context);
        const { lost } = parseOrRefuse(Disaster, body);
        await (lost ? instance.lose() : instance.bringBack());
        return { name: instance.name, lost: instance.lost, state: stateOf(instance) };
      },
    ],
    [
      'DELETE',
      '/instances/:name',
      async (_, context) => {
        const instance = instanceOf(state, context);
        await instance.delete();
        return { name: instance.name, state: instance.state };
      },
    ],
    ['GET', bindings, (_, context) => listBindings(instanceOf(state, context))],
    ['POST', bindings, (body, context) => createBinding(instanceOf(state, context), body)],
    [
      'DELETE',
      `${bindings}/:id`,
      (_, context) => deleteBinding(instanceOf(state, context), context.req.param('id') ?? ''),
    ],
    ['GET', '/apps', () => ({ apps: state.platform?.appStates() ?? [] })],
    ['GET', '/clock', () => state.clock.facts()],
    [
      'POST',
      '/clock',
      (body) => {
        const { advance, rate, skew } = parseOrRefuse(ClockChange, body);
        if (advance !== undefined) state.clock.advance(advance);
        if (rate !== undefined) state.clock.rate(rate);
        if (skew !== undefined) state.clock.skew(skew);
        return state.clock.facts();
      },
    ],
    ['GET', '/settings', () => state.settings],
    [
      'POST',
      '/settings',
      (body) => {
        const { router, updateBlocking, downloads } = parseOrRefuse(SettingsChange, body);
        if (router !== undefined) state.settings.routerMs = router;
        if (updateBlocking !== undefined) state.setUpdateBlocking(updateBlocking);
        if (downloads !== undefined) state.settings.downloads = downloads;
        return state.settings;
      },
    ],
    [
      'POST',
      '/tokens',
      async (body) => {
        // Whether the earlier ones end.
        if (parseOrRefuse(Renewal, body).expire) state.tokens.expire();
        await state.tokens.renew();
        return { file: state.tokens.file };
      },
    ],
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
    router: Limit.optional(),
    updateBlocking: z.boolean().optional(),
    downloads: z.enum(DOWNLOAD_RULES).optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'give router, updateBlocking or downloads');

function instanceOf(state: LabState, context: LabContext): LabInstance {
  const name = context.req.param('name') ?? '';
  const instance = state.instanceNamed(name);
  if (instance === undefined) {
    throw new Refusal(404, 'instanceNotFound', `there is no instance ${show(name)}`);
  }
  return instance;
}

/** Refusals of the lab itself are the caller's mistake; other errors are not. */
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
    simulated: state.isSimulated,
    revision: state.revision,
    scenario: scenarioOf(state) ?? null,
    faults: state.faults.open,
    instances: state.instances.map((instance) => ({
      name: instance.name,
      guid: instance.guid,
      state: stateOf(instance),
      pid: instance.data.pid,
      backups: instance.backups.all.length,
    })),
  };
}

/** How often each change was carried out, of all instances or of one, and how many calls the faults hit. */
function countsOf(state: LabState, name: string | undefined) {
  const { calls, faults } = state;
  if (name === undefined) return { total: calls.total, faults: faults.struck, instances: calls.counts };
  const instance = state.instanceNamed(name);
  if (instance === undefined) {
    throw new Refusal(404, 'instanceNotFound', `there is no instance ${show(name)}`);
  }
  return { instances: { [instance.name]: calls.countsOf(instance.name) } };
}

function stateOf({ lost, deleted, data }: LabInstance): 'lost' | 'deleted' | 'running' | 'stopped' {
  if (lost) return 'lost';
  if (deleted) return 'deleted';
  return data.running ? 'running' : 'stopped';
}
