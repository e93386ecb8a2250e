import type { Dispatcher } from 'undici';
import type { Secret } from '../base/secret.ts';
import type { Route } from './revisions.ts';

/** What the interceptors know about a request besides its bytes. */
export interface CallOptions extends Dispatcher.RequestOptions {
  /** Sent as `Authorization`, only to the instance's own origin. */
  readonly token?: Secret | undefined;
  /** `whole`: collected up to the cap, then passed on. `stream`: a success is passed on as it arrives. */
  readonly answer: 'whole' | 'stream';
  /** Further secrets in the body. */
  readonly secrets?: readonly Secret[] | undefined;
  /** Called for every request that is sent, including repetitions and redirects. */
  readonly onRequest?: (() => void) | undefined;
}

/** Permission to send a call that changes something, and a signal to stop it. */
export interface Leave {
  readonly signal: AbortSignal;
  /**
   * Called synchronously once the connection exists, right before the first byte is written. What it throws
   * is why the call was never sent: then not a byte of it is sent.
   */
  readonly mayLeave: () => void;
}

type Plain = string | number | boolean;

/** A JSON object; a Secret in it becomes text only during serialisation. */
export type SendBody = Readonly<Record<string, Plain | Readonly<Record<string, Plain>> | Secret | undefined>>;

export interface SendCall<T> {
  /** Method, and the documented success statuses: one of them means success whatever the body. */
  readonly route: Route;
  readonly url: string;
  readonly body?: SendBody | undefined;
  /** Uses the session of the reads: sends their cookies and keeps new ones. */
  readonly session?: boolean | undefined;
  /** Harmless to repeat, so its answer need not be awaited to the end. It is still sent once. */
  readonly repeatable?: boolean | undefined;
  /**
   * Extracts the known parts of a success body, undefined if there are none. `clean` blanks echoed secrets.
   */
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
