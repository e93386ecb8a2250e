import type { Entry } from '../journal.ts';
import type { Link } from './link.ts';
import type { Ask } from './log.ts';
import { readLeaves } from './queries.ts';
import { isBroken } from './trouble.ts';

/**
 * How often the store is looked at whatever it tells, in milliseconds: a notification can be lost with its
 * connection.
 */
const LOOK_EVERY = 1_000;

/** Entries that are given at once, at most. */
const GROUP = 500;

export interface Followers {
  follow(from: number, signal: AbortSignal): AsyncGenerator<readonly Entry[]>;
  /** This process has appended these, in order of their leaves. */
  tell(entries: readonly Entry[]): void;
  /** The journal closes: every follower ends. */
  end(): void;
}

/**
 * One who follows: what this process has appended is put before him, and he is woken to look at the store.
 */
interface Follower {
  own: readonly Entry[];
  wake: () => void;
}

/**
 * Tells followers of new entries, by the number of their leaves, so that none is missed: the store notifies
 * (LISTEN), and is looked at beneath. A store that cannot be reached is waited for. Timers keep no process
 * alive.
 */
export function createFollowers(ask: Ask, listener: Link): Followers {
  const followers = new Set<Follower>();
  let isOver = false;
  let isListening = false;
  const wakeAll = () => {
    for (const { wake } of followers) wake();
  };
  listener.onBreak(() => {
    isListening = false;
  });

  const listen = async () => {
    if (isListening) return;
    isListening = true;
    try {
      await listener.use(async (session) => {
        session.onNotice(wakeAll);
        await session.query('listen lifeboat');
      });
      // What was committed before it listened.
      wakeAll();
    } catch {
      isListening = false;
    }
  };

  /** Resolves when there may be something new. */
  const change = (follower: Follower, signal: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', go);
      resolve();
    };
    const timer = setTimeout(go, LOOK_EVERY).unref();
    signal.addEventListener('abort', go);
    follower.wake = go;
    return { promise, go };
  };

  const look = async (next: number): Promise<readonly Entry[]> => {
    try {
      return await ask((session) => readLeaves(session, next, GROUP));
    } catch (error) {
      if (isBroken(error)) return [];
      throw error;
    }
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
          void listen();
          // From before the look: what is committed during it wakes this follower, too.
          const changed = change(follower, signal);
          looking ??= look(next);
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
    tell(entries) {
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
