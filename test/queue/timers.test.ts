import { describe, expect, test } from 'vitest';
import type { LifeboatError } from '../../src/base/errors.ts';
import { nextTimes } from '../../src/queue/cron.ts';
import { type Clock, createTimers } from '../../src/queue/timers.ts';
import { createWakes } from '../../src/store/reading.ts';
import { until } from '../bench-kit/until.ts';
import { queueContract } from './contract.ts';
import { closing, daily, recorder } from './queue-under-test.ts';

/** A clock that can be put forward; timers run by the real time that is left. */
function movable(start = Date.now()) {
  const real = Date.now();
  let ahead = start - real;
  const waiting = new Set<() => void>();
  const clock: Clock = {
    now: () => Date.now() + ahead,
    later(ms, act) {
      const at = clock.now() + ms;
      const rest = () => Math.max(0, at - clock.now());
      let timer = setTimeout(done, rest());
      function done() {
        waiting.delete(again);
        act();
      }
      function again() {
        clearTimeout(timer);
        if (rest() === 0) done();
        else timer = setTimeout(done, rest());
      }
      waiting.add(again);
      return () => {
        waiting.delete(again);
        clearTimeout(timer);
      };
    },
  };
  const moveTo = (time: Date) => {
    ahead = time.getTime() - Date.now();
    for (const again of [...waiting]) again();
  };
  return { clock, moveTo };
}

function fresh(start?: number) {
  const reports: LifeboatError[] = [];
  const journal = createWakes();
  const { clock, moveTo } = movable(start);
  const queue = closing(createTimers({ journal, clock, report: (error) => reports.push(error) }));
  return { queue, queues: [queue] as const, reports, journal, clock, moveTo };
}

queueContract(
  'the queue of one process',
  () => {
    const under = fresh();
    const passTime = async () => {
      const tomorrow = new Date(under.clock.now() + 86_400_000);
      const [next = tomorrow] = nextTimes(daily(), new Date(under.clock.now()), 1);
      under.moveTo(next);
    };
    return { ...under, passTime };
  },
  10_000,
);

describe('the queue of one process', () => {
  test('receives the wake-ups of its journal, and none after it was stopped', async () => {
    const { queue, journal } = fresh();
    const seen = recorder();
    const work = queue.work(seen.handlers, { concurrency: 1, label: 'test' });
    journal.tell([{ run: 'one' }, { run: 'two', at: new Date(Date.now() + 3_600_000) }]);
    await until(() => seen.ended.length === 1);
    expect(seen.looked).toEqual(['one']);
    expect(await queue.depth()).toMatchObject({ later: 1 });
    await queue.stop(0);
    await work;
    journal.tell([{ run: 'three' }]);
    expect(await queue.depth()).toMatchObject({ ready: 0, later: 1 });
  });

  test('retries a failed look after a while, and reports why it failed', async () => {
    const { queue, reports, clock, moveTo } = fresh();
    let tries = 0;
    const look = async () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
    };
    void queue.work({ look, due: async () => {} }, { concurrency: 1, label: 'test' });
    await queue.wake(['one']);
    await until(() => tries === 1);
    await until(async () => (await queue.depth()).later === 1);
    moveTo(new Date(clock.now() + 15_000));
    await until(() => tries === 2);
    await until(async () => (await queue.depth()).later === 1);
    moveTo(new Date(clock.now() + 30_000));
    await until(() => tries === 3);
    // The same failure is reported at most once a minute.
    expect(reports).toMatchObject([{ code: 'internal', evidence: { error: 'not yet' } }]);
  });

  test('retries a scheduled entry that failed', async () => {
    const { queue, moveTo, clock } = fresh(Date.parse('2026-06-01T00:00:00Z'));
    const times: string[] = [];
    const due = async (_: unknown, { at }: { readonly at: Date }) => {
      times.push(at.toISOString());
      if (times.length === 1) throw new Error('not yet');
    };
    void queue.work({ look: async () => {}, due }, { concurrency: 1, label: 'test' });
    await queue.every([daily()]);
    moveTo(new Date('2026-06-01T00:30:00Z'));
    await until(() => times.length === 1);
    moveTo(new Date(clock.now() + 16_000));
    await until(() => times.length === 2);
    expect(times).toEqual(['2026-06-01T00:30:00.000Z', '2026-06-01T00:30:00.000Z']);
  });

  test.each([
    ['2026-03-27T12:00:00Z', ['03-28T01:30', '03-29T01:30', '03-30T00:30']],
    ['2026-10-23T12:00:00Z', ['10-24T00:30', '10-25T00:30', '10-26T01:30']],
  ])('is due once a day when the clocks change, from %s', async (start, due) => {
    const { queue, moveTo } = fresh(Date.parse(start));
    const seen = recorder();
    await queue.every([daily()]);
    void queue.work(seen.handlers, { concurrency: 1, label: 'test' });
    for (let minutes = 0; minutes < 3 * 24 * 60; minutes += 15) {
      moveTo(new Date(Date.parse(start) + minutes * 60_000));
      await new Promise(setImmediate);
    }
    expect(seen.dues.map(({ at }) => at.toISOString())).toEqual(due.map((time) => `2026-${time}:00.000Z`));
  });
});
