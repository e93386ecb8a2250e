import { describe, expect, test } from 'vitest';
import { nextTimes } from '../../src/queue/cron.ts';
import { until } from '../bench-kit/until.ts';
import { daily, type FreshQueue, recorder, working } from './queue-under-test.ts';

/**
 * The promises of every queue behind the port (src/queue/queue.ts). `fresh` makes an empty one for each, and
 * `crowd` is how many runs it is given that are due at one moment.
 */
export function queueContract(name: string, fresh: FreshQueue, crowd: number): void {
  describe(`${name} keeps the contract of the queue`, () => {
    test('looks at a run that is woken, whether it was woken before or after the work began', async () => {
      const under = await fresh();
      const seen = recorder();
      await under.queues[0].wake(['one', 'two']);
      working(under, seen);
      await until(() => seen.ended.length === 2);
      await under.queues[0].wake(['three']);
      await until(() => seen.ended.length === 3);
      expect(seen.looked.toSorted()).toEqual(['one', 'three', 'two']);
      expect(under.reports).toEqual([]);
    });

    test('never looks at a run twice at the same time, and loses no wake-up that comes during the look', async () => {
      const under = await fresh();
      const seen = recorder();
      seen.close();
      working(under, seen);
      await under.queues[0].wake(['one']);
      await until(() => seen.looked.length === 1);
      // While it is looked at: another run shows that a worker is free.
      for (const queue of under.queues) await queue.wake(['one']);
      await under.queues[0].wake(['other']);
      await until(() => seen.looked.includes('other'));
      expect(seen.looked.filter((run) => run === 'one')).toHaveLength(1);
      seen.open();
      await until(() => seen.ended.filter((run) => run === 'one').length === 2);
      expect(seen.mostOfOne()).toBe(1);
      expect(under.reports).toEqual([]);
    });

    test('combines many earlier wake-ups of a run into one look', async () => {
      const under = await fresh();
      const seen = recorder();
      const [queue] = under.queues;
      for (let time = 0; time < 20; time += 1) await queue.wake(['one']);
      working(under, seen);
      await until(async () => seen.ended.length > 0 && (await queue.depth()).ready === 0);
      await queue.wake(['other']);
      await until(() => seen.ended.includes('other'));
      expect(seen.looked.filter((run) => run === 'one')).toHaveLength(1);
    });

    test('looks at a run no earlier than its time, and keeps a later time when the run is woken', async () => {
      const under = await fresh();
      const seen = recorder();
      const [queue] = under.queues;
      const at = Date.now() + 1_500;
      await queue.wakeAt('one', new Date(at));
      await queue.wakeAt('one', new Date(Date.now() + 3_600_000));
      await queue.wakeAt('two', new Date(Date.now() + 3_600_000));
      working(under, seen);
      await until(() => seen.ended.includes('one'));
      expect(Date.now()).toBeGreaterThanOrEqual(at);
      await queue.wake(['two']);
      await until(() => seen.ended.includes('two'));
      expect(await queue.depth()).toMatchObject({ ready: 0, later: 2 });
    });

    test('looks at no more runs at the same time than allowed', async () => {
      const under = await fresh();
      const seen = recorder();
      seen.close();
      working(under, seen, 2);
      await under.queues[0].wake(Array.from({ length: 12 }, (_, nr) => `run-${nr}`));
      const all = 2 * under.queues.length;
      await until(() => seen.looked.length === all);
      expect(await under.queues[0].depth()).toMatchObject({ active: all, ready: 12 - all });
      seen.open();
      await until(() => seen.ended.length === 12);
      expect(seen.most()).toBe(all);
    });

    test(`looks at each of ${crowd} runs that are due at one moment, few at a time`, async () => {
      const under = await fresh();
      const seen = recorder();
      const [queue] = under.queues;
      const at = new Date(Date.now() + 500);
      const runs = Array.from({ length: crowd }, (_, nr) => `run-${nr}`);
      for (const run of runs) await queue.wakeAt(run, at);
      working(under, seen, 3);
      await until(() => seen.ended.length === crowd);
      expect(seen.looked.toSorted()).toEqual(runs.toSorted());
      expect(seen.most()).toBeLessThanOrEqual(3 * under.queues.length);
      expect(under.reports).toEqual([]);
    });

    test('stops: it waits for running handlers, and takes nothing more', async () => {
      const under = await fresh();
      const seen = recorder();
      const [queue] = under.queues;
      seen.close();
      const work = queue.work(seen.handlers, { concurrency: 1, label: 'test' });
      await queue.wake(['one', 'two']);
      await until(() => seen.looked.length === 1);
      const stopped = queue.stop(60_000);
      seen.open();
      await stopped;
      await work;
      expect(seen.ended).toHaveLength(1);
      expect(seen.looked).toHaveLength(1);
      expect(seen.aborted).toEqual([]);
    });

    test('stops after a time limit even if a handler does not end, and aborts the signal of the handler', async () => {
      const under = await fresh();
      const seen = recorder();
      seen.close();
      working(under, seen);
      await under.queues[0].wake(['one']);
      await until(() => seen.looked.length === 1);
      await Promise.all(under.queues.map((queue) => queue.stop(1_000)));
      expect(seen.signals[0]?.aborted).toBe(true);
      expect(seen.ended).toEqual([]);
      seen.open();
    });

    test('delivers once, late, what came due while nothing was running, and later entries when they are due', async () => {
      const under = await fresh();
      const seen = recorder();
      const [queue] = under.queues;
      const lastRan = new Date(Date.now() - 5 * 86_400_000);
      for (const each of under.queues) await each.every([daily({ lastRan })]);
      working(under, seen);
      await until(() => seen.dues.length > 0);
      const [late] = seen.dues;
      expect(late).toMatchObject({ name: 'drill orders', what: { plan: 'orders', at: 1 }, late: true });
      // The last of the five.
      const [next] = nextTimes(daily(), new Date(), 1);
      expect(nextTimes(daily(), late?.at ?? new Date(), 1)).toEqual([next]);
      await queue.wake(['one']);
      await until(() => seen.ended.includes('one'));
      expect(seen.dues).toHaveLength(1);
      await under.passTime();
      await until(() => seen.dues.length === 2);
      expect(seen.dues[1]).toMatchObject({ at: next, late: false });
      expect(under.reports).toEqual([]);
    });

    test('delivers nothing of a schedule that was replaced, or that is new', async () => {
      const under = await fresh();
      const seen = recorder();
      const [queue] = under.queues;
      await queue.every([daily(), daily({ name: 'other', cron: '0 4 * * *' })]);
      await queue.every([daily({ what: 'changed' })]);
      working(under, seen);
      await queue.wake(['one']);
      await until(() => seen.ended.includes('one'));
      expect(seen.dues).toEqual([]);
      await under.passTime();
      await until(() => seen.dues.length === 1);
      expect(seen.dues).toMatchObject([{ name: 'drill orders', what: 'changed', late: false }]);
    });

    test('refuses a schedule that cannot be read, and keeps the ones before', async () => {
      const under = await fresh();
      const seen = recorder();
      const [queue] = under.queues;
      await queue.every([daily()]);
      await expect(queue.every([daily({ cron: '99 * * * *' })])).rejects.toMatchObject({
        code: 'queue.schedule',
      });
      working(under, seen);
      await until(async () => (await queue.workers()).length > 0);
      await under.passTime();
      await until(() => seen.dues.length === 1);
    });

    test('shows the workers, and since when they have been working', async () => {
      const under = await fresh();
      const [queue] = under.queues;
      const began = Date.now() - 60_000;
      expect(await queue.workers()).toEqual([]);
      working(under, recorder());
      await until(async () => (await queue.workers()).length === under.queues.length);
      for (const worker of await queue.workers()) {
        expect(worker).toMatchObject({
          pid: process.pid,
          state: 'live',
          label: expect.stringMatching(/^test/u),
        });
        expect(worker.since.getTime()).toBeGreaterThan(began);
        expect(worker.seen.getTime()).toBeGreaterThanOrEqual(worker.since.getTime());
      }
    });
  });
}
