import { performance } from 'node:perf_hooks';
import { type Dispatcher, interceptors } from 'undici';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CallOptions, Exchange } from './call.ts';
import { errorCode } from './failures.ts';
import type { Limits } from './limits.ts';
import { retryAfterMs } from './pauses.ts';

type Interceptor = Dispatcher.DispatcherComposeInterceptor;
type Handler = Dispatcher.DispatchHandler;

/** Puts the token into requests for `origin` and into no other, whatever a redirect or a bug asks for. */
export function authorise(origin: string): Interceptor {
  return (dispatch) => (options, handler) => {
    const { token, headers } = options as CallOptions;
    if (token === undefined || options.origin !== origin) return dispatch(options, handler);
    return dispatch({ ...options, headers: { ...headers, authorization: token.reveal() } }, handler);
  };
}

/** Applies the limits of the network to every request. */
export function limitTimes(limits: Limits): Interceptor {
  return (dispatch) => (options, handler) => {
    const { answer } = options as CallOptions;
    const headersTimeout = answer === 'stream' ? limits.downloadHeadersMs : limits.headersMs;
    return dispatch({ ...options, headersTimeout, bodyTimeout: limits.bodyMs }, handler);
  };
}

/**
 * Tells `onExchange` about every request at its end, each retry included. What the observer throws is
 * dropped.
 */
export function observe(onExchange: ((exchange: Exchange) => void) | undefined): Interceptor {
  return (dispatch) => (options, handler) => {
    if (onExchange === undefined) return dispatch(options, handler);
    const begun = performance.now();
    let status: number | undefined;
    let requestId: string | undefined;
    const tell = () => {
      // The query of a redirected download can be its password.
      const [path = ''] = options.path.split('?');
      try {
        onExchange({
          method: options.method,
          path: show(path),
          status,
          ms: performance.now() - begun,
          ...(requestId === undefined ? {} : { requestId }),
        });
      } catch {
        // An observer cannot be allowed to decide how a request ends.
      }
    };
    const observer: Handler = {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onResponseStart: (controller, statusCode, headers, message) => {
        if (statusCode >= 200) {
          status = statusCode;
          const id = headers['x-request-id'] ?? headers['x-vcap-request-id'];
          if (typeof id === 'string') requestId = show(id, 100);
        }
        handler.onResponseStart?.(controller, statusCode, headers, message);
      },
      onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
      onResponseEnd: (controller, trailers) => {
        tell();
        handler.onResponseEnd?.(controller, trailers);
      },
      onResponseError: (controller, error) => {
        tell();
        handler.onResponseError?.(controller, error);
      },
    };
    return dispatch(options, observer);
  };
}

const RETRIED_STATUSES: readonly number[] = [429, 500, 502, 503, 504];
const RETRIED_CODES =
  /^(?:ECONNRESET|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETDOWN|ENETUNREACH|EHOSTDOWN|EHOSTUNREACH|ETIMEDOUT|EPIPE|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT)$/u;
/** A connection that a network has forgotten is silent, and the next one need not be. */
const SILENCE = /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/u;
/** So often is silence asked: each time costs half a minute. */
const SILENT_ATTEMPTS = 2;

/**
 * Repeats GET and HEAD after a broken connection or a passing error status, with jitter. It stands outside
 * the interceptor that collects whole answers, so it repeats answers that broke off in the middle too, and
 * never splices two of them.
 */
export function retryReads(limits: Limits): Interceptor {
  return interceptors.retry({
    throwOnError: false,
    retry: (error, { state, opts }, done) => {
      const wait = pauseBefore(error, state.counter, opts as CallOptions, limits);
      if (wait === undefined) return done(error);
      // undici clears the timer when the request is aborted meanwhile.
      return setTimeout(() => done(null), wait) as unknown as undefined;
    },
  });
}

/**
 * Milliseconds to wait before the next attempt; `undefined` when there is none. `failed` counts the attempts
 * so far.
 */
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
