import type { Json } from './call.ts';
import type { Land } from './capi-land.ts';

/** A request of an authorised caller. */
export interface CapiRequest {
  readonly land: Land;
  readonly origin: string;
  readonly method: string;
  /** What follows `/v3/`. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Json;
  readonly retrievable: boolean;
  readonly auditForbidden: boolean;
  /** What the job or the task that this begins ends with: words of a failure. */
  readonly fails: string | undefined;
  readonly reason: string | undefined;
  readonly maxBindings: number;
  readonly hasDeployments: boolean;
  /** The token may look, and change nothing. */
  readonly isReadOnly: boolean;
  /** Does something after a while, when the answer is long gone. */
  later(work: () => void): void;
}

export interface CapiAnswer {
  readonly status: number;
  readonly json?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** A secret that no reader should see. */
  readonly isSecret?: boolean;
}

/** The body of every error of the v3 API. */
export function refusal(status: number, code: number, title: string, ...details: string[]): CapiAnswer {
  return { status, json: { errors: details.map((detail) => ({ code, title, detail })) } };
}

/** The one answer for everything that cannot be done as it is asked. */
export function unprocessable(...details: string[]): CapiAnswer {
  return refusal(422, 10_008, 'CF-UnprocessableEntity', ...details);
}
