import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { LifeboatError } from '../../errors.ts';
import type { Effect } from '../faults.ts';
import type { LabState } from '../lab-state.ts';
import { answer, drop, garble, strangeReply } from './answer.ts';
import { authorise, type LabContext } from './authorise.ts';
import { type Endpoint, type ErrorStyle, jsonReply, Refusal, type Reply, refusalBody } from './endpoint.ts';
import { labRoutes } from './lab-routes.ts';
import { readJson } from './read-json.ts';

/** The service's HTTP face, on 127.0.0.1 only. Until `serve` is called every answer is 503. */
export interface HttpService {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  serve(state: LabState, endpoints: readonly Endpoint[]): void;
  /** Ends every connection, also those in the middle of an answer. */
  close(): Promise<void>;
}

/** Starts listening; port 0 takes any free one. Rejects with `lab.port` when the port is taken. */
export async function openHttp(port: number): Promise<HttpService> {
  let app = new Hono<{ Bindings: HttpBindings }>();
  app.all('*', (context) => context.json({ error: 'starting', description: 'the lab is starting' }, 503));
  const server = createAdaptorServer({
    fetch: (request, env) => app.fetch(request, env as HttpBindings),
    // Otherwise the adapter replaces the global Request and Response of the whole process.
    overrideGlobalObjects: false,
  }) as Server;
  await listen(server, port);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (state, endpoints) => {
      app = router(state, endpoints);
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function router(state: LabState, endpoints: readonly Endpoint[]): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  for (const endpoint of endpoints) {
    const path = `${endpoint.base}/:instance_id${endpoint.path === '/' ? '' : endpoint.path}`;
    app.on(endpoint.method, path, (context) => handle(context, endpoint, state));
  }
  app.route('/lab', labRoutes(state));
  app.notFound((context) => {
    const style = context.req.path.startsWith('/service-instances') ? 'v0' : 'v1';
    return context.json(refusalBody(new Refusal(404, 'notFound', 'there is no such endpoint'), style), 404);
  });
  app.onError((error, context) => {
    state.log(`unexpected error in ${context.req.method} ${context.req.path}: ${String(error)}`);
    const refusal = new Refusal(500, 'internalError', 'unexpected error while handling the request');
    return context.json(refusalBody(refusal, 'v1'), 500);
  });
  return app;
}

async function handle(context: LabContext, endpoint: Endpoint, state: LabState): Promise<Response> {
  try {
    authorise(context, state, endpoint.method === 'GET' ? 'read' : 'write');
    return await perform(context, endpoint, state);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return await answer(context.env, refuse(error, endpoint.errors));
  }
}

async function perform(context: LabContext, endpoint: Endpoint, state: LabState): Promise<Response> {
  const params = context.req.param() as Record<string, string>;
  const instance = state.instances.find(({ guid }) => guid === params['instance_id']);
  if (instance === undefined) {
    // A download does not tell an unknown instance from an unknown backup (section 4.3).
    const status = endpoint.streams === true ? 412 : 404;
    throw new Refusal(status, 'instanceNotFound', 'the instance does not exist');
  }
  const body = await readJson(context.env.incoming);
  const effects = state.faults.take(endpoint, instance);
  const instead = await disturb(context, effects, 'before', state.closing);
  if (instead !== undefined) return instead;
  let reply: Reply;
  try {
    reply = endpoint.carryOut({
      instance,
      params,
      body,
      revision: state.revision,
      origin: state.origin,
      range: context.req.header('range'),
      fate: effects.find((effect) => effect.kind === 'task')?.fate,
      record: (detail) =>
        state.calls.push({
          at: new Date().toISOString(),
          endpoint: `${endpoint.method} ${endpoint.path}`,
          instance: instance.name,
          detail,
        }),
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    reply = refuse(error, endpoint.errors);
  }
  const lost = await disturb(context, effects, 'after', state.closing);
  if (lost !== undefined) return lost;
  return await answer(context.env, garble(reply, effects), effects);
}

function refuse(refusal: Refusal, style: ErrorStyle): Reply {
  return jsonReply(refusal.status, refusalBody(refusal, style));
}

/** Lets happen what is to happen on this side of the work; gives the response that ends the call, if any. */
async function disturb(
  context: LabContext,
  effects: readonly Effect[],
  when: 'before' | 'after',
  closing: AbortSignal,
): Promise<Response | undefined> {
  for (const effect of effects) {
    if (!('when' in effect) || effect.when !== when) continue;
    if (effect.kind === 'drop') return drop(context.env);
    if (effect.kind === 'answer') {
      return await answer(context.env, strangeReply(effect.status, effect.body));
    }
    const waited = await pause(effect.ms, true, { signal: closing, ref: false }).catch(() => false);
    if (!waited) return drop(context.env);
  }
  return undefined;
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'another program listens there' : cause.message;
      reject(
        new LifeboatError('lab.port', `the lab cannot listen on port ${port}: ${why}`, {
          hints: ['choose another --port, or none: then any free port is taken'],
          cause,
        }),
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}
