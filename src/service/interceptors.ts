import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { type Dispatcher, interceptors } from 'undici';
import { LifeboatError } from '../base/errors.ts';
import type { HttpExchange, HttpHeaders } from '../base/http-exchange.ts';
import { Secret } from '../base/secret.ts';
import type { CallOptions } from './call.ts';
import { errorCode } from './failures.ts';
import type { HostPace } from './host-pace.ts';
import { type Limits, retryAfterMs } from './limits.ts';

type Interceptor = Dispatcher.DispatcherComposeInterceptor;
type Handler = Dispatcher.DispatchHandler;

/** To `origin` and to no others, whatever a redirect or a bug requests. */
export function authorise(origin: string): Interceptor {
  return (dispatch) => (options, handler) => {
    const { token, headers } = options as CallOptions;
    if (token === undefined || options.origin !== origin) return dispatch(options, handler);
    return dispatch({ ...options, headers: { ...headers, authorization: token.reveal() } }, handler);
  };
}

/** Reports every request to its call; nearer to the network than the retries. */
export function countRequests(): Interceptor {
  return (dispatch) => (options, handler) => {
    (options as CallOptions).onRequest?.();
    return dispatch(options, handler);
  };
}

export function limitTimes(limits: Limits): Interceptor {
  return (dispatch) => (options, handler) => {
    const { answer } = options as CallOptions;
    const headersTimeout = answer === 'stream' ? limits.downloadHeadersMs : limits.headersMs;
    return dispatch({ ...options, headersTimeout, bodyTimeout: limits.bodyMs }, handler);
  };
}

const RETRIED_STATUSES: readonly number[] = [429, 500, 502, 503, 504];
const RETRIED_CODES =
  /^(?:ECONNRESET|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETDOWN|ENETUNREACH|EHOSTDOWN|EHOSTUNREACH|ETIMEDOUT|EPIPE|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT)$/u;
/** A connection that the network dropped stays silent, but a new one may work. */
const SILENCE = /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/u;
/** Each silent attempt takes half a minute. */
const SILENT_ATTEMPTS = 2;

/**
 * Repeats GET and HEAD after a broken connection or a temporary error status, with jitter. It is outside the
 * interceptor that collects whole answers, so it also repeats answers that broke off in the middle, and never
 * splices two of them.
 */
export function retryReads(limits: Limits): Interceptor {
  return interceptors.retry({
    throwOnError: false,
    retry: (error, { state, opts }, done) => {
      const wait = pauseBefore(error, state.counter, opts as CallOptions, limits);
      if (wait === undefined) return done(error);
      // undici clears the timer if the request is aborted in the meantime.
      return setTimeout(() => done(null), wait) as unknown as undefined;
    },
  });
}

/** Milliseconds; undefined for no further attempt. `failed` counts the attempts so far. */
function pauseBefore(
  error: Error,
  failed: number,
  { method, answer }: CallOptions,
  limits: Limits,
): number | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (error instanceof LifeboatError || failed >= limits.attempts) return undefined;
  const { statusCode, headers } = error as {
    statusCode?: number;
    headers?: Record<string, unknown>;
  };
  const code = errorCode(error);
  const isSilence = SILENCE.test(code) && answer === 'whole' && failed < SILENT_ATTEMPTS;
  if (
    statusCode === undefined
      ? !isSilence && !RETRIED_CODES.test(code)
      : !RETRIED_STATUSES.includes(statusCode)
  ) {
    return undefined;
  }
  const asked = retryAfterMs(headers?.['retry-after']);
  if (asked !== undefined && asked > limits.retryAfterMs) return undefined;
  const pause = limits.retryBaseMs * 2 ** (failed - 1) * (0.5 + Math.random());
  return Math.max(asked ?? 0, pause);
}

/** Reads of many runs that wait for one moment are spread over these milliseconds after it. */
const SPREAD_MS = 1_000;

/**
 * Holds a GET or HEAD back while its host asks for a pause, but no longer than a retry would wait. It is
 * nearer to the network than the retries. A mutating call is never held back: its record says that it is on
 * its way.
 */
export function keepPace(pace: HostPace | undefined, limits: Limits): Interceptor {
  return (dispatch) => (options, handler) => {
    const isRead = options.method === 'GET' || options.method === 'HEAD';
    const wait = isRead ? (pace?.waitMs(String(options.origin)) ?? 0) : 0;
    if (wait === 0) return dispatch(options, handler);
    // The caller's signal ends the call for the caller at once; undici sees it at dispatch.
    setTimeout(
      () => dispatch(options, handler),
      Math.min(wait, limits.retryAfterMs) + Math.random() * SPREAD_MS,
    );
    return true;
  };
}

/** At the end of every request, including retries. Its errors are ignored. */
export type Tap = (heard: HttpExchange) => void;

/** Of larger answers only size and hash are kept. */
const KEPT_BYTES = 64 * 1024;

/** Nearer to the network than the collecting and retrying interceptors. */
export function listen(tap: Tap | undefined): Interceptor {
  return (dispatch) => (options, handler) =>
    tap === undefined ? dispatch(options, handler) : dispatch(options, new Listener(options, handler, tap));
}

class Listener implements Handler {
  readonly #call: CallOptions;
  readonly #handler: Handler;
  readonly #tap: Tap;
  readonly #at = new Date();
  readonly #begun = performance.now();
  readonly #digest = createHash('sha256');
  #kept: Buffer[] | undefined = [];
  #bytes = 0;
  #status: number | undefined;
  #headers: HttpHeaders = {};
  #reported = false;

  constructor(options: Dispatcher.DispatchOptions, handler: Handler, tap: Tap) {
    this.#call = options as CallOptions;
    this.#handler = handler;
    this.#tap = tap;
  }

  onRequestStart(...[controller, context]: Parameters<NonNullable<Handler['onRequestStart']>>): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(...start: Parameters<NonNullable<Handler['onResponseStart']>>): void {
    const [, status, headers] = start;
    if (status >= 200) {
      this.#status = status;
      this.#headers = headers;
    }
    this.#handler.onResponseStart?.(...start);
  }

  onResponseData(...data: Parameters<NonNullable<Handler['onResponseData']>>): void {
    const [, chunk] = data;
    this.#bytes += chunk.length;
    this.#digest.update(chunk);
    if (this.#bytes > KEPT_BYTES) this.#kept = undefined;
    // The chunk belongs to the parser, which may reuse its memory.
    this.#kept?.push(Buffer.from(chunk));
    this.#handler.onResponseData?.(...data);
  }

  onResponseEnd(...end: Parameters<NonNullable<Handler['onResponseEnd']>>): void {
    this.#tell(undefined);
    this.#handler.onResponseEnd?.(...end);
  }

  onResponseError(...failed: Parameters<NonNullable<Handler['onResponseError']>>): void {
    const [, error] = failed;
    this.#tell(errorCode(error) || 'broken off');
    this.#handler.onResponseError?.(...failed);
  }

  #tell(error: string | undefined): void {
    if (this.#reported) return;
    this.#reported = true;
    const { method, origin, path, headers, body, token, secrets = [] } = this.#call;
    try {
      this.#tap({
        at: this.#at,
        method,
        url: `${String(origin)}${path}`,
        headers: { ...named(headers), ...(token === undefined ? {} : { authorization: '' }) },
        body: typeof body === 'string' ? body : undefined,
        secrets,
        hidden: formsOf(token),
        status: this.#status,
        answerHeaders: this.#headers,
        bytes: this.#bytes,
        sha256: this.#digest.digest('hex'),
        answer: this.#kept === undefined ? undefined : Buffer.concat(this.#kept).toString('utf8'),
        ms: performance.now() - this.#begun,
        error,
      });
    } catch {
      // A listener must not influence how a request ends.
    }
  }
}

/** As sent, and without its scheme word. */
function formsOf(token: Secret | undefined): readonly Secret[] {
  if (token === undefined) return [];
  const [, bare] = /^\S+\s+(\S.*)$/u.exec(token.reveal()) ?? [];
  return bare === undefined ? [token] : [token, new Secret(bare)];
}

/** Requests of this client have their headers in an object. */
function named(headers: CallOptions['headers']): HttpHeaders {
  if (headers === null || headers === undefined || Array.isArray(headers)) return {};
  return Symbol.iterator in headers ? {} : headers;
}
