import { expect, test } from 'vitest';
import { begun, type RunContext } from '../../machines/context.ts';
import { withDuties } from '../../machines/phases/obligations.ts';

type Obligations = RunContext['followUps']['obligations'];

const HAND = { way: 'hand', notes: [], apps: [], keys: [], unseen: [], order: 'replace', foundAt: '' };

function owedWith(duties: object, obligations: Obligations = []) {
  const context = begun({ input: { instance: 'orders' } });
  return withDuties({ ...context, followUps: { ...context.followUps, duties, obligations } as never });
}

const idsOf = (owed: Obligations) => owed.map(({ id }) => id);

test('a platform that could not be asked leaves it owed to find out who is bound, until it could', () => {
  const unasked = owedWith({ ...HAND, unasked: true });
  expect(idsOf(unasked)).toContain('rebind-unknown');
  expect(idsOf(owedWith({ ...HAND, unasked: true }, unasked))).toContain('rebind-unknown');
  expect(idsOf(owedWith(HAND, unasked))).not.toContain('rebind-unknown');
  expect(idsOf(owedWith(HAND))).not.toContain('rebind-unknown');
});
