import type { Call, Mutation } from './server.ts';

export type Json = Record<string, unknown>;

export interface Answer {
  readonly status: number;
  /** Bytes of a download, a text as it is, or what becomes JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok = (body: unknown, status = 200): Answer => ({ status, body });
export const v1Error = (status: number, error: string): Answer => ({
  status,
  body: { error, description: `This is answered with ${status}.` },
});
export const v0Error = (status: number): Answer => ({
  status,
  body: { msg: `This is answered with ${status}.` },
});

type After = NonNullable<Mutation['after']>;

/** `METHOD /path/below/the/instance`, with `:id` for numbers, and `v0` before it for the V0 base. */
export function routeOf({ method, path }: Call): string {
  const below = path
    .replace(/^\/(v1\/instances|service-instances)\/[^/]+/, '')
    .replace(/\/\d+(?=\/|$)/g, '/:id');
  return `${path.startsWith('/v1/') ? '' : 'v0 '}${method} ${below === '' ? '/' : below}`;
}

/** Changes the answers of success of one route. */
export function onSuccess(route: string, change: After): After {
  return (answer, call, service) =>
    routeOf(call) === route && answer.status < 300 ? change(answer, call, service) : answer;
}

/** Changes the body of success of one route; every element, when it is an array. */
export function inBody(route: string, change: (body: Json, call: Call) => Json): After {
  return onSuccess(route, (answer, call) => {
    const { body } = answer;
    const each = (one: unknown) => change({ ...(one as Json) }, call);
    return { ...answer, body: Array.isArray(body) ? body.map(each) : each(body) };
  });
}

/** Every refusal of the route is a success with that body. */
export function accepting(route: string, success: Answer): After {
  return (answer, call) => (routeOf(call) === route && answer.status >= 400 ? success : answer);
}

/** The server is given another body than the one that was sent. */
export function given(route: string, change: (body: Json) => Json): NonNullable<Mutation['before']> {
  return (call) => (routeOf(call) === route ? { ...call, body: change({ ...call.body }) } : call);
}

export function without(...fields: readonly string[]): (body: Json) => Json {
  return (body) => Object.fromEntries(Object.entries(body).filter(([name]) => !fields.includes(name)));
}

/** One wrong server for each field that is missing from the body of a route. */
export function eachMissing(
  route: string,
  fields: readonly string[],
  ...caughtBy: readonly string[]
): readonly Mutation[] {
  return fields.map((field) => ({
    what: `answers ${route} without ${field}`,
    after: inBody(route, without(field)),
    caughtBy,
  }));
}

/** The same time with an offset, in milliseconds. */
export function shifted(time: unknown, by: number): string {
  return new Date(Date.parse(String(time)) + by).toISOString();
}
