import type { Secret } from './secret.ts';

export type HttpHeaders = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A request and its answer with secrets, which the listener must blank. The token itself is not included. */
export interface HttpExchange {
  /** When the request was passed to the network. */
  readonly at: Date;
  readonly method: string;
  readonly url: string;
  /** By lower-case name; `authorization` without its value. */
  readonly headers: HttpHeaders;
  readonly body: string | undefined;
  readonly secrets: readonly Secret[];
  /** More secrets to hide: the token. */
  readonly hidden: readonly Secret[];
  /** `undefined`: no answer. */
  readonly status: number | undefined;
  readonly answerHeaders: HttpHeaders;
  /** Of the answer's body, as far as received. */
  readonly bytes: number;
  /** Of the same bytes, hex. */
  readonly sha256: string;
  /** The whole body, if it is small and not compressed. */
  readonly answer: string | undefined;
  readonly ms: number;
  /** A code such as `ECONNRESET`, if there was no complete answer. */
  readonly error: string | undefined;
}
