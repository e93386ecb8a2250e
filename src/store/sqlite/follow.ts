import type { Entry } from '../journal.ts';

/**
 * How often other processes are looked for, in milliseconds: one pragma that reads a number in shared memory.
 */
const LOOK_EVERY = 150;

/** Entries that are given at once, at most. */
const GROUP = 500;

export interface Followers {
  follow(from: number, signal: AbortSignal): AsyncGenerator<readonly Entry[]>;
  /** This process has appended. */
  wake(): void;
  /** The journal closes: every follower ends. */
  end(): void;
}

/**
 * Tells followers of new entries: those of this process at once, those of others when the database's version,
 * which SQLite counts for each connection, says that somebody else has committed. Timers keep no process
 * alive.
 */
export function createFollowers(
  readLeaves: (from: number, limit: number) => readonly Entry[],
  version: () => unknown,
): Followers {
  const waiting = new Set<() => void>();
  let isOver = false;
  const wake = () => {
    for (const go of [...waiting]) go();
  };

  const change = (seen: unknown, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const go = () => {
        clearInterval(timer);
        signal.removeEventListener('abort', go);
        waiting.delete(go);
        resolve();
      };
      // A look that fails wakes the follower too, which then fails in words.
      const timer = setInterval(() => isSame(version, seen) || go(), LOOK_EVERY).unref();
      signal.addEventListener('abort', go);
      waiting.add(go);
    });

  return {
    async *follow(from, signal) {
      for (let next = from; !signal.aborted && !isOver; ) {
        // Before the entries are read: a commit between the two is found at the next look.
        const seen = version();
        const entries = readLeaves(next, GROUP);
        if (entries.length === 0) await change(seen, signal);
        else {
          next = (entries.at(-1)?.index ?? next) + 1;
          yield entries;
        }
      }
    },
    wake,
    end() {
      isOver = true;
      wake();
    },
  };
}

function isSame(version: () => unknown, seen: unknown): boolean {
  try {
    return version() === seen;
  } catch {
    return false;
  }
}
