import { randomUUID } from 'node:crypto';
import { CfError } from './cf-error.ts';

export type JobState = 'PROCESSING' | 'POLLING' | 'COMPLETE' | 'FAILED';

export interface Job {
  readonly guid: string;
  /** `service_bindings.create` */
  readonly operation: string;
  readonly resource: { readonly type: string; readonly guid: string };
  readonly state: JobState;
  readonly errors: readonly CfError[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Resolves when the job has ended, successfully or not. */
  readonly ended: Promise<void>;
}

/**
 * Work that continues after the answer. A job is `PROCESSING`, `POLLING` while the broker works, then ended.
 */
export class Jobs {
  readonly #now: () => Date;
  readonly #log: (line: string) => void;
  readonly #jobs = new Map<string, Job>();

  constructor(now: () => Date, log: (line: string) => void) {
    this.#now = now;
    this.#log = log;
  }

  find(guid: string): Job | undefined {
    return this.#jobs.get(guid);
  }

  /** Starts work that continues after the answer; its error becomes the job's error. */
  start(operation: string, resource: Job['resource'], work: () => Promise<void>): Job {
    const createdAt = this.#now();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const job = { guid: randomUUID(), operation, resource, createdAt, ended };
    const put = (state: JobState, errors: readonly CfError[] = []) => {
      const next: Job = { ...job, state, errors, updatedAt: this.#now() };
      this.#jobs.set(job.guid, next);
      return next;
    };
    setImmediate(() => {
      put('POLLING');
      void work()
        .then(
          () => void put('COMPLETE'),
          (error: unknown) => void put('FAILED', [this.#cfErrorOf(error)]),
        )
        .then(resolve);
    });
    return put('PROCESSING');
  }

  #cfErrorOf(error: unknown): CfError {
    if (error instanceof CfError) return error;
    this.#log(`a job of the platform failed unexpectedly: ${String(error)}`);
    return new CfError(500, 10_001, 'UnknownError', 'An unknown error occurred.');
  }
}
