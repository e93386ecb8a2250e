import type { Entry } from './journal.ts';

/*
 * What readers of both engines do alike: rows a page at a time, and new entries as they come.
 */

/**
 * Rows in order of a number that each has, a page at a time: `ask` gives those from a number on, at most
 * `most`, and `after` the number from which the next page begins. A page that is not full is the last.
 */
export async function* inPages<Row>(
  from: number,
  most: number,
  ask: (from: number) => Promise<readonly Row[]> | readonly Row[],
  after: (last: Row) => number,
): AsyncGenerator<Row> {
  for (let next = from; ; ) {
    const page = await ask(next);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < most) return;
    next = after(last);
  }
}

/** Entries that a follower is given at once, at most. */
const GROUP = 500;

export interface Followers {
  follow(from: number, signal: AbortSignal): AsyncGenerator<readonly Entry[]>;
  /** This process has appended these, in order of their leaves; none: look at the store. */
  tell(entries?: readonly Entry[]): void;
  /** The journal closes: every follower ends. */
  end(): void;
}

export interface FollowOptions {
  /** Entries from a leaf on. A store that cannot be reached has none: it is waited for. */
  readonly look: (from: number, most: number) => Promise<readonly Entry[]>;
  /** How often that is asked whatever the store tells, in milliseconds. */
  readonly every: number;
  /** Has the store call back when somebody has appended; called before each look. */
  readonly listen?: (wake: () => void) => void;
}

/** One who follows gets what this process appends, and is woken to look at the store. */
interface Follower {
  own: readonly Entry[];
  wake: () => void;
}

/**
 * Tells followers of new entries, by the number of their leaves, so that none is missed: those of this
 * process at once, those of others when the store tells of them or is looked at. No timer keeps a process
 * alive.
 */
export function createFollowers({ look, every, listen }: FollowOptions): Followers {
  const followers = new Set<Follower>();
  let isOver = false;
  const wakeAll = () => {
    for (const { wake } of followers) wake();
  };

  /** Resolves when there may be something new. */
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
          // From before the look: what is committed during it wakes this follower, too.
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
