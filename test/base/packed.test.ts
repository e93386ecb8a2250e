import { fstatSync, readdirSync, readlinkSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PackedMap } from '../../src/base/packed.ts';

test('packed values come back as they were, in the order of the names that are asked for', () => {
  const kept = new PackedMap<{ readonly at: Date; readonly why: string | undefined }>();
  const value = (why: string | undefined) => ({ at: new Date('2026-03-01T03:00:00.001Z'), why });
  kept.set('b', value('größer als \u{1f600}'));
  kept.set('a', value(undefined));
  expect(kept.size).toBe(2);
  expect(kept.get('b')).toEqual(value('größer als \u{1f600}'));
  expect(kept.get('c')).toBeUndefined();
  expect([...kept.of(['a', 'c', 'b'])]).toEqual([value(undefined), value('größer als \u{1f600}')]);
});

test('values beyond those that stay in memory come back from a file, changed or not', () => {
  const kept = new PackedMap<{ readonly of: number; readonly at: Date }>(2);
  const value = (of: number) => ({ of, at: new Date(of) });
  const names = Array.from({ length: 500 }, (_, at) => `größer ${at}`);
  for (const [at, name] of names.entries()) kept.set(name, value(at));
  for (const [at, name] of names.entries()) if (at % 3 === 0) kept.set(name, value(-at));
  const expected = names.map((_, at) => value(at % 3 === 0 ? -at : at));
  expect([...kept.of(names)]).toEqual(expected);
  expect(kept.size).toBe(500);
  expect(kept.get('another')).toBeUndefined();
});

test('where no file can be written, all values stay in memory', () => {
  const noFiles = vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
    throw new Error('no space left on device');
  });
  onTestFinished(() => noFiles.mockRestore());
  const kept = new PackedMap<number>(2);
  for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) kept.set(name, at);
  kept.set('c', 7);
  expect([...kept.of(['a', 'b', 'c', 'd'])]).toEqual([0, 1, 7, 3]);
  expect(noFiles).toHaveBeenCalled();
});

test.skipIf(process.platform !== 'linux')('the file has no name, and only its user may read it', () => {
  const before = new Set(nameless());
  const kept = new PackedMap<string>(0);
  for (let at = 0; at < 1_000; at += 1) kept.set(`${at}`, 'x'.repeat(4_000));
  const made = nameless().filter((one) => !before.has(one));
  expect(made).toEqual([expect.stringMatching(/^\d+ 600 .*\(deleted\)$/u)]);
  expect(kept.get('999')).toHaveLength(4_000);
});

/** The open files of this process without a name, each with its mode. */
function nameless(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      const mode = (fstatSync(Number(fd)).mode & 0o777).toString(8);
      return target.endsWith('(deleted)') ? [`${fd} ${mode} ${target}`] : [];
    } catch {
      // Closed since it was listed, as the folder's own descriptor is.
      return [];
    }
  });
}
