import type { HttpExchange } from '../../base/http-exchange.ts';

/** A request over HTTP, secrets and all, with where it went. */
export interface HttpCall extends HttpExchange {
  readonly kind: 'service' | 'platform';
  /** The instance it went to, by its name in the config, or `platform`. */
  readonly to: string;
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
