/** A page that was made, and for which size of the log. */
interface Kept<Page> {
  readonly page: Promise<Page>;
  readonly size: number;
  readonly begunMs: number;
  /** How long it took; undefined while it is made. */
  tookMs: number | undefined;
}

/** Milliseconds until a page is made again without a new entry: its times and holders change. */
const REST_MS = 10_000;
/** A page is made again no sooner than this, and no sooner than some times what it took. Milliseconds. */
const SOON_MS = 1_000;
const SHARE = 4;
/** A client that asks for every run must not fill the memory. */
const MAX_PAGES = 64;

/** Makes each page once for all clients, with at most a fifth of a processor. `size` shows new entries. */
export class KeptPages<Page> {
  readonly #kept = new Map<string, Kept<Page>>();
  readonly #size: () => number;
  readonly #now: () => number;

  constructor(size: () => number, now: () => number = () => performance.now()) {
    this.#size = size;
    this.#now = now;
  }

  /** Uses `make` where no page is fresh. Rejects as that does; a failure is not kept. */
  async get(key: string, make: () => Promise<Page>): Promise<Page> {
    const found = this.#kept.get(key);
    if (found !== undefined && this.#isFresh(found)) return found.page;
    const begunMs = this.#now();
    const kept: Kept<Page> = { page: make(), size: this.#size(), begunMs, tookMs: undefined };
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_PAGES && oldest !== undefined) this.#kept.delete(oldest);
    try {
      const page = await kept.page;
      kept.tookMs = this.#now() - begunMs;
      return page;
    } catch (thrown) {
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
      throw thrown;
    }
  }

  #isFresh({ size, begunMs, tookMs }: Kept<Page>): boolean {
    if (tookMs === undefined) return true;
    const age = this.#now() - begunMs;
    if (age < Math.max(SOON_MS, SHARE * tookMs)) return true;
    return size === this.#size() && age < REST_MS;
  }
}
