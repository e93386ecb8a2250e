import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

export type Json = { readonly [field: string]: unknown };

/** One request, as the service understands it. */
export interface Heard {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** `{}` when there was none; section 4 wants a JSON object that is declared as one. */
  readonly body: Json | 'broken';
}

/** What is kept of a request. Mutating calls are what the promises are about. */
export interface Call {
  readonly number: number;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  /** Name of the instance that the path names; undefined when there is none. */
  readonly instance: string | undefined;
  /** The JSON of the body without its `encryption_key`; empty when there was none. */
  readonly body: Json;
  /** SHA-256 of the `encryption_key` of the body. */
  readonly key: string | undefined;
  /** How it was answered; `lost` when the connection was cut instead. Undefined while it is under way. */
  answered: number | 'lost' | undefined;
  /** Whether the request was carried out: false if it was refused, or never reached the service. */
  did: boolean;
}

/** What becomes of a task that a call begins. */
export interface TaskWish {
  /** Milliseconds from its trigger to its end. */
  readonly ms?: number;
  /** It stays `running` at least until this promise resolves. */
  readonly until?: Promise<unknown>;
  /** It ends as `failed` and has changed nothing. */
  readonly fails?: boolean;
}

/** What goes wrong with one call. */
export interface Trouble {
  /** False: the work is not done at all. Default true. */
  readonly work?: boolean;
  /** The work is done this much later, when the answer is long gone. */
  readonly workAfterMs?: number;
  readonly answerAfterMs?: number;
  /** The task that the call begins. */
  readonly task?: TaskWish;
  /** A download ends after this many bytes, without any sign that there was more. */
  readonly cutAfter?: number;
  /** The connection of a download breaks after this many bytes. */
  readonly breakAfter?: number;
  /** `lost`: the connection is cut. Default: the proper answer. */
  readonly answer?: 'lost' | JsonAnswer;
}

export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
  /** The body is a page, as a proxy or a login would send it. */
  readonly html?: boolean;
}

/** An answer that is no JSON: nothing at all, odd words, or a backup. */
export interface BytesAnswer {
  readonly status: number;
  readonly bytes: Buffer;
  readonly headers: OutgoingHttpHeaders;
}

export type Answer = JsonAnswer | BytesAnswer;

export function ok(body: unknown): Answer {
  return { status: 200, body };
}

/** Section 7.1: `error` is a single word in camel case. */
export function refused(status: number, error: string, description: string): Answer {
  return { status, body: { error, description } };
}

/** Section 7.3. */
export function refusedByV0(status: number, msg: string): Answer {
  return { status, body: { msg } };
}

/** Section 7.2: the V1 download has an error body of its own. */
export function refusedDownload(status: number, message: string): Answer {
  return { status, body: { message, status } };
}
