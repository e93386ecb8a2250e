import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { LabState } from '../lab-state.ts';
import { Refusal } from './endpoint.ts';
import type { Right } from './tokens.ts';

export type LabContext = Context<{ Bindings: HttpBindings }>;

/** Throws 401 for a missing or wrong token, 403 for one that may not do this (section 5). */
export function authorise(context: LabContext, state: LabState, needed: Right): void {
  const right = state.tokens.rightOf(context.req.header('authorization'));
  if (right === undefined) throw new Refusal(401, 'unauthorized', 'no valid authentication credentials');
  if (needed === 'write' && right !== 'write') {
    throw new Refusal(403, 'forbidden', 'the credentials lack the right to perform this request');
  }
}
