import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newKey, openLedger, summary, testEngine, testInstance } from './helpers.ts';

const { engine } = await testEngine();

/** Every file below a folder, with its content. */
async function filesOf(folder: string): Promise<{ name: string; bytes: Buffer }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return await Promise.all(
    files.map(async ({ parentPath, name }) => ({ name, bytes: await readFile(join(parentPath, name)) })),
  );
}

test('archived log is encrypted, none stays in plain text, and the key may change in between', async () => {
  const { data, folder, setKey, backUp, open } = await testInstance(engine);
  await openLedger(data);
  await backUp('one');
  const marker = 'MARKER-of-a-customer';
  const ends: Date[] = [];
  for (let id = 1; id <= 6; id += 1) {
    if (id === 3) setKey(newKey());
    await data.query('insert into ledger values ($1, $2)', [id, `${marker} ${id}`]);
    const range = await data.range();
    if (range === undefined) throw new Error('there is no range');
    ends.push(range.end);
  }
  const archived = await filesOf(folder);
  expect(archived.length).toBeGreaterThanOrEqual(6);
  for (const { name, bytes } of archived) {
    expect(name).toMatch(/^[0-9A-F]{24}\.gz\.enc$/);
    expect(bytes.subarray(0, 8).toString()).toBe('Salted__');
    expect(bytes.includes(marker)).toBe(false);
  }
  // The log of the running server holds the marker, so a search would have found it.
  const live = await filesOf(join(data.dataFolder, 'pg_wal'));
  expect(live.some(({ bytes }) => bytes.includes(marker))).toBe(true);

  for (const [index, end] of [...ends.entries()].reverse()) {
    await data.restoreTo(end, open);
    expect(await summary(data)).toEqual({ rows: index + 1, last: index + 1 });
    const beside = (await readdir(data.socketFolder)).filter((name) => !name.startsWith('data-'));
    expect(beside).not.toContain('replay');
    for (const name of beside.filter((candidate) => candidate.startsWith('spool-'))) {
      // What a server has handed over this very moment is not stored yet.
      await expect.poll(() => readdir(join(data.socketFolder, name))).toEqual([]);
    }
  }
});

test('log older than the oldest kept backup is deleted with the backup that needed it', async () => {
  const { data, folder, backUp, open } = await testInstance(engine);
  await openLedger(data);
  const segments = async () => (await filesOf(folder)).map(({ name }) => name).sort();
  await backUp('one');
  for (let id = 1; id <= 5; id += 1) {
    await data.query("insert into ledger values ($1, 'row')", [id]);
    await data.range();
  }
  await backUp('two');
  const range = await data.range();
  const before = await segments();
  await data.forgetBackup('one');
  const after = await segments();
  expect(before.length - after.length).toBeGreaterThanOrEqual(5);
  expect(before.slice(-after.length)).toEqual(after);
  expect((await data.range())?.start.getTime()).toBeGreaterThan(range?.start.getTime() ?? 0);
  await data.restoreTo(range?.end ?? new Date(0), open);
  expect(await summary(data)).toEqual({ rows: 5, last: 5 });
});

test('a restore with damaged log fails, and the instance is unchanged', async () => {
  const { data, folder, setKey, backUp, open } = await testInstance(engine);
  await openLedger(data);
  await backUp('one');
  setKey(newKey());
  await data.query("insert into ledger values (1, 'row')");
  const range = await data.range();
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.enc')).sort();
  await writeFile(join(folder, names.at(-1) ?? ''), 'not what was written');
  await expect(data.restoreTo(range?.end ?? new Date(0), open)).rejects.toThrow();
  expect(await summary(data)).toEqual({ rows: 1, last: 1 });
  await rm(join(folder, names.at(-1) ?? ''));
  await expect(data.restoreTo(range?.end ?? new Date(0), open)).rejects.toThrow();
  expect(await summary(data)).toEqual({ rows: 1, last: 1 });
});
