import { LifeboatError } from '../../base/errors.ts';
import type { Hold, NewEntry, StreamName } from '../journal.ts';
import { LOG_STREAM } from '../journal.ts';
import { lockStream, type StreamLock } from './stream-lock.ts';

/** The holds of one home that one journal has. */
export interface Holds {
  /** Locks the stream and takes its next token. */
  take(stream: StreamName, since: Date): Hold;
  /** The holds that these entries need, by stream. Throws `journal.unheld` if one is missing. */
  among(entries: readonly NewEntry[], holds: readonly Hold[]): ReadonlyMap<StreamName, Hold>;
  /** Throws `journal.lost-hold` if one of them is lost, according to its lock file. */
  assertHoldsLast(holds: Iterable<Hold>): void;
  /** Checks all holds and marks those that are lost. */
  look(): void;
  releaseAll(): void;
}

/** The private state of a hold: an append with a copy of one, or with one of another home, is rejected. */
interface Held {
  readonly home: string;
  readonly lock: StreamLock;
}

const behind = new WeakMap<Hold, Held>();

/** `assertSameFile` throws if the database itself was replaced (`watchFile`). */
export function createHolds(
  home: string,
  nextToken: (resource: StreamName) => number,
  assertSameFile: () => void,
): Holds {
  const mine = new Set<Hold>();

  const hold = (resource: StreamName, token: number, lock: StreamLock): Hold => {
    const lost = new AbortController();
    const look = () => {
      const why = lost.signal.aborted || !lock.isHeld() ? undefined : whyLost(lock, assertSameFile);
      if (why !== undefined) lost.abort(lostHold(resource, why));
      return lock.isHeld() && !lost.signal.aborted;
    };
    return {
      resource,
      token,
      lost: lost.signal,
      lasts: () => (look() ? Number.POSITIVE_INFINITY : 0),
      async release() {
        lock.release();
      },
    };
  };

  return {
    take(stream, since) {
      const lock = lockStream(home, stream, since);
      try {
        const taken = hold(stream, nextToken(stream), lock);
        behind.set(taken, { home, lock });
        mine.add(taken);
        return taken;
      } catch (error) {
        lock.release();
        throw error;
      }
    },
    among(entries, holds) {
      const live = holds.filter((one) => {
        const its = behind.get(one);
        return its?.home === home && its.lock.isHeld();
      });
      const byStream = new Map(live.map((one) => [one.resource, one]));
      for (const { stream } of entries)
        if (stream !== LOG_STREAM && !byStream.has(stream)) throw unheld(stream);
      return byStream;
    },
    assertHoldsLast(holds) {
      for (const one of holds)
        if (one.lost.aborted || behind.get(one)?.lock.isWhole() === false)
          throw lostHold(one.resource, LOCK_GONE);
    },
    look() {
      for (const one of mine) one.lasts();
    },
    releaseAll() {
      for (const one of mine) behind.get(one)?.lock.release();
      mine.clear();
    },
  };
}

/** The end of a sentence; undefined if the hold still stands. */
function whyLost(lock: StreamLock, assertSameFile: () => void): string | undefined {
  try {
    assertSameFile();
    return lock.isWhole() ? undefined : LOCK_GONE;
  } catch (error) {
    return error instanceof LifeboatError ? error.shortMessage : 'the journal cannot be inspected';
  }
}

function unheld(stream: StreamName): LifeboatError {
  return new LifeboatError('journal.unheld', `${stream} is written without the right to`, {
    hints: ['nothing was written', 'this is a bug in lifeboat: please report it'],
  });
}

const LOCK_GONE = 'its lock was removed or replaced';

function lostHold(resource: StreamName, why: string): LifeboatError {
  return new LifeboatError('journal.lost-hold', `the right to write ${resource} is lost: ${why}`, {
    hints: ['no further step is taken', 'move nothing below LIFEBOAT_HOME while a run is live'],
  });
}
