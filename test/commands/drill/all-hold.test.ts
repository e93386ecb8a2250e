import { expect, test } from 'vitest';
import { allHold } from '../../../src/commands/drill/chapter.ts';

const CHECK = { what: 'orders came back', holds: true };
const TABLE = { name: 'orders', rows: 120, md5: 'a', expected: { rows: 120, md5: 'a' }, equal: true };

test('a chapter holds only if every check holds and every table has the expected rows', () => {
  expect(allHold({ checks: [CHECK], tables: [TABLE] })).toBe(true);
  expect(allHold({ checks: [CHECK, { ...CHECK, holds: false }], tables: [TABLE] })).toBe(false);
  expect(allHold({ checks: [CHECK], tables: [TABLE, { ...TABLE, equal: false }] })).toBe(false);
});

test('a chapter that checked nothing, compared no tables, or compared a table without rows does not hold', () => {
  expect(allHold({ checks: [], tables: [TABLE] })).toBe(false);
  expect(allHold({ checks: [CHECK], tables: [] })).toBe(false);
  const none = { ...TABLE, rows: 0, expected: { rows: 0, md5: 'a' } };
  expect(allHold({ checks: [CHECK], tables: [TABLE, none] })).toBe(false);
});
