import { expect, test } from 'vitest';
import type { RecoveryContext } from '../../machines/recovery/context.ts';
import { withDuties } from '../../machines/recovery/obligations.ts';

const HAND = { way: 'hand', notes: [], apps: [], keys: [], unseen: [], order: 'replace', foundAt: '' };

function owedWith(duties: object, obligations: RecoveryContext['obligations'] = []) {
  const context = { instance: 'orders', duties, restore: {}, obligations } as unknown as RecoveryContext;
  return withDuties(context).obligations ?? [];
}

const idsOf = (owed: RecoveryContext['obligations']) => owed.map(({ id }) => id);

test('a platform that could not be asked leaves it owed to find out who is bound, until it could', () => {
  const unasked = owedWith({ ...HAND, unasked: true });
  expect(idsOf(unasked)).toContain('rebind-unknown');
  expect(idsOf(owedWith({ ...HAND, unasked: true }, unasked))).toContain('rebind-unknown');
  expect(idsOf(owedWith(HAND, unasked))).not.toContain('rebind-unknown');
  expect(idsOf(owedWith(HAND))).not.toContain('rebind-unknown');
});
