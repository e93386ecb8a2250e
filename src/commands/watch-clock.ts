import { uptime } from 'node:os';

/** A clock that is kept right by small steps is not told of. */
const LEAST_SECONDS = 5;

/**
 * Watches the wall clock of this machine from now on. What is given tells by how many whole seconds it has moved ahead of the time that has
 * passed since this was last told, less than zero for back, and 0 for less than five either way. The time that passed is that since the
 * machine was started, which nobody can set and which goes on while it sleeps; where the system does not tell that, the time of this process,
 * for which a sleep looks as if the clock had been set ahead.
 */
export function watchClock(now: () => number = Date.now, passed: () => number = secondsPassed): () => number {
  let lead = now() / 1000 - passed();
  return () => {
    const moved = Math.round(now() / 1000 - passed() - lead);
    if (Math.abs(moved) < LEAST_SECONDS) return 0;
    lead += moved;
    return moved;
  };
}

function secondsPassed(): number {
  try {
    return uptime();
  } catch {
    return performance.now() / 1000;
  }
}
