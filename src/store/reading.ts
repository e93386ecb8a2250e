import type { Entry, JournalReader, ProjectedRow, RowQuery, Wake } from './journal.ts';

/* What both engines share: reading rows page by page, following new entries, and telling of wake-ups. */

/**
 * Rows in an order: `ask` returns those from a place in it, such as a number, and `after` the place where the
 * next page begins. A page of fewer than `most` rows is the last.
 */
export async function* inPages<Row, Place = number>(
  from: Place,
  most: number,
  ask: (from: Place) => Promise<readonly Row[]> | readonly Row[],
  after: (last: Row) => Place,
): AsyncGenerator<Row> {
  for (let next = from; ; ) {
    const page = await ask(next);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < most) return;
    next = after(last);
  }
}

/** Rows of a projection one by one, for a reader that keeps little of each of tens of thousands. */
export async function* eachRow(
  journal: Pick<JournalReader, 'rows'>,
  name: string,
  { limit, after, ...query }: RowQuery,
): AsyncGenerator<ProjectedRow> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  const ask = (from: RowQuery['after']) => journal.rows(name, { ...query, after: from, limit: ROWS });
  for await (const row of inPages<ProjectedRow, RowQuery['after']>(after, ROWS, ask, (last) => last)) {
    yield row;
    left -= 1;
    // Before the next page is asked for.
    if (left <= 0) return;
  }
}

const ROWS = 500;

/** Entries per group, at most. */
const GROUP = 500;

export interface Followers {
  follow(from: number, signal: AbortSignal): AsyncGenerator<readonly Entry[]>;
  /** Appended by this process, in leaf order; without entries: read the store. */
  tell(entries?: readonly Entry[]): void;
  /** The journal closes: ends all followers. */
  end(): void;
}

export interface FollowOptions {
  /** From a leaf. None while the store cannot be reached, so that followers wait. */
  readonly look: (from: number, most: number) => Promise<readonly Entry[]>;
  /** How often to read regardless of notifications. Milliseconds. */
  readonly every: number;
  /** Lets the store call back after others append; called before each read. */
  readonly listen?: (wake: () => void) => void;
}

/** Gets this process's appends directly, and is woken to read the store. */
interface Follower {
  own: readonly Entry[];
  wake: () => void;
}

/**
 * Follows by leaf number, so that no entry is missed: those of this process at once, others when the store
 * notifies or is read. Its timers keep no process alive.
 */
export function createFollowers({ look, every, listen }: FollowOptions): Followers {
  const followers = new Set<Follower>();
  let isOver = false;
  const wakeAll = () => {
    for (const { wake } of followers) wake();
  };

  const change = (follower: Follower, signal: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', go);
      resolve();
    };
    const timer = setTimeout(go, every).unref();
    signal.addEventListener('abort', go);
    follower.wake = go;
    return { promise, go };
  };

  return {
    async *follow(from, signal) {
      const follower: Follower = { own: [], wake: () => undefined };
      followers.add(follower);
      try {
        let looking: Promise<readonly Entry[]> | undefined;
        for (let next = from; !signal.aborted && !isOver; ) {
          const own = follower.own;
          follower.own = [];
          if (own[0]?.index === next) {
            next += own.length;
            yield own;
            continue;
          }
          listen?.(wakeAll);
          // Before the read, so that a commit during it wakes this follower too.
          const changed = change(follower, signal);
          looking ??= look(next, GROUP);
          looking.catch(() => undefined);
          const looked = await Promise.race([looking, changed.promise]);
          if (looked) looking = undefined;
          if (looked?.length === 0 && follower.own.length === 0) await changed.promise;
          changed.go();
          const found = looked?.filter(({ index }) => index >= next) ?? [];
          next = (found.at(-1)?.index ?? next - 1) + 1;
          if (found.length > 0) yield found;
        }
      } finally {
        followers.delete(follower);
      }
    },
    tell(entries = []) {
      for (const follower of followers) {
        if (follower.own.length === 0) follower.own = entries;
        follower.wake();
      }
    },
    end() {
      isOver = true;
      wakeAll();
    },
  };
}

/** In this process, once the append is durable. */
export function createWakes() {
  const listeners = new Set<(wakes: readonly Wake[]) => void>();
  return {
    tell(wakes: readonly Wake[]): void {
      if (wakes.length > 0) for (const listener of listeners) listener(wakes);
    },
    onWake(listener: (wakes: readonly Wake[]) => void): () => void {
      // A new function for each call, so that ending one ends no other.
      const mine = (wakes: readonly Wake[]) => listener(wakes);
      listeners.add(mine);
      return () => void listeners.delete(mine);
    },
  };
}
