import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { FaultTarget } from '../faults.ts';
import type { LabInstance } from '../instance.ts';
import type { Call, LabState } from '../lab-state.ts';
import type { Outcome } from '../manager/task-queue.ts';

export type Revision = 61 | 62;

/** Which of the three error bodies an endpoint uses (service-api.md section 7). */
export type ErrorStyle = 'v1' | 'v1-download' | 'v0';

export interface Request {
  readonly state: LabState;
  readonly instance: LabInstance;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  /** How a fault makes the started task end. */
  readonly outcome: Outcome | undefined;
  /** The body as JSON; undefined if it is none. */
  readonly body: unknown;
  /** Records a change of the service in its ledger, at the moment it happens. */
  record(detail: Call['detail']): void;
}

export interface JsonReply {
  readonly kind: 'json';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json: unknown;
}

export interface FileReply {
  readonly kind: 'file';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly size: number;
  /** The first `length` of the `size` bytes. */
  open(length: number): Readable;
}

export type Reply = JsonReply | FileReply;

export interface Answer {
  readonly status: number;
  /** Absent: the answer is a file. */
  readonly body?: z.ZodType;
}

/** One endpoint: data for the router, the fault table, the ledger and the description, and the work. */
export interface Endpoint extends FaultTarget {
  /** The path before `/:instance_id`. */
  readonly base: '/v1/instances' | '/service-instances';
  /** `createBackup`: unique among the endpoints of a revision. */
  readonly name: string;
  readonly summary: string;
  readonly errors: ErrorStyle;
  /** Only the revisions that have the endpoint. */
  readonly answers: { readonly [R in Revision]?: Answer | undefined };
  readonly body?: z.ZodType | undefined;
  readonly query?: z.ZodType | undefined;
  /** Statuses of refusals beyond 401, 403 and that of an unknown instance. */
  readonly refuses: { readonly [R in Revision]?: readonly number[] };
  readonly unknownInstance: 404 | 412;
  readonly examples?: { readonly request?: unknown; readonly answer?: unknown };
  /** Throws a `Refusal`. */
  carryOut(request: Request): Promise<Reply>;
}

type Parsed<S extends z.ZodType | undefined> = S extends z.ZodType ? z.output<S> : undefined;

interface JsonSpec<
  Result extends z.ZodType,
  Body extends z.ZodType | undefined,
  Query extends z.ZodType | undefined,
> extends Pick<Endpoint, 'method' | 'path' | 'name' | 'summary' | 'startsTask' | 'examples'> {
  /** `/v1/instances` by default. */
  readonly base?: Endpoint['base'];
  /** All fields that any revision answers with; each revision's schema leaves out the others. */
  readonly result: Result;
  readonly answers: { readonly [R in Revision]?: number | Answer };
  readonly refuses?: Endpoint['refuses'];
  readonly unknownInstance?: 404 | 412;
  readonly body?: Body;
  readonly query?: Query;
  /** The status for a body or query that does not parse; 422 by default. */
  readonly invalid?: 412 | 422;
  work(
    request: Omit<Request, 'body' | 'query'> & { readonly body: Parsed<Body>; readonly query: Parsed<Query> },
  ): z.input<Result> | Promise<z.input<Result>>;
}

/** An endpoint with JSON answers: schemas parse its requests and shape its answers. */
export function jsonEndpoint<
  Result extends z.ZodType,
  Body extends z.ZodType | undefined = undefined,
  Query extends z.ZodType | undefined = undefined,
>(spec: JsonSpec<Result, Body, Query>): Endpoint {
  const { result, answers, work, invalid = 422, refuses = {}, ...rest } = spec;
  const { base = '/v1/instances', body, query } = spec;
  const complete = (answer: number | Answer | undefined) => {
    if (answer === undefined) return undefined;
    return { body: result, ...(typeof answer === 'number' ? { status: answer } : answer) };
  };
  const complete61 = complete(answers[61]);
  const complete62 = complete(answers[62]);
  const parsed = <S extends z.ZodType | undefined>(schema: S, value: unknown) =>
    (schema === undefined ? undefined : parseOrRefuse(schema, value, invalid)) as Parsed<S>;
  return {
    unknownInstance: 404,
    ...rest,
    base,
    errors: base === '/service-instances' ? 'v0' : 'v1',
    answers: { 61: complete61, 62: complete62 },
    refuses: body === undefined && query === undefined ? refuses : withStatus(refuses, invalid),
    carryOut: async (request) => {
      const answer = request.state.revision === 61 ? complete61 : complete62;
      if (answer === undefined) throw new Error(`revision ${request.state.revision} has no ${spec.name}`);
      const value = await work({
        ...request,
        body: parsed(body as Body, request.body),
        query: parsed(query as Query, request.query),
      });
      return jsonReply(answer.status, answer.body.parse(value));
    },
  };
}

export function jsonReply(status: number, json: unknown, headers: JsonReply['headers'] = {}): JsonReply {
  return { kind: 'json', status, headers, json };
}

/** An error answer. `word` is V1's camel-case word; the other styles do not show it. */
export class Refusal extends Error {
  readonly status: number;
  readonly word: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, word: string, description: string, headers: Refusal['headers'] = {}) {
    super(description);
    this.status = status;
    this.word = word;
    this.headers = headers;
  }
}

export function refusalBody({ status, word, message }: Refusal, style: ErrorStyle): Record<string, unknown> {
  if (style === 'v0') return { msg: message };
  if (style === 'v1-download') return { message, status };
  return { error: word, description: message };
}

/** The value as the schema reads it; throws a refusal that names the first mistake. */
export function parseOrRefuse<S extends z.ZodType>(schema: S, value: unknown, status = 422): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new Refusal(
    status,
    'invalidParameters',
    `${field === '' ? 'the request' : field}: ${issue?.message}`,
  );
}

function withStatus(refuses: Endpoint['refuses'], status: number): Endpoint['refuses'] {
  const both = (statuses: readonly number[] = []) => [...statuses, status];
  return { 61: both(refuses[61]), 62: both(refuses[62]) };
}
