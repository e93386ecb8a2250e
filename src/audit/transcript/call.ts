import type { Secret } from '../../base/secret.ts';

type Headers = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A request over HTTP as it was on the wire, secrets and all. */
export interface HttpCall {
  readonly kind: 'service' | 'platform';
  /** The instance it went to, by its name in the config, or `platform`. */
  readonly to: string;
  readonly at: Date;
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** What was secret in the body. */
  readonly secrets: readonly Secret[];
  /** What must not be seen besides: the token. */
  readonly hidden: readonly Secret[];
  readonly status: number | undefined;
  readonly answerHeaders: Headers;
  readonly bytes: number;
  readonly sha256: string;
  readonly answer: string | undefined;
  readonly ms: number;
  readonly error: string | undefined;
}

/** A call of a program that acts on the platform. */
export interface ToolCall {
  readonly kind: 'tool';
  readonly at: Date;
  readonly argv: readonly string[];
  readonly exit: number | string | undefined;
  readonly bytes: number;
  readonly ms: number;
}

export type TranscribedCall = HttpCall | ToolCall;
