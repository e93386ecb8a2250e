import type { Readable } from 'node:stream';
import type { Call } from '../calls.ts';
import type { FaultTarget } from '../faults.ts';
import type { LabInstance } from '../instance.ts';
import type { Fate } from '../manager/task-queue.ts';

export type Revision = 61 | 62;

/** Which of the three error bodies an endpoint uses (service-api.md section 7). */
export type ErrorStyle = 'v1' | 'v1-download' | 'v0';

export interface Request {
  readonly instance: LabInstance;
  readonly revision: Revision;
  /** Scheme, host and port of the lab. */
  readonly origin: string;
  readonly params: Readonly<Record<string, string>>;
  readonly range: string | undefined;
  /** How a fault wants the started task to end. */
  readonly fate: Fate | undefined;
  /** The parsed body; `undefined` when it is not JSON. */
  readonly body: unknown;
  /** Notes a change of the service in its ledger, at the moment it happens. */
  record(detail: Call['detail']): void;
}

export interface JsonReply {
  readonly kind: 'json';
  readonly status: number;
  readonly json: unknown;
}

export interface FileReply {
  readonly kind: 'file';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly size: number;
  /** The bytes from 0 up to before `end`. */
  open(end: number): Readable;
}

export type Reply = JsonReply | FileReply;

/** One endpoint of the service: data for the router, the fault table and the ledger, and the work itself. */
export interface Endpoint extends FaultTarget {
  /** What stands before `/:instance_id`. */
  readonly base: '/v1/instances' | '/service-instances';
  readonly errors: ErrorStyle;
  /** Absent: both. */
  readonly revision?: Revision;
  carryOut(request: Request): Reply;
}

export function jsonReply(status: number, json: unknown): JsonReply {
  return { kind: 'json', status, json };
}

/** An answer that says no. `word` is the camel-case word of V1; the others have no place for it. */
export class Refusal extends Error {
  readonly status: number;
  readonly word: string;

  constructor(status: number, word: string, description: string) {
    super(description);
    this.status = status;
    this.word = word;
  }
}

/** The body of a refusal in the style of its endpoint. */
export function refusalBody({ status, word, message }: Refusal, style: ErrorStyle): Record<string, unknown> {
  if (style === 'v0') return { msg: message };
  if (style === 'v1-download') return { message, status };
  return { error: word, description: message };
}
