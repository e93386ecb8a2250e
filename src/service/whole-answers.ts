import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { CallOptions } from './call.ts';
import { tooLargeError, transportError } from './failures.ts';
import type { Limits } from './limits.ts';

type Controller = Dispatcher.DispatchController;
type Handler = Dispatcher.DispatchHandler;

/**
 * Passes an answer on only when its last byte has arrived: outer interceptors see either a whole answer or an
 * error. The cap protects the process: an endless JSON array ends Node with a fatal error that no `catch`
 * sees. An error body beyond its cap is truncated, since its status suffices.
 *
 * A successful answer to a `stream` call passes through. If it breaks off, the error is final: a download
 * continues only by an explicit offset, because bytes of two encryptions do not fit together.
 */
export function wholeAnswers(limits: Limits): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, new Collector(options as CallOptions, handler, limits));
}

class Collector implements Handler {
  readonly #call: CallOptions;
  readonly #handler: Handler;
  readonly #limits: Limits;
  readonly #body = new Gathered();
  #start:
    | {
        status: number;
        headers: IncomingHttpHeaders;
        message: string | undefined;
      }
    | undefined;
  #streaming = false;
  /** Announced bytes of a streamed body that have not arrived yet. */
  #missing: number | undefined;
  #done = false;

  constructor(call: CallOptions, handler: Handler, limits: Limits) {
    this.#call = call;
    this.#handler = handler;
    this.#limits = limits;
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#handler.onRequestStart?.(
      this.#call.answer === 'stream' ? controller : withoutPauses(controller),
      context,
    );
  }

  onResponseStart(
    controller: Controller,
    status: number,
    headers: IncomingHttpHeaders,
    message?: string,
  ): void {
    if (status < 200) return;
    this.#start = { status, headers, message };
    this.#streaming = this.#call.answer === 'stream' && status < 300;
    if (!this.#streaming) return;
    const length = headers['content-length'];
    if (length !== undefined && headers['transfer-encoding'] === undefined) this.#missing = Number(length);
    this.#handler.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#done) return;
    if (this.#streaming) {
      if (this.#missing !== undefined) this.#missing -= chunk.length;
      this.#handler.onResponseData?.(controller, chunk);
      return;
    }
    const failed = (this.#start?.status ?? 0) >= 300;
    const cap = failed ? this.#limits.errorBytes : this.#limits.jsonBytes;
    if (this.#body.size + chunk.length <= cap) {
      this.#body.add(chunk);
      return;
    }
    if (failed) this.#handOver(controller, {});
    controller.abort(tooLargeError(cap));
  }

  onResponseEnd(controller: Controller, trailers: IncomingHttpHeaders): void {
    if (this.#done) return;
    if (this.#streaming) this.#handler.onResponseEnd?.(controller, trailers);
    else this.#handOver(controller, trailers);
  }

  onResponseError(controller: Controller, error: Error): void {
    if (this.#done) return;
    this.#done = true;
    // undici considers a body truncated if its reader pauses at the last byte and the service then hangs up.
    // By RFC 9112 section 6.3 it is complete with its announced length.
    if (this.#streaming && this.#missing === 0 && !controller.aborted) {
      this.#handler.onResponseEnd?.(controller, {});
      return;
    }
    const { token } = this.#call;
    const final = this.#streaming ? transportError(error, token === undefined ? [] : [token]) : error;
    this.#handler.onResponseError?.(controller, final);
  }

  #handOver(controller: Controller, trailers: IncomingHttpHeaders): void {
    if (this.#start === undefined) return;
    this.#done = true;
    const { status, headers, message } = this.#start;
    const calm = withoutPauses(controller);
    // The length on the wire no longer matters, and a truncated body would contradict it.
    this.#handler.onResponseStart?.(calm, status, { ...headers, 'content-length': undefined }, message);
    for (const chunk of this.#body.blocks()) this.#handler.onResponseData?.(calm, chunk);
    this.#handler.onResponseEnd?.(calm, trailers);
  }
}

/** Everything is already in memory: a pause would only delay the connection's next answer. */
function withoutPauses(controller: Controller): Controller {
  return {
    get aborted() {
      return controller.aborted;
    },
    get reason() {
      return controller.reason;
    },
    paused: false,
    abort: (reason) => controller.abort(reason),
    pause: () => undefined,
    resume: () => undefined,
  };
}

/** Undefined if it breaks off or is larger than `cap`. The status counts without it. */
export async function readCapped(
  body: Dispatcher.ResponseData['body'],
  cap: number,
): Promise<Buffer | undefined> {
  const gathered = new Gathered();
  try {
    for await (const chunk of body) {
      gathered.add(chunk as Buffer);
      if (gathered.size > cap) return undefined;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(gathered.blocks());
}

/** Most answers fit into it. */
const FIRST_BLOCK = 2 * 1024;
const LARGEST_BLOCK = 64 * 1024;

/**
 * Copies bytes into blocks that grow with the answer: one sent in pieces of a few bytes would otherwise take
 * a hundred times its size, and a small one in a large block thirty times.
 */
class Gathered {
  readonly #full: Buffer[] = [];
  #last = Buffer.alloc(0);
  #filled = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(chunk: Uint8Array): void {
    this.#size += chunk.length;
    for (let at = 0; at < chunk.length; ) {
      if (this.#filled === this.#last.length) this.#next();
      const part = chunk.subarray(at, at + this.#last.length - this.#filled);
      this.#last.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
    }
  }

  blocks(): readonly Buffer[] {
    return [...this.#full, this.#last.subarray(0, this.#filled)].filter(({ length }) => length > 0);
  }

  #next(): void {
    if (this.#filled > 0) this.#full.push(this.#last);
    this.#last = Buffer.allocUnsafe(Math.min(LARGEST_BLOCK, Math.max(FIRST_BLOCK, this.#size)));
    this.#filled = 0;
  }
}
