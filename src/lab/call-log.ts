/** A mutating call that the service carried out, even if its answer was lost. */
export interface Call {
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Method and path below the instance: `POST /backups`. */
  readonly endpoint: string;
  readonly instance: string;
  /** The id that it created or the settings that it changed. A key is `sha256:` and 12 hex digits. */
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

/** How often each call was carried out, by its endpoint. */
export type CallCounts = Readonly<Record<string, number>>;

/** The calls of a long run at ten thousand instances would fill the memory; their counts do not. */
const KEPT = 10_000;

/** What the service has changed: the latest calls whole, and all of them counted. */
export class CallLog {
  #latest: Call[] = [];
  readonly #counts = new Map<string, Map<string, number>>();

  add(call: Call): void {
    this.#latest.push(call);
    // Seldom, because each time moves all that are kept.
    if (this.#latest.length >= 2 * KEPT) this.#latest = this.#latest.slice(-KEPT);
    const counts = this.#counts.get(call.instance) ?? new Map<string, number>();
    counts.set(call.endpoint, (counts.get(call.endpoint) ?? 0) + 1);
    this.#counts.set(call.instance, counts);
  }

  /** The latest ones, oldest first; all of them if they are not more than ten thousand. */
  get latest(): readonly Call[] {
    return this.#latest.slice(-KEPT);
  }

  /** Of each instance that was changed, by its name. */
  get counts(): Readonly<Record<string, CallCounts>> {
    return Object.fromEntries([...this.#counts].map(([name, counts]) => [name, Object.fromEntries(counts)]));
  }

  /** Of one instance. */
  countsOf(name: string): CallCounts {
    return Object.fromEntries(this.#counts.get(name) ?? []);
  }

  /** Of all instances together. */
  get total(): CallCounts {
    const total: Record<string, number> = {};
    for (const counts of this.#counts.values())
      for (const [endpoint, count] of counts) total[endpoint] = (total[endpoint] ?? 0) + count;
    return total;
  }
}
