import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Dispatcher } from 'undici';
import type { HttpExchange, HttpHeaders } from '../base/http-exchange.ts';
import { Secret } from '../base/secret.ts';
import type { CallOptions } from './call.ts';
import { errorCode } from './failures.ts';

type Interceptor = Dispatcher.DispatcherComposeInterceptor;
type Handler = Dispatcher.DispatchHandler;

/** Called for every request at its end, each retry included. What it throws is dropped. */
export type Tap = (heard: HttpExchange) => void;

/** Of larger answers only size and hash are kept. */
const KEPT_BYTES = 64 * 1024;

/** Lets `tap` hear every request. Stands nearer to the wire than what collects or repeats. */
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
    // The chunk belongs to the parser, which may use its memory again.
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
      // A listener cannot be allowed to decide how a request ends.
    }
  }
}

/** The token as it is sent, and without the word before it. */
function formsOf(token: Secret | undefined): readonly Secret[] {
  if (token === undefined) return [];
  const [, bare] = /^\S+\s+(\S.*)$/u.exec(token.reveal()) ?? [];
  return bare === undefined ? [token] : [token, new Secret(bare)];
}

/** Requests of this client name their headers in an object. */
function named(headers: CallOptions['headers']): HttpHeaders {
  if (headers === null || headers === undefined || Array.isArray(headers)) return {};
  return Symbol.iterator in headers ? {} : headers;
}
