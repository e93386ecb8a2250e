import type { Dispatcher } from 'undici';
import type { Secret } from '../base/secret.ts';
import type { Route } from './revisions.ts';

/** What the interceptors know about a request besides its bytes. */
export interface CallOptions extends Dispatcher.RequestOptions {
  /** Sent as `Authorization`, to the instance's own origin only. */
  readonly token?: Secret | undefined;
  /** `whole`: collected up to the cap, then handed over. `stream`: a success is handed over as it arrives. */
  readonly answer: 'whole' | 'stream';
  /** What is secret in the body besides. */
  readonly secrets?: readonly Secret[] | undefined;
  /** Called for every request that is sent, each repetition and each redirect included. */
  readonly onRequest?: (() => void) | undefined;
}

/** By what a call that changes something leaves, and is stopped. */
export interface Leave {
  readonly signal: AbortSignal;
  /**
   * Asked synchronously when the connection stands, right before the first byte is written. What it throws is
   * why the call was never sent: not a byte of it leaves then.
   */
  readonly mayLeave: () => void;
}

type Plain = string | number | boolean;

/** A JSON object; a Secret in it becomes text only while it is serialised. */
export type SendBody = Readonly<Record<string, Plain | Readonly<Record<string, Plain>> | Secret | undefined>>;

export interface SendCall<T> {
  /** Method, and the documented statuses of success: one of them stands whatever body comes with it. */
  readonly route: Route;
  readonly url: string;
  readonly body?: SendBody | undefined;
  /** Takes part in the session of the reads: their cookies go along, and new ones are kept. */
  readonly session?: boolean | undefined;
  /** Harmless when made again: its answer need not be waited for to the end. It is sent once all the same. */
  readonly repeatable?: boolean | undefined;
  /** Picks what is known out of a success body, undefined for none. `clean` blanks echoed secrets. */
  readonly read: (json: unknown, clean: (text: string) => string) => T;
  readonly leave?: Leave | undefined;
}

/** What is said with a call that is answered in JSON, and may have a body in JSON. */
export function jsonHeaders(hasBody: boolean): Readonly<Record<string, string>> {
  return {
    accept: 'application/json',
    // Nothing is inflated here, so that a small answer stays small.
    'accept-encoding': 'identity',
    'user-agent': 'lifeboat',
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
  };
}
