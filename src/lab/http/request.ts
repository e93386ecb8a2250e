import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { LabInstance } from '../instance.ts';
import type { LabState } from '../lab-state.ts';
import type { Outcome } from '../manager/task-queue.ts';
import { type Endpoint, Refusal, type Request } from './endpoint.ts';
import { COOKIE, type Right } from './tokens.ts';

export function requestOf(
  context: LabContext,
  endpoint: Endpoint,
  state: LabState,
  call: { readonly instance: LabInstance; readonly body: unknown; readonly outcome: Outcome | undefined },
): Request {
  return {
    ...call,
    state,
    params: context.req.param() as Record<string, string>,
    query: context.req.query(),
    // Defined for GET only (RFC 9110, 14.2).
    range: context.env.incoming.method === 'HEAD' ? undefined : context.req.header('range'),
    ifRange: context.req.header('if-range'),
    record: (detail) =>
      state.calls.add({
        at: state.clock.now().toISOString(),
        endpoint: `${endpoint.method} ${endpoint.path}`,
        instance: call.instance.name,
        detail,
      }),
  };
}

export type LabContext = Context<{ Bindings: HttpBindings }>;

/** Throws 401 for missing or wrong credentials, 403 for credentials that do not allow this (section 5). */
export function authorise(context: LabContext, state: LabState, needed: Right): void {
  const right = state.tokens.rightOf(shownBy(context, state));
  if (right === undefined) throw new Refusal(401, 'unauthorized', 'no valid authentication credentials');
  if (needed === 'write' && right !== 'write') {
    throw new Refusal(403, 'forbidden', 'the credentials lack the right to perform this request');
  }
}

/** The Authorization header, or, below the dashboard address, the one behind a ticket or a session. */
function shownBy(context: LabContext, state: LabState): string | undefined {
  const header = context.req.header('authorization');
  if (!context.req.path.startsWith('/service-instances/')) return header;
  // Any request uses its ticket up.
  const byTicket = state.sessions.redeem(context.req.query('ticket'));
  return header ?? byTicket ?? state.sessions.ofSession(getCookie(context, COOKIE));
}

/** A request body is a handful of settings. */
const LARGEST_BODY = 64 * 1024;

/** The body as JSON, else its text; `undefined` without one. Throws 413 for one that is too large. */
export async function readJson(incoming: HttpBindings['incoming']): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LARGEST_BODY) throw new Refusal(413, 'bodyTooLarge', 'the body is too large');
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // No body schema takes a text, so the schema reports it.
    return text;
  }
}
