import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { LabState } from '../lab-state.ts';
import { Refusal } from './endpoint.ts';
import { COOKIE } from './sessions.ts';
import type { Right } from './tokens.ts';

export type LabContext = Context<{ Bindings: HttpBindings }>;

/** Throws 401 for missing or wrong credentials, 403 for such that may not do this (section 5). */
export function authorise(context: LabContext, state: LabState, needed: Right): void {
  const right = state.tokens.rightOf(shownBy(context, state));
  if (right === undefined) throw new Refusal(401, 'unauthorized', 'no valid authentication credentials');
  if (needed === 'write' && right !== 'write') {
    throw new Refusal(403, 'forbidden', 'the credentials lack the right to perform this request');
  }
}

/**
 * The Authorization header of a request; below the dashboard address a ticket or a session may stand in for
 * it.
 */
function shownBy(context: LabContext, state: LabState): string | undefined {
  const header = context.req.header('authorization');
  if (!context.req.path.startsWith('/service-instances/')) return header;
  // A ticket is used up by whatever request brings it.
  const byTicket = state.sessions.redeem(context.req.query('ticket'));
  return header ?? byTicket ?? state.sessions.ofSession(getCookie(context, COOKIE));
}
