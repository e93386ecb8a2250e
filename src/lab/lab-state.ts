import type { Call } from './calls.ts';
import { FaultTable } from './faults.ts';
import type { Endpoint, Revision } from './http/endpoint.ts';
import type { Tokens } from './http/tokens.ts';
import type { LabInstance } from './instance.ts';
import type { TaskQueue } from './manager/task-queue.ts';

/** Everything the HTTP layer sees. */
export class LabState {
  readonly calls: Call[] = [];
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly engine: string;
  readonly revision: Revision;
  readonly instances: readonly LabInstance[];
  readonly tokens: Tokens;
  readonly faults: FaultTable;
  readonly closing: AbortSignal;
  readonly log: (line: string) => void;
  readonly #queue: TaskQueue;

  constructor(parts: {
    readonly origin: string;
    readonly engine: string;
    readonly revision: Revision;
    readonly instances: readonly LabInstance[];
    readonly tokens: Tokens;
    readonly endpoints: readonly Endpoint[];
    readonly queue: TaskQueue;
    readonly closing: AbortSignal;
    readonly log: (line: string) => void;
  }) {
    this.origin = parts.origin;
    this.engine = parts.engine;
    this.revision = parts.revision;
    this.instances = parts.instances;
    this.tokens = parts.tokens;
    this.faults = new FaultTable(parts.endpoints);
    this.closing = parts.closing;
    this.log = parts.log;
    this.#queue = parts.queue;
  }

  /** Adds a fault; throws `lab.fault` for one that could never happen. */
  fault(fault: unknown): void {
    this.faults.add(fault);
  }

  /** Ends all faults; tasks that one of them holds in the queue go on. */
  clearFaults(): void {
    this.faults.clear();
    this.#queue.release();
  }
}
