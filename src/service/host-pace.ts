import { retryAfterMs } from './limits.ts';

/** The pause for a host that answers 429 without a time. Milliseconds. */
const UNSAID_MS = 5_000;
/** The longest pause by one answer. Milliseconds. */
const MAX_MS = 10 * 60_000;

interface Answered {
  readonly url: string;
  readonly status: number | undefined;
  readonly answerHeaders: Readonly<Record<string, unknown>>;
}

/**
 * The pauses that hosts have asked for: by 429, or by 503 with `Retry-After` (RFC 6585 section 4, RFC 9110
 * section 10.2.3). An answer counts for all instances of its host, in all runs of the process. In memory
 * only: a new process learns it from its first answer.
 */
export class HostPace {
  readonly #until = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  hear({ url, status, answerHeaders }: Answered): void {
    if (status !== 429 && status !== 503) return;
    const asked = retryAfterMs(answerHeaders['retry-after']) ?? (status === 429 ? UNSAID_MS : undefined);
    if (asked === undefined) return;
    const { origin } = new URL(url);
    const until = this.#now() + Math.min(asked, MAX_MS);
    this.#until.set(origin, Math.max(until, this.#until.get(origin) ?? 0));
  }

  /** Milliseconds; 0 if the host of this address may be asked now. */
  waitMs(url: string): number {
    const { origin } = new URL(url);
    const left = (this.#until.get(origin) ?? 0) - this.#now();
    if (left > 0) return left;
    this.#until.delete(origin);
    return 0;
  }
}
