import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import type { LabState } from '../lab-state.ts';
import { endpointsOf, openApiOf } from './endpoints.ts';
import type { LabContext } from './request.ts';
import { COOKIE } from './tokens.ts';

/**
 * The sign-on in front of the dashboard address (section 5 item 2; domain: the older interface redirects and
 * sets a cookie). A page requested with a valid token and no session is redirected to a login page, which
 * sets the cookie and leads back with a ticket. A POST is never redirected: it would arrive as a GET.
 */
function ssoRoutes(state: LabState): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const { sessions, tokens } = state;
  app.get('/sso/login', (context) => {
    const entered = sessions.enter(context.req.query('code') ?? '');
    if (entered === undefined) return context.json({ msg: 'the login has expired' }, 401);
    remember(context, entered.session);
    const mark = entered.destination.includes('?') ? '&' : '?';
    return context.redirect(`${entered.destination}${mark}ticket=${entered.ticket}`, 302);
  });
  app.use(
    '/service-instances/*',
    createMiddleware<{ Bindings: HttpBindings }>(async (context, next) => {
      const header = context.req.header('authorization');
      const hasSession = sessions.ofSession(getCookie(context, COOKIE)) !== undefined;
      const hasTicket = context.req.query('ticket') !== undefined;
      const isKnown = header !== undefined && tokens.rightOf(header) !== undefined;
      // The route itself refuses a caller without a valid token.
      if (!isKnown || hasSession || hasTicket) return await next();
      if (context.req.method !== 'GET') {
        remember(context, sessions.open(header));
        return await next();
      }
      const { pathname, search } = new URL(context.req.url);
      return context.redirect(`/sso/login?code=${sessions.begin(header, `${pathname}${search}`)}`, 302);
    }),
  );
  return app;
}

function remember(context: LabContext, session: string): void {
  setCookie(context, COOKIE, session, { path: '/', httpOnly: true, sameSite: 'Lax' });
}

/** Routes beside the endpoints: the description (no token needed), V0's sign-on, the platform. */
export function extraRoutes(state: LabState): Hono<{ Bindings: HttpBindings }> {
  const { platform } = state;
  const app = new Hono<{ Bindings: HttpBindings }>();
  const { revision, origin, isSimulated } = state;
  const description = openApiOf(revision, endpointsOf(revision), origin, isSimulated);
  app.get('/openapi.json', (context) => context.json(description));
  if (state.sso) app.route('/', ssoRoutes(state));
  if (platform !== undefined) app.route('/', platform.routes);
  return app;
}
