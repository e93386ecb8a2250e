import { expect, test } from 'vitest';
import { nothingAsked, oldestOf } from '../../../src/view/fleet/fleet-facts.ts';

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 3, 0, second));

test('the age of an instance is that of its oldest answer, however late the last one came', () => {
  const unasked = nothingAsked({ name: 'orders', role: 'source', objectives: {} });
  expect(oldestOf(unasked)).toBeUndefined();
  const facts = {
    ...unasked,
    overview: { state: 'known', at: at(2), value: { state: 'available' } },
    backups: { state: 'failed', at: at(20), code: 'answer.late', why: 'no answer within 20 s' },
    held: { state: 'known', at: at(50), value: [] },
  } as const;
  expect(oldestOf(facts)).toEqual(at(2));
});
