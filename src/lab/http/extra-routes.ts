import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { LabState } from '../lab-state.ts';
import { endpointsOf } from './endpoints.ts';
import { openApiOf } from './openapi.ts';
import { ssoRoutes } from './sso.ts';

/**
 * What answers beside the endpoints: the description, which needs no token, the sign-on, which goes before
 * V0, and the application platform.
 */
export function extraRoutes(state: LabState): Hono<{ Bindings: HttpBindings }> {
  const { platform } = state;
  const app = new Hono<{ Bindings: HttpBindings }>();
  const description = openApiOf(state.revision, endpointsOf(state.revision), state.origin);
  app.get('/openapi.json', (context) => context.json(description));
  if (state.sso) app.route('/', ssoRoutes(state));
  if (platform !== undefined) app.route('/', platform.routes);
  return app;
}
