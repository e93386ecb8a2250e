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
