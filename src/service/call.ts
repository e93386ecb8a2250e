import type { Dispatcher } from 'undici';
import type { Secret } from '../base/secret.ts';
import type { Route } from './revisions.ts';

/** For the interceptors, besides the bytes of the request. */
export interface CallOptions extends Dispatcher.RequestOptions {
  /** Sent as `Authorization`, only to the instance's own origin. */
  readonly token?: Secret | undefined;
  /** `whole`: collected up to the cap, then passed on. `stream`: a success is passed on as it arrives. */
  readonly answer: 'whole' | 'stream';
  /** Secrets in the body. */
  readonly secrets?: readonly Secret[] | undefined;
  /** For every request that is sent, including repetitions and redirects. */
  readonly onRequest?: (() => void) | undefined;
}

/** For a call that changes something. */
export interface Leave {
  readonly signal: AbortSignal;
  /**
   * Called synchronously once the connection exists, right before the first byte. If it throws, not a byte is
   * sent, and the error is the reason.
   */
  readonly mayLeave: () => void;
}

type Plain = string | number | boolean;

/** A JSON object; a Secret in it becomes text only during serialisation. */
export type SendBody = Readonly<Record<string, Plain | Readonly<Record<string, Plain>> | Secret | undefined>>;

export interface SendCall<T> {
  /** Has the documented success statuses: one of them means success whatever the body. */
  readonly route: Route;
  readonly url: string;
  readonly body?: SendBody | undefined;
  /** Sends the cookies of the reads and keeps new ones. */
  readonly session?: boolean | undefined;
  /** Harmless to repeat, so its answer need not be awaited to the end. Still sent once. */
  readonly repeatable?: boolean | undefined;
  /** The known parts of a success body, or undefined. `clean` blanks echoed secrets. */
  readonly read: (json: unknown, clean: (text: string) => string) => T;
  readonly leave?: Leave | undefined;
}

export function jsonHeaders(hasBody: boolean): Readonly<Record<string, string>> {
  return {
    accept: 'application/json',
    // Nothing is decompressed here, so that a small answer stays small.
    'accept-encoding': 'identity',
    'user-agent': 'lifeboat',
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
  };
}
