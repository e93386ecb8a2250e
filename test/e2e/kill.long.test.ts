import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { planOf } from '../crash/plan.ts';
import type { Point } from '../crash/points.ts';
import { sweep } from '../crash/sweep.ts';
import type { Trial } from '../crash/trial.ts';
import { copyProduct } from './product.ts';
import { useHouses } from './scene.ts';

/** Every point of every flow: `npm run test:crash`. */
describe('a run whose process is killed', () => {
  const seed = Date.now() % 1_000_000;
  let rotations: readonly Trial[] = [];
  let others: readonly Trial[] = [];

  beforeAll(async () => {
    const product = copyProduct({ cheapVault: true });
    const wish = { seed, pairs: false, dress: 'headless', alternating: true } as const;
    try {
      const tasks = await planOf(product, { ...wish, flow: 'rotate-key/62', points: Infinity, instants: 20 });
      const chosen = tasks.filter(({ point }) => point.kind === 'instant' || isOfAChange(point));
      rotations = await sweep(product, chosen, seed);
      others = await sweep(product, await planOf(product, { ...wish, points: 24, instants: 0 }), seed);
    } finally {
      product.remove();
    }
  }, 400_000);

  /** With all that is needed to try it again. */
  const those = (is: (trial: Trial) => boolean) =>
    [...rotations, ...others]
      .filter(is)
      .map(({ point, where, problems }) => ({ seed, point, where, problems }));

  test('at twenty random instants and around each change of a rotation: ends as if it had not been', () => {
    expect(rotations.filter(({ point }) => point.kind === 'instant')).toHaveLength(20);
    expect(rotations.filter(({ point, hit }) => isOfAChange(point) && hit)).toHaveLength(12);
    expect(those(({ problems }) => problems.length > 0)).toEqual([]);
  });

  test('at points of every other flow: ends as if it had not been', () => {
    expect(others).toHaveLength(24);
    expect(new Set(others.map(({ scene }) => scene.flow)).size).toBeGreaterThan(5);
    expect(others.filter(({ hit }) => hit).length).toBeGreaterThan(12);
  });

  test('never does anything twice', () => expect(those(({ doubles }) => doubles > 0)).toEqual([]));

  test('never loses a key', () => expect(those(({ lostKeys }) => lostKeys > 0)).toEqual([]));

  test('never forgets what is owed', () =>
    expect(those(({ lostObligations }) => lostObligations > 0)).toEqual([]));
});

function isOfAChange({ kind, what }: Point): boolean {
  return kind === 'request' && / (?:PATCH|POST) /u.test(what);
}

describe('a process that is killed while it makes its journal', () => {
  const house = useHouses();

  test.for([
    { moment: 'before the tables are there', make: makeWithoutTables },
    { moment: 'in the very first write of SQLite', make: makeHalfWritten },
  ])(
    'leaves a home that reads as an empty one, and that the next run uses: $moment',
    async ({ make }, context) => {
      const { home, run, rotate } = await house(context);
      make(join(home, 'lifeboat.db'));
      const runs = await run('runs');
      expect(runs.code, runs.stderr).toBe(0);
      expect(runs.stderr).toContain('there are no runs yet');
      const audit = await run('audit', 'verify');
      expect(audit.stdout).not.toMatch(/^problem/m);
      // Nothing wrong, and no green tick either: there is nothing that could be proven.
      expect(audit.stdout).toContain('there is nothing to verify');
      expect(audit.code).toBe(1);
      const rotation = await rotate();
      expect(rotation.code, rotation.stderr).toBe(0);
    },
  );
});

function makeWithoutTables(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode=WAL');
  database.close();
}

/** A database file with a rollback journal beside it that says: the file was empty before. Only a writer may undo it. */
function makeHalfWritten(path: string): void {
  const other = `${path}-other`;
  const database = new DatabaseSync(other);
  database.exec('PRAGMA cache_size=1; BEGIN; CREATE TABLE wide(text)');
  // More than fits into the cache goes to the file, so the journal has to be on disk before.
  for (let row = 0; row < 50; row += 1) database.exec('INSERT INTO wide VALUES (zeroblob(4000))');
  copyFileSync(other, path);
  copyFileSync(`${other}-journal`, `${path}-journal`);
  database.exec('ROLLBACK');
  database.close();
  rmSync(other);
}
