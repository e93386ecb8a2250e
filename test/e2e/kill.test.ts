import { describe, expect, test } from 'vitest';
import { sweep } from '../crash/sweep.ts';
import { copyProduct } from './product.ts';

/** More of it, and kills at every write to disk, in `npm run test:crash`. */
describe('a rotation whose process is killed', () => {
  test('twenty random instants: never sent twice, no key lost, always proven in the end', async (context) => {
    const product = copyProduct({ cheapVault: true });
    context.onTestFinished(() => product.remove());
    const seed = Date.now() % 1_000_000;
    const { trials } = await sweep(product, { points: 20, seed });
    expect(trials.flatMap(({ point, where, problems }) => problems.map((problem) => ({ seed, point, where, problem })))).toEqual([]);
    expect(trials).toHaveLength(20);
    expect(trials.filter(({ hit }) => hit).length).toBeGreaterThan(5);
  }, 180_000);

  test.for([1, 2])('request %i that changes something: it arrives, it is lost, it arrives late', async (nth, context) => {
    const product = copyProduct({ cheapVault: true });
    context.onTestFinished(() => product.remove());
    const more = (['done', 'dropped', 'late'] as const).map((then) => ({ kind: 'request' as const, nth, then }));
    const { trials } = await sweep(product, { points: 0, seed: 1, more });
    expect(trials.flatMap(({ problems }) => problems)).toEqual([]);
    expect(trials.map(({ hit }) => hit)).toEqual([true, true, true]);
  });
});
