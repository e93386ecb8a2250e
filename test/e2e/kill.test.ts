import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { sweep } from '../crash/sweep.ts';
import type { Trial } from '../crash/trial.ts';
import { copyProduct } from './product.ts';
import { useHouses } from './scene.ts';

/** More instants, and a kill at every write to disk: `npm run test:crash`. */
describe('a rotation whose process is killed', () => {
  const seed = Date.now() % 1_000_000;
  const requests = [1, 2].flatMap((nth) =>
    (['done', 'dropped', 'late'] as const).map((then) => ({ kind: 'request' as const, nth, then })),
  );
  let trials: readonly Trial[] = [];

  beforeAll(async () => {
    const product = copyProduct({ cheapVault: true });
    try {
      ({ trials } = await sweep(product, { points: 20, seed, more: requests }));
    } finally {
      product.remove();
    }
  }, 180_000);

  /** With all that is needed to try it again. */
  const those = (is: (trial: Trial) => boolean) => trials.filter(is).map((trial) => ({ seed, ...trial }));

  test('at twenty random instants and at each change: is proven in the end, and keeps every promise', () => {
    expect(trials).toHaveLength(26);
    expect(those(({ problems }) => problems.length > 0)).toEqual([]);
  });

  test('never sends anything twice', () => expect(those(({ doubled }) => doubled)).toEqual([]));

  test('never loses a key', () => expect(those(({ lostKey }) => lostKey)).toEqual([]));

  test('while a change is under way: it arrived, it was lost, it arrives late', () => {
    const changes = trials.filter(({ point }) => point.kind === 'request');
    expect(changes.map(({ hit }) => hit)).toEqual(requests.map(() => true));
    expect(trials.filter(({ hit }) => hit).length).toBeGreaterThan(10);
  });
});

describe('a process that is killed while it makes its journal', () => {
  const house = useHouses();

  test('leaves a home that reads as an empty one, and that the next run uses', async (context) => {
    const { home, run, rotate } = await house(context);
    // What there is on disk between the first write of SQLite and the commit that makes the tables.
    const halfMade = new DatabaseSync(join(home, 'lifeboat.db'));
    halfMade.exec('PRAGMA journal_mode=WAL');
    halfMade.close();
    const runs = await run('runs');
    expect(runs.code, runs.stderr).toBe(0);
    expect(runs.stderr).toContain('there are no runs yet');
    const audit = await run('audit', 'verify');
    expect(audit.stdout).not.toMatch(/^problem/m);
    const rotation = await rotate();
    expect(rotation.code, rotation.stderr).toBe(0);
  });
});
