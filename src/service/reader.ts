import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import { beginningOf } from '../backup/beginning.ts';
import { dateAt, httpDate } from '../base/date.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import { type Awaits, NO_TOKEN_YET, unanswered, whileAwaited } from './awaited.ts';
import type { CallOptions } from './call.ts';
import { type Answer, skewMs } from './client.ts';
import type { CookieJar } from './connection.ts';
import { badAnswerError, redirectError, stoppedError, timeoutError, transportError } from './failures.ts';
import type { Limits } from './limits.ts';
import { parseAnswer, problemError, readProblem } from './problem.ts';
import type { HeldToken, TokenCache } from './token-source.ts';

export interface ReadCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly answer: CallOptions['answer'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly onRequest?: CallOptions['onRequest'];
}

/** Redirects were followed, and a refused token was replaced once if there was another. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Dispatcher.ResponseData['body'];
  /** From the instance's own origin. */
  readonly own: boolean;
}

export interface Reader {
  /** Rejects with a LifeboatError if there is no answer; an error status is an answer. */
  fetch(call: ReadCall): Promise<ReadResponse>;
  /** Matches `schema`; an error status rejects. */
  json<T>(url: string, schema: z.ZodType<T>, signal: AbortSignal | undefined): Promise<Answer<T>>;
  /** An answer of the instance's own origin has said so. */
  isSimulated(): boolean;
  /** For an error status. Reads the body. */
  problemOf(response: ReadResponse): Promise<Error>;
}

/** Asks for the composed dispatcher at each call. Never for a call that changes something. */
export function openReader(
  dispatcher: () => Dispatcher,
  origin: string,
  tokens: TokenCache,
  jar: CookieJar,
  limits: Limits,
  closing: AbortSignal,
  awaits?: Awaits,
): Reader {
  let isSimulated = false;

  async function fetch(call: ReadCall): Promise<ReadResponse> {
    const gate = AbortSignal.any(call.signal === undefined ? [closing] : [closing, call.signal]);
    const deadline = new AbortController();
    const ms = call.answer === 'stream' ? limits.downloadHeadersMs : limits.readMs;
    const timer = setTimeout(() => deadline.abort(timeoutError(ms)), ms);
    try {
      return await withToken(call, AbortSignal.any([gate, deadline.signal]), Date.now() + ms);
    } catch (error) {
      throw gate.aborted ? stoppedError() : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function withToken(call: ReadCall, signal: AbortSignal, untilMs: number): Promise<ReadResponse> {
    const waited = { what: NO_TOKEN_YET, sinceMs: Date.now(), untilMs };
    const token = await whileAwaited(awaits, waited, () => orAbort(tokens.current(), signal));
    const response = await follow(call, token, signal, untilMs);
    if (response.status !== 401 || !response.own || call.method !== 'GET') return response;
    if (!(await orAbort(tokens.renew(token), signal))) return response;
    await response.body.dump();
    return follow(call, await orAbort(tokens.current(), signal), signal, untilMs);
  }

  async function follow(
    call: ReadCall,
    token: HeldToken,
    signal: AbortSignal,
    untilMs: number,
  ): Promise<ReadResponse> {
    let url = new URL(call.url);
    let own = true;
    for (let redirects = 0; ; redirects += 1) {
      const asked = { what: unanswered(call.method, url), sinceMs: Date.now(), untilMs };
      const hop = url;
      const response = await whileAwaited(awaits, asked, () =>
        ask(call, hop, own ? token.value : undefined, signal),
      );
      if (own) await jar.keep(url, response.headers['set-cookie']);
      if (own && response.headers[LAB] === 'simulated') isSimulated = true;
      if (response.statusCode < 300 || response.statusCode >= 400) {
        return { status: response.statusCode, headers: response.headers, body: response.body, own };
      }
      await response.body.dump();
      if (call.method !== 'GET') throw redirectError('a call that is not repeated elsewhere');
      if (redirects === MAX_REDIRECTS) throw redirectError(`more than ${MAX_REDIRECTS} times`);
      url = nextHop(url, response.statusCode, response.headers['location'], call.answer === 'stream');
      // After another origin has chosen the target, even the way back has no token.
      own &&= url.origin === origin;
    }
  }

  async function ask(
    call: ReadCall,
    url: URL,
    token: Secret | undefined,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const cookie = token === undefined ? undefined : await jar.header(url);
    const options: CallOptions = {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: call.method,
      headers: {
        accept: call.answer === 'stream' ? '*/*' : 'application/json',
        // Nothing is decompressed here, so that a small answer stays small.
        'accept-encoding': 'identity',
        'user-agent': 'lifeboat',
        ...call.headers,
        ...(cookie === undefined ? {} : { cookie }),
      },
      answer: call.answer,
      token,
      signal,
      onRequest: call.onRequest,
    };
    try {
      // undici checks the signal only once there is a connection.
      return await orAbort(dispatcher().request(options), signal);
    } catch (error) {
      throw transportError(error, token === undefined ? [] : [token]);
    }
  }

  async function problemOf(response: ReadResponse): Promise<Error> {
    const { value } = await tokens.current();
    const problem = readProblem(response.status, Buffer.from(await response.body.bytes()), [value]);
    if (response.own) return problemError(problem, response.headers);
    return redirectError(`to another origin, which answers with ${response.status}`);
  }

  async function json<T>(
    url: string,
    schema: z.ZodType<T>,
    signal: AbortSignal | undefined,
  ): Promise<Answer<T>> {
    const sentAt = new Date();
    const response = await fetch({ method: 'GET', url, answer: 'whole', signal });
    const serverDate = dateOf(response.headers);
    const skew = serverDate === undefined ? undefined : skewMs(serverDate, sentAt, new Date());
    if (response.status >= 300) throw await problemOf(response);
    const body = Buffer.from(await response.body.bytes());
    const { value, raw } = readJson(body, response, schema, [(await tokens.current()).value]);
    return { value, raw, status: response.status, skew };
  }

  return { fetch, json, isSimulated: () => isSimulated, problemOf };
}

/** The header of a simulated service. */
const LAB = 'lifeboat-lab';

/** The service's own clock (RFC 9110 section 6.6.1), if readable. */
export function dateOf(headers: IncomingHttpHeaders): Date | undefined {
  const ms = httpDate(headers.date);
  return ms === undefined ? undefined : dateAt(ms);
}

/** Rejects with the signal's reason as soon as it aborts. */
export function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Ten times the rows of ten backups a day for three years; more would exceed the process's memory limit. */
const MAX_ROWS = 100_000;

/** The blank, above the other bytes that separate words. */
const BLANK = 0x20;

function readJson<T>(
  body: Buffer,
  response: ReadResponse,
  schema: z.ZodType<T>,
  secrets: readonly Secret[],
): { readonly value: T; readonly raw: unknown } {
  const evidence = { status: response.status, bytes: body.length };
  if (body.every((byte) => byte <= BLANK)) throw badAnswerError('the answer is empty', evidence);
  const json = parseAnswer(body, secrets);
  if (json === undefined) {
    throw badAnswerError(notJsonWords(body), evidence);
  }
  if (Array.isArray(json) && json.length > MAX_ROWS && typeof json[0] === 'object')
    throw badAnswerError(`the answer has more than ${MAX_ROWS} rows`, { ...evidence, rows: json.length });
  const parsed = schema.safeParse(json);
  if (parsed.success) return { value: parsed.data, raw: json };
  const where = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
  throw badAnswerError(`the answer has an unexpected shape${where === '' ? '' : ` (at ${where})`}`, {
    ...evidence,
    at: where,
  });
}

export function notJsonWords(body: Buffer): string {
  const beginning = beginningOf(body);
  if (beginning === 'html') return 'the answer is a web page, not JSON';
  if (beginning === 'gzip') return 'the answer is compressed with gzip, which was not asked for';
  return 'the answer is not JSON, or is cut off';
}

export function looksLikeHtml(body: Buffer): boolean {
  return beginningOf(body) === 'html';
}

/** RFC 9110 section 15.4 gives no number; five suffices for a login round trip. */
const MAX_REDIRECTS = 5;

const FOLLOWED: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Rejects with `service.redirect` for targets that must not be followed: another origin unless `elsewhere`
 * allows it, from https to http, not HTTP, a URL with credentials.
 */
function nextHop(
  from: URL,
  status: number,
  location: string | string[] | undefined,
  elsewhere: boolean,
): URL {
  if (!FOLLOWED.includes(status) || typeof location !== 'string' || !URL.canParse(location, from.href)) {
    throw redirectError('to nowhere');
  }
  const to = new URL(location, from);
  if (to.protocol !== 'https:' && to.protocol !== 'http:')
    throw redirectError('to something that is not HTTP');
  if (to.username !== '' || to.password !== '') throw redirectError('to an address with credentials');
  if (from.protocol === 'https:' && to.protocol === 'http:') throw redirectError('from https to plain http');
  if (to.origin !== from.origin && !elsewhere)
    throw redirectError(`to another origin, ${show(to.host, 100)}`);
  to.hash = '';
  return to;
}
