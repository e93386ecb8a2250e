import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { timeLimit } from '../../src/base/time-limit.ts';
import { until } from '../bench-kit/until.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('a limit that has passed aborts with a TimeoutError, and what was made of it as well', async () => {
  const limit = timeLimit(5);
  const either = AbortSignal.any([new AbortController().signal, limit]);
  await until(() => either.aborted);
  expect([limit.reason, either.reason]).toEqual([limit.reason, limit.reason]);
  expect(limit.reason).toMatchObject({ name: 'TimeoutError' });
});

/** How many of the signals that `make` gives are still in memory once everything was collected. */
async function keptOf(make: (closing: AbortSignal) => AbortSignal): Promise<number> {
  const closing = new AbortController();
  const kept = Array.from({ length: 100 }, () => {
    const either = make(closing.signal);
    AbortSignal.any([either, new AbortController().signal]);
    return new WeakRef(either);
  });
  for (let round = 0; round < 5; round += 1) {
    await delay(10);
    collect();
  }
  return kept.filter((one) => one.deref() !== undefined).length;
}

test('a signal that is made of it, and is part of another, does not stay in memory', async () => {
  expect(await keptOf((closing) => AbortSignal.any([closing, timeLimit(60_000)]))).toBeLessThan(5);
});
