import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { LifeboatError } from '../../base/errors.ts';
import {
  type Effect,
  effectOf,
  redirectReply,
  routerWithoutBackend,
  type StrangeReply,
  saying,
  strangeReply,
} from '../faults.ts';
import type { LabInstance } from '../instance.ts';
import type { LabState } from '../lab-state.ts';
import { answer, type Delivery, drop, garble, withinLimit } from './answer.ts';
import { type Endpoint, type ErrorStyle, jsonReply, Refusal, type Reply, refusalBody } from './endpoint.ts';
import { labRoutes } from './lab-routes.ts';
import { foreignPartOf } from './own-address.ts';
import { authorise, type LabContext, readJson, requestOf } from './request.ts';
import { extraRoutes } from './sso.ts';

/** The service's HTTP server, on 127.0.0.1 only, called by that name or `localhost`; 503 until `serve`. */
interface HttpService {
  readonly origin: string;
  serve(state: LabState, endpoints: readonly Endpoint[]): void;
  /** Ends every connection, also in the middle of an answer. */
  close(): Promise<void>;
}

/** In every answer of a simulated lab: `simulated`. */
const LABEL = 'lifeboat-lab';

/** For idle connections: clients keep theirs up to a minute; closing earlier resets arriving requests. */
const IDLE_MS = 75_000;

/** Starts listening; port 0 takes any free one. Rejects with `lab.port` when the port is taken. */
export async function openHttp(port: number): Promise<HttpService> {
  let app = new Hono<{ Bindings: HttpBindings }>();
  app.all('*', (context) => context.json({ error: 'starting', description: 'the lab is starting' }, 503));
  let now = () => new Date();
  let label: string | undefined;
  let routerMs: () => number | undefined = () => undefined;
  const answerOne = (request: Request, env: HttpBindings) => {
    const limit = isExternal(env) ? routerMs() : undefined;
    const answered = app.fetch(request, env);
    return limit === undefined ? answered : withinLimit(limit, env, answered);
  };
  const server = createAdaptorServer({
    fetch: (request, env) => refuseForeign(env as HttpBindings) ?? answerOne(request, env as HttpBindings),
    // For HTTP/1.0, which names no host.
    hostname: '127.0.0.1',
    // Otherwise the adapter replaces the global Request and Response of the whole process.
    overrideGlobalObjects: false,
    serverOptions: { keepAliveTimeout: IDLE_MS },
  }) as Server;
  // Every answer carries the service's time, which the lab sets, and whether there is nothing behind it.
  server.prependListener('request', (_, outgoing) => {
    outgoing.setHeader('date', now().toUTCString());
    if (label !== undefined) outgoing.setHeader(LABEL, label);
  });
  await listen(server, port);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (state, endpoints) => {
      now = () => state.clock.now();
      label = state.isSimulated ? 'simulated' : undefined;
      routerMs = () => state.settings.routerMs;
      app = router(state, endpoints);
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Whether a request passes the platform's router; requests to the lab's own routes do not. */
function isExternal({ incoming }: HttpBindings): boolean {
  return !/^\/lab(?:[/?]|$)/u.test(incoming.url ?? '');
}

/** The answer to what a foreign web page sends, or what is meant for another host; else undefined. */
function refuseForeign({ incoming }: HttpBindings): Response | undefined {
  const foreign = foreignPartOf(incoming);
  if (foreign === undefined) return undefined;
  const refusal =
    foreign === 'host'
      ? new Refusal(421, 'foreignHost', 'the lab answers only as 127.0.0.1 and localhost, at its own port')
      : new Refusal(403, 'foreignOrigin', 'the lab does not answer a web page of another address');
  return Response.json(refusalBody(refusal, styleAt(incoming.url ?? '/')), { status: refusal.status });
}

function router(state: LabState, endpoints: readonly Endpoint[]): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  for (const base of new Set(endpoints.map((endpoint) => endpoint.base))) {
    app.use(`${base}/:instance_id/*`, async (context, next) => {
      // Before the token is checked: an unreachable instance knows neither tokens nor endpoints.
      if (instanceAt(context, state)?.lost === true) return await routerAnswers(context, state);
      return await next();
    });
  }
  app.route('/', extraRoutes(state));
  for (const endpoint of endpoints) {
    app.on(endpoint.method, pathOf(endpoint), (context) => handle(context, endpoint, state));
  }
  app.route('/lab', labRoutes(state));
  // Last: a path with a parameter must not hide the methods of a path without.
  for (const [path, all] of Map.groupBy(endpoints, pathOf)) {
    const allow = [...new Set(all.map(({ method }) => method))].join(', ');
    app.all(path, (context) => {
      const refusal = new Refusal(405, 'methodNotAllowed', `this endpoint has only ${allow}`);
      return refuseCaller(context, state, refusal, { style: all[0]?.errors ?? 'v1', headers: { allow } });
    });
  }
  app.notFound((context) => {
    const refusal = new Refusal(404, 'notFound', 'there is no such endpoint');
    return refuseCaller(context, state, refusal, { style: styleAt(context.req.path) });
  });
  app.onError((error, context) => {
    state.log(`unexpected error in ${context.req.method} ${context.req.path}: ${String(error)}`);
    const refusal = new Refusal(500, 'internalError', 'unexpected error while handling the request');
    return context.json(refusalBody(refusal, styleAt(context.req.path)), 500);
  });
  return app;
}

/** Only a token holder learns what exists. */
function refuseCaller(
  context: LabContext,
  state: LabState,
  refusal: Refusal,
  { style, headers }: { readonly style: ErrorStyle; readonly headers?: Record<string, string> },
): Response {
  try {
    authorise(context, state, 'read');
    return context.json(refusalBody(refusal, style), refusal.status as 404, headers);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return context.json(refusalBody(error, style), error.status as 401);
  }
}

async function handle(context: LabContext, endpoint: Endpoint, state: LabState): Promise<Response> {
  const { incoming, outgoing } = context.env;
  const instance = instanceAt(context, state);
  let delivery = deliveryOf(state);
  // Cookies of the sign-on in front; an endpoint's answer bypasses the framework.
  for (const cookie of context.res.headers.getSetCookie()) outgoing.appendHeader('set-cookie', cookie);
  try {
    authorise(context, state, endpoint.method === 'GET' ? 'read' : 'write');
    if (instance === undefined) {
      throw new Refusal(endpoint.unknownInstance, 'instanceNotFound', 'the instance does not exist');
    }
    if (instance.deleted && endpoint.method !== 'GET') {
      throw new Refusal(endpoint.unknownInstance, 'instanceDeleted', 'the instance was deleted');
    }
    const effects = state.faults.take(endpoint, instance);
    delivery = { ...delivery, effects, lost: () => instance.lost };
    return await perform(context, { endpoint, instance, state, delivery });
  } catch (error) {
    if (error instanceof Refusal) return await answer(context.env, refuse(error, endpoint), delivery);
    // The client went away before its request was complete.
    if (incoming.destroyed && !incoming.complete) return RESPONSE_ALREADY_SENT;
    throw error;
  }
}

interface Work {
  readonly endpoint: Endpoint;
  readonly instance: LabInstance;
  readonly state: LabState;
  readonly delivery: Delivery;
}

async function perform(context: LabContext, work: Work): Promise<Response> {
  const { endpoint, instance, state, delivery } = work;
  const { effects } = delivery;
  if (effectOf(effects, 'refuse') !== undefined) return drop(context.env, 'reset');
  const body = await readJson(context.env.incoming);
  if (body !== undefined && endpoint.body !== undefined) demandJson(context.env.incoming);
  const instead = await disturb(context, 'before', work);
  if (instead !== undefined) return instead;
  if (instance.lost) return await routerAnswers(context, state);
  if (effectOf(effects, 'colleague') !== undefined) instance.triggerBackup();
  const outcome = effectOf(effects, 'task')?.outcome;
  let reply: Reply;
  try {
    reply = await endpoint.carryOut(requestOf(context, endpoint, state, { instance, body, outcome }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    reply = refuse(error, endpoint);
  }
  const spoiled = await disturb(context, 'after', work);
  if (spoiled !== undefined) return spoiled;
  if (instance.lost) return await routerAnswers(context, state);
  return await answer(context.env, garble(reply, effects), delivery);
}

/** Section 4: `Content-Type: application/json` with bodies. Where no body is described, any passes. */
function demandJson({ headers }: HttpBindings['incoming']): void {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() === 'application/json') return;
  throw new Refusal(
    415,
    'unsupportedMediaType',
    'the body is JSON: send it as Content-Type: application/json',
  );
}

function instanceAt(context: LabContext, state: LabState): LabInstance | undefined {
  return state.instanceOf(context.req.param('instance_id'));
}

/** A platform router's answer if nothing is behind the address. */
async function routerAnswers(context: LabContext, state: LabState): Promise<Response> {
  return await answer(context.env, routerWithoutBackend(), deliveryOf(state));
}

function deliveryOf({ clock, closing }: LabState): Delivery {
  return { effects: [], now: () => clock.now(), began: performance.now(), lost: () => false, closing };
}

function refuse(refusal: Refusal, endpoint: Endpoint): Reply {
  return jsonReply(refusal.status, refusalBody(refusal, endpoint.errors), refusal.headers);
}

/** Lets happen what is to happen on this side of the work; gives the response that ends the call, if any. */
async function disturb(
  context: LabContext,
  when: 'before' | 'after',
  { endpoint, delivery }: Work,
): Promise<Response | undefined> {
  for (const effect of delivery.effects) {
    if (!('when' in effect) || effect.when !== when) continue;
    if (effect.kind === 'drop') return drop(context.env);
    if (effect.kind === 'answer') {
      return await answer(context.env, answerOf(effect, endpoint), delivery);
    }
    if (effect.kind === 'redirect') {
      const path = context.env.incoming.url ?? '/';
      return await answer(context.env, redirectReply(effect.status, effect.to, path), delivery);
    }
    const waited = await pause(effect.ms, true, { signal: delivery.closing, ref: false }).catch(() => false);
    if (!waited) return drop(context.env);
  }
  return undefined;
}

/** The answer for an effect: as JSON in the endpoint's own words, or as sent by a router. */
function answerOf(effect: Extract<Effect, { kind: 'answer' }>, endpoint: Endpoint): StrangeReply {
  const { status, body, retryAfter } = effect;
  const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  if (body !== 'json') return strangeReply(status, body, headers);
  const { word, description } = saying(status);
  const json = refusalBody(new Refusal(status, word, description), endpoint.errors);
  return { status, headers: { 'content-type': 'application/json', ...headers }, text: JSON.stringify(json) };
}

function pathOf(endpoint: Endpoint): string {
  return `${endpoint.base}/:instance_id${endpoint.path === '/' ? '' : endpoint.path}`;
}

/** The error style where no endpoint defines one. */
function styleAt(path: string): 'v0' | 'v1' {
  return path.startsWith('/service-instances') ? 'v0' : 'v1';
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'another program listens there' : cause.message;
      reject(
        new LifeboatError('lab.port', `the lab cannot listen on port ${port}: ${why}`, {
          hints: ['choose another --port, or leave it out to use any free port'],
          cause,
        }),
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}
