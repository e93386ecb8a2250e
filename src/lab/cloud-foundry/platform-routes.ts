import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { Refusal } from '../http/endpoint.ts';
import { type LabContext, readJson } from '../http/request.ts';
import type { Tokens } from '../http/tokens.ts';
import type { AppState } from './app-process.ts';
import { appRoutes, stagingRoutes } from './app-routes.ts';
import { bindingRoutes } from './binding-routes.ts';
import { CfError } from './cf-error.ts';
import { landscapeRoutes } from './landscape-routes.ts';
import type { Platform } from './platform.ts';
import type { CfReply, CfRoute } from './route.ts';

export interface PlatformFace {
  readonly routes: Hono<{ Bindings: HttpBindings }>;
  appStates(): readonly AppState[];
}

interface Surroundings {
  readonly platform: Platform;
  readonly tokens: Tokens;
  readonly origin: string;
  readonly log: (line: string) => void;
}

/**
 * The part of Cloud Foundry's v3 API that rebinding needs, with its shapes, texts and pitfalls
 * (cloud_controller_ng, `docs/v3`). Tokens are the lab's: the read-only one sees no credentials. Without a
 * token nothing answers, where the platform would describe itself.
 */
export function platformFace(surroundings: Surroundings): PlatformFace {
  const app = new Hono<{ Bindings: HttpBindings }>();
  for (const route of [...landscapeRoutes, ...bindingRoutes, ...appRoutes, ...stagingRoutes]) {
    app.on(route.method, route.path, (context) => answered(context, surroundings, route));
  }
  for (const method of ['GET', 'POST', 'PATCH', 'DELETE'] as const) {
    app.on(method, '/v3/*', (context) =>
      answered(context, surroundings, { method, path: '/v3/*', answer: unknown }),
    );
  }
  return { routes: app, appStates: () => surroundings.platform.appStates() };
}

function unknown(): never {
  throw new CfError(404, 10_000, 'NotFound', 'Unknown request');
}

async function answered(context: LabContext, surroundings: Surroundings, route: CfRoute): Promise<Response> {
  const { platform, tokens, origin, log } = surroundings;
  try {
    const { right = route.method === 'GET' ? 'read' : 'write' } = route;
    authorise(tokens, context.req.header('authorization'), right);
    const body = route.method === 'GET' ? undefined : await readJson(context.env.incoming);
    const param = (name: string) => context.req.param(name) ?? '';
    return replied(context, await route.answer({ platform, origin, context, body, param }));
  } catch (error) {
    if (error instanceof CfError) return refused(context, error);
    if (error instanceof Refusal) {
      return refused(context, new CfError(error.status, 10_006, 'UnprocessableEntity', error.message));
    }
    log(`unexpected error in ${route.method} ${route.path}: ${String(error)}`);
    return refused(context, new CfError(500, 10_001, 'UnknownError', 'An unknown error occurred.'));
  }
}

function authorise(tokens: Tokens, header: string | undefined, needed: 'read' | 'write'): void {
  if (header === undefined) throw new CfError(401, 10_002, 'NotAuthenticated', 'Authentication error');
  const right = tokens.rightOf(header);
  if (right === undefined) throw new CfError(401, 1000, 'InvalidAuthToken', 'Invalid Auth Token');
  if (needed === 'write' && right !== 'write') {
    const detail = 'You are not authorized to perform the requested action';
    throw new CfError(403, 10_003, 'NotAuthorized', detail);
  }
}

function replied(context: LabContext, { status = 200, json, location }: CfReply): Response {
  const headers = location === undefined ? {} : { location };
  if (json === undefined) return context.body(null, status, headers);
  return context.json(json, status as 200, headers);
}

function refused(context: LabContext, error: CfError): Response {
  return context.json({ errors: [error.toBody()] }, error.status as 422);
}
