import { LifeboatError } from '../../src/base/errors.ts';
import type { Hold, Journal } from '../../src/store/journal.ts';

/** A journal whose holds last as long as the test says, like leases of a remote database. */
export interface Leased {
  readonly journal: Journal;
  /** From now on each of them lasts this many milliseconds; `Infinity` at first. */
  last(ms: number): void;
  /** Any of them may have passed to another process. */
  lose(): void;
}

export function leased(journal: Journal): Leased {
  const behind = new Map<Hold, Hold>();
  const lost = new AbortController();
  let lastsMs = Number.POSITIVE_INFINITY;
  return {
    journal: {
      ...journal,
      hold: async (stream) => {
        const real = await journal.hold(stream);
        const { resource, token } = real;
        const lease = {
          resource,
          token,
          lost: lost.signal,
          lasts: () => lastsMs,
          release: () => real.release(),
        };
        behind.set(lease, real);
        return lease;
      },
      append: async (entries, holds) => {
        lost.signal.throwIfAborted();
        return journal.append(
          entries,
          holds.map((hold) => behind.get(hold) ?? hold),
        );
      },
    },
    last(ms) {
      lastsMs = ms;
    },
    lose() {
      lastsMs = 0;
      lost.abort(new LifeboatError('journal.lost-hold', 'the lease was not renewed in time'));
    },
  };
}
