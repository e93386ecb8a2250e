import { expect, test } from 'vitest';
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
