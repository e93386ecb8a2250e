import type { Entry } from '../journal.ts';
import type { Link } from './link.ts';
import type { Ask } from './log.ts';
import { readLeaves } from './queries.ts';
import { isBroken } from './trouble.ts';

/** How often the store is looked at whatever it tells, in milliseconds: a notification can be lost with its connection. */
const LOOK_EVERY = 1_000;

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
 * Tells followers of new entries, by the number of their leaves, so that none is missed: the store notifies (LISTEN), and is looked at
 * beneath. A store that cannot be reached is waited for. Timers keep no process alive.
 */
export function createFollowers(ask: Ask, listener: Link): Followers {
  const waiting = new Set<() => void>();
  let isOver = false;
  let isListening = false;
  const wake = () => {
    for (const go of [...waiting]) go();
  };
  listener.onBreak(() => {
    isListening = false;
  });

  const listen = async () => {
    if (isListening) return;
    isListening = true;
    try {
      await listener.use(async (session) => {
        session.onNotice(wake);
        await session.query('listen lifeboat');
      });
    } catch {
      isListening = false;
    }
  };

  const change = (signal: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, LOOK_EVERY).unref();
    signal.addEventListener('abort', () => resolve(), { once: true });
    waiting.add(resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      waiting.delete(resolve);
    });
  };

  return {
    async *follow(from, signal) {
      for (let next = from; !signal.aborted && !isOver; ) {
        await listen();
        // From before the look: what is committed during it wakes this follower too.
        const changed = change(signal);
        const entries = await ask((session) => readLeaves(session, next, GROUP)).catch((error: unknown) => {
          if (isBroken(error)) return [];
          throw error;
        });
        if (entries.length === 0) await changed;
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
