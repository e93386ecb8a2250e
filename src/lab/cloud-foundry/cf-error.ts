import type { z } from 'zod';

/** As in cloud_controller_ng, `errors/v2.yml`: a number and a title for programs, a detail for people. */
export class CfError extends Error {
  readonly status: number;
  readonly code: number;
  readonly title: string;

  constructor(status: number, code: number, title: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
    this.title = `CF-${title}`;
  }

  /** As in answers and failed jobs. */
  toBody(): { readonly code: number; readonly title: string; readonly detail: string } {
    return { code: this.code, title: this.title, detail: this.message };
  }
}

export function unprocessable(detail: string): CfError {
  return new CfError(422, 10_008, 'UnprocessableEntity', detail);
}

/** `App`, `Service credential binding`. */
export function notFound(what: string): CfError {
  return new CfError(404, 10_010, 'ResourceNotFound', `${what} not found`);
}

export function badQuery(detail: string): CfError {
  return new CfError(400, 10_005, 'BadQueryParameter', `The query parameter is invalid: ${detail}`);
}

/** The service broker failed. */
export function brokerFailed(what: 'bind' | 'unbind', why: string): CfError {
  return new CfError(502, 10_009, 'UnableToPerform', `${what} could not be completed: ${why}`);
}

/** Throws 422 with every mistake in the body, as the platform does. */
export function parsedBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  // A body that is not JSON arrives as text.
  if (typeof body === 'string') {
    const detail = 'Request invalid due to parse error: invalid request body';
    throw new CfError(400, 1001, 'MessageParseError', detail);
  }
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw unprocessable(wrong.slice(0, 5).join(', '));
}
