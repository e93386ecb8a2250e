import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

describe('a process that is killed while it creates its journal', () => {
  const bench = useQuickBenches();

  test.for([
    { moment: 'before the tables are there', make: makeWithoutTables },
    { moment: 'in the very first write of SQLite', make: makeHalfWritten },
  ])('leaves a home that reads as empty, and that the next run uses: $moment', async ({ make }, context) => {
    const { home, run, rotate } = await bench(context);
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
  });
});

function makeWithoutTables(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode=WAL');
  database.close();
}

/**
 * A database file with a rollback journal beside it that says: the file was empty before. Only a writer may
 * undo it.
 */
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
