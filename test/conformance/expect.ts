import type { z } from 'zod';
import { Violation } from './check.ts';
import type { Exchange } from './exchange.ts';
import { DownloadError, V0Error, V1Error } from './shapes.ts';

/** Throws a `Violation` unless the promise is kept. */
export function ensure(kept: boolean, why: string, exchange?: Exchange): asserts kept {
  if (!kept) throw new Violation(why, exchange);
}

/** The status is one of those. */
export function expectStatus(exchange: Exchange, statuses: readonly number[]): void {
  ensure(
    statuses.includes(exchange.status),
    `answers ${exchange.status} instead of ${statuses.join(' or ')}`,
    exchange,
  );
}

/** The body of an answer with one of the statuses; JSON, said to be JSON, and of the shape. */
export function expectBody<T>(exchange: Exchange, statuses: readonly number[], shape: z.ZodType<T>): T {
  expectStatus(exchange, statuses);
  return expectShape(exchange, shape);
}

/** Any 4xx but those that say who may ask: refused for what was asked. */
export function expectRefusal(exchange: Exchange): void {
  const { status } = exchange;
  ensure(
    status >= 400 && status < 500 && ![401, 403].includes(status),
    `answers ${status} instead of refusing with a status from 400 to 499`,
    exchange,
  );
  expectShape(exchange, V1Error);
}

/** Which bodies of errors the document has for which calls. */
export type ErrorStyle = 'v1' | 'v1 download' | 'v0' | 'v0 download';

export function expectError(exchange: Exchange, statuses: readonly number[], style: ErrorStyle): void {
  expectStatus(exchange, statuses);
  if (style === 'v1') expectShape(exchange, V1Error);
  else if (style === 'v0') expectShape(exchange, V0Error);
  else if (style === 'v1 download') expectDownloadError(exchange);
  // Revision 62 sends V1 callers to the V0 base; whose body holds there, that of 7 (2) or of 7 (3), is not
  // said.
  else if (!V0Error.safeParse(exchange.json).success) expectDownloadError(exchange);
  else expectShape(exchange, V0Error);
}

function expectDownloadError(exchange: Exchange): void {
  const { status } = expectShape(exchange, DownloadError);
  ensure(
    status === exchange.status,
    `the body says status ${status}, the answer ${exchange.status}`,
    exchange,
  );
}

function expectShape<T>(exchange: Exchange, shape: z.ZodType<T>): T {
  ensure(
    exchange.contentType === 'application/json' || exchange.contentType.endsWith('+json'),
    'the content type is not JSON',
    exchange,
  );
  ensure(exchange.json !== undefined, 'the body is not JSON', exchange);
  const result = shape.safeParse(exchange.json);
  if (result.success) return result.data;
  const problems = result.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.length === 0 ? 'the body' : path.map(String).join('.')}: ${message}`);
  throw new Violation(problems.join('; '), exchange);
}
