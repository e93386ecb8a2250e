import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { EXIT, LifeboatError, type LifeboatErrorOptions } from '../base/errors.ts';
import { lazily } from '../base/lazily.ts';
import { redact, redactJson } from '../base/redact.ts';
import type { Secret } from '../base/secret.ts';
import { show, TRY_AGAIN_SOON, type Untrusted, untrust } from '../base/text.ts';

const TEXT_LIMIT = 2000;

/** From any of the three error bodies of service-api.md section 7. */
export interface Problem {
  readonly status: number;
  /** V1's single camel-case word. */
  readonly word: Untrusted | undefined;
  readonly text: Untrusted | undefined;
  /** The body has exactly the service's own form: a proxy answers with something else. */
  readonly fromService: boolean;
}

const V1_BODY = lazily(() => z.object({ error: z.string(), description: z.string().nullish() }));
const V1_DOWNLOAD_BODY = lazily(() => z.object({ message: z.string(), status: z.number().nullish() }));
const V0_BODY = lazily(() => z.object({ msg: z.string() }));

/** Section 7 item 1. Frameworks and proxies use a phrase, such as "Bad Gateway". */
const SINGLE_WORD = /^[\w.-]+$/u;

/** Never throws: an unreadable body has no words. Echoed secrets are blanked. */
export function readProblem(status: number, body: Buffer, secrets: readonly Secret[]): Problem {
  const json = parseJson(body);
  const v1 = V1_BODY().safeParse(json);
  const download = V1_DOWNLOAD_BODY().safeParse(json);
  const v0 = V0_BODY().safeParse(json);
  const text = v1.data?.description ?? download.data?.message ?? v0.data?.msg;
  const clean = (raw: string | undefined) =>
    raw === undefined ? undefined : untrust(redact(raw, secrets).slice(0, TEXT_LIMIT).toWellFormed());
  return {
    status,
    word: clean(v1.data?.error),
    text: clean(text),
    fromService:
      (v1.success && SINGLE_WORD.test(v1.data.error)) || download.data?.status === status || v0.success,
  };
}

type Row = readonly [code: string, words: string, ...hints: string[]];

const NOTHING_DONE = 'the service did nothing: it is safe to try again';
const BY_STATUS: Readonly<Record<number, Row>> = {
  400: ['service.invalid', 'the service does not accept the request', 'check what was asked for'],
  401: ['credentials.refused', 'the service refuses the token', 'log in again, then go on: nothing is lost'],
  403: ['service.forbidden', 'the token has no right to do this', 'use a token of a space developer'],
  404: ['service.not-found', 'the service does not know this', 'check the url and the id'],
  405: ['service.not-found', 'the service does not offer this', 'check the revision of the instance'],
  408: ['service.timeout', 'the service waited too long for the request', NOTHING_DONE],
  409: ['service.conflict', 'the same action is already in progress', 'wait until it is over'],
  410: ['service.not-found', 'the service no longer offers this', 'check the revision of the instance'],
  412: ['service.precondition', 'the ids do not exist or do not match', 'check instance and backup'],
  422: ['service.invalid', 'the service does not accept the values', 'check what was asked for'],
  429: ['service.busy', 'the service gets too many requests', 'wait a moment, then try again'],
  500: [
    'service.error',
    'the service met an unexpected error',
    'try again; if it persists, tell the operator of the service',
  ],
  502: ['service.error', 'the router got no proper answer from the service', TRY_AGAIN_SOON],
  503: ['service.error', 'the service is not available', TRY_AGAIN_SOON],
  504: ['service.error', 'the router gave up waiting for the service', TRY_AGAIN_SOON],
};

/** For a status that is not a success (service-api.md section 7, RFC 9110 section 15). */
export function problemError(problem: Problem, headers: IncomingHttpHeaders): LifeboatError {
  const { status, word, text } = problem;
  const [code, words, ...hints] = BY_STATUS[status] ?? rowOfClass(status);
  const said = text ?? word;
  const quoted = said === undefined || said === '' ? '' : `: "${show(said, 200)}"`;
  const wait = typeof headers['retry-after'] === 'string' ? show(headers['retry-after'], 60) : undefined;
  const options: LifeboatErrorOptions = {
    hints: wait === undefined ? hints : [`the service says to wait: Retry-After ${wait}`, ...hints],
    evidence: {
      status,
      ...(word === undefined ? {} : { word }),
      ...(text === undefined ? {} : { text }),
      ...(wait === undefined ? {} : { retryAfter: wait }),
      ...requestIdOf(headers),
    },
    ...(status === 401 ? { exitCode: EXIT.credentials } : {}),
  };
  return new LifeboatError(code, `${words} (${status})${quoted}`, options);
}

/** Finds the request in the logs of the service's operator. */
function requestIdOf(headers: IncomingHttpHeaders): { readonly requestId?: string } {
  const id = headers['x-request-id'] ?? headers['x-vcap-request-id'];
  return typeof id === 'string' ? { requestId: show(id, 100) } : {};
}

function rowOfClass(status: number): Row {
  if (status >= 500) return ['service.error', 'the service failed', TRY_AGAIN_SOON];
  if (status >= 400)
    return ['service.invalid', 'the service does not accept the request', 'check what was asked for'];
  if (status >= 300)
    return ['service.redirect', 'the service redirects the request', 'check the url of the instance'];
  return ['service.bad-answer', 'the service gives an unexpected answer', 'check the url of the instance'];
}

/**
 * Undefined for anything but JSON, and for JSON nested deeper than any real answer: walking through it, even
 * to print it, would overflow the stack.
 */
export function parseJson(body: Buffer): unknown {
  const text = textOf(body);
  return text === undefined ? undefined : parsed(text, body);
}

/** Undefined for bytes that are not UTF-8. */
function textOf(body: Buffer): string | undefined {
  try {
    return UTF_8.decode(body);
  } catch {
    return undefined;
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** `text` is that of `body`. */
function parsed(text: string, body: Buffer): unknown {
  if (isDeeperThan(body, DEEPEST)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** service-api.md needs at most three levels. */
const DEEPEST = 200;

/** Outside of strings. Bytes suffice: no byte of a multi-byte character equals one of these. */
function isDeeperThan(json: Buffer, limit: number): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Safe to show and to journal: echoed secrets of the call are blanked, and so is an encryption key, which no
 * answer should have (service-api.md section 4.1 rule 1). Undefined for anything but JSON.
 */
export function parseAnswer(body: Buffer, secrets: readonly Secret[]): unknown {
  const text = textOf(body);
  if (text === undefined) return undefined;
  const clean = redactJson(text, secrets);
  const json = parsed(clean, clean === text ? body : Buffer.from(clean));
  const isRecord = typeof json === 'object' && json !== null && 'encryption_key' in json;
  return isRecord ? { ...json, encryption_key: '[secret]' } : json;
}
