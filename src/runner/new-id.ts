import { ulid } from 'ulid';
import { LifeboatError } from '../base/errors.ts';

/**
 * An id that sorts by the time at which it was made. Throws `clock.unusable` while this machine's clock
 * stands before 1970, where such ids have no beginning.
 */
export function newId(now: number = Date.now()): string {
  if (now >= 0) return ulid(now);
  throw new LifeboatError('clock.unusable', 'the clock of this machine is set before 1970', {
    hints: ['nothing was begun: set the clock, then try again'],
  });
}
