import { expect, test } from 'vitest';
import { type Readings, steadyClock } from '../../../src/store/postgres/steady-clock.ts';

const HOUR = 3_600_000;

/** A machine whose clocks are read at a true time, after it has slept for some of it. */
function machine(firstMs: number) {
  const now = { ms: firstMs, slept: 0 };
  const read = (): Readings => ({ even: now.ms - now.slept, sinceBoot: Math.floor(now.ms / 10) * 10 });
  return { now, clock: steadyClock(read) };
}

test('the clock never shows less time than has passed, at whatever step of the sleep counter it is read', () => {
  for (let first = 0; first < 10; first += 1)
    for (let before = 0; before < 30; before += 1)
      for (let after = 0; after < 30; after += 1) {
        const { now, clock } = machine(first);
        now.ms += before;
        const asked = clock();
        now.ms += after;
        expect(clock() - asked).toBeGreaterThanOrEqual(after);
      }
});

test('the sleep of the machine is counted, and never as shorter than it was', () => {
  for (let first = 0; first < 10; first += 1)
    for (let slept = HOUR; slept < HOUR + 30; slept += 1) {
      const { now, clock } = machine(first);
      const asked = clock();
      now.ms += slept + 5;
      now.slept += slept;
      expect(clock() - asked).toBeGreaterThanOrEqual(slept + 5);
      expect(clock() - asked).toBeLessThanOrEqual(slept + 5 + 20);
    }
});
