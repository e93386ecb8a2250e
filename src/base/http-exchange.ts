import type { Secret } from './secret.ts';

/** By their names. */
export type HttpHeaders = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/**
 * One request and its answer as they were on the wire, with everything secret that was in them: whoever
 * listens blanks it before it goes anywhere. The token is not among it, only the name of its header.
 */
export interface HttpExchange {
  /** When the request was handed to the network. */
  readonly at: Date;
  readonly method: string;
  readonly url: string;
  /** By their names in lower case; `authorization` without its value. */
  readonly headers: HttpHeaders;
  readonly body: string | undefined;
  /** What was secret in the body. */
  readonly secrets: readonly Secret[];
  /** What must not be seen besides: the token. */
  readonly hidden: readonly Secret[];
  /** `undefined`: no answer. */
  readonly status: number | undefined;
  readonly answerHeaders: HttpHeaders;
  /** Of the answer's body, as far as it came. */
  readonly bytes: number;
  /** Of the same bytes, hex. */
  readonly sha256: string;
  /** The whole body, when it is small and not compressed. */
  readonly answer: string | undefined;
  readonly ms: number;
  /** A code such as `ECONNRESET`, when there was no whole answer. */
  readonly error: string | undefined;
}
