import { afterEach, expect, test, vi } from 'vitest';
import { starterPlan } from '../../src/plans/starter-plan.ts';
import { surroundingsWith } from './surroundings.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The ending that a first plan gives to targets, with these sources and targets. */
function endingFor(sources: readonly string[], targets: readonly string[]): string | undefined {
  const { instances } = surroundingsWith(1);
  const [source, target] = [instances['db-1'], instances['db-1-dr']];
  if (source === undefined || target === undefined) throw new Error('the surroundings have no db-1');
  const text = starterPlan('first', {
    instances: {
      ...Object.fromEntries(sources.map((name) => [name, source])),
      ...Object.fromEntries(targets.map((name) => [name, target])),
    },
  });
  return /\{name\}(?<ending>[^"\s]*)/u.exec(text ?? '')?.groups?.['ending'];
}

test('a first plan uses the name ending by which most sources find a target', () => {
  expect(endingFor(['a', 'b', 'c'], ['a-west', 'b-dr', 'c-dr'])).toBe('-dr');
});

test('of two equally common endings, it uses the one of the first source', () => {
  expect(endingFor(['b', 'a'], ['a-dr', 'b-west'])).toBe('-west');
  expect(endingFor(['a', 'a-b'], ['a-b-c', 'a-d'])).toBe('-b-c');
});

test('it has no ending without a target that is named like a source', () => {
  expect(endingFor(['a', 'b'], ['x', 'a'])).toBeUndefined();
});

test('its objectives are the strictest of the instances, or usual ones where none names any', () => {
  const { instances } = surroundingsWith(3);
  const [one, two] = [instances['db-1'], instances['db-2']];
  if (one === undefined || two === undefined) throw new Error('the surroundings lack instances');
  const given = {
    ...instances,
    'db-1': { ...one, objectives: { rto: 300_000, rpo: 86_400_000 } },
    'db-2': { ...two, objectives: { rto: 5_400_000 } },
  };
  const objectives = (of: typeof instances) =>
    /objectives:\n {2}rto: (?<rto>\S+)\n {2}rpo: (?<rpo>\S+)/u.exec(
      starterPlan('first', { instances: of }) ?? '',
    )?.groups;
  expect({ ...objectives(given) }).toEqual({ rto: '5m', rpo: '1d' });
  expect({ ...objectives(instances) }).toEqual({ rto: '4h', rpo: '1h' });
});

test('it looks at each name as often with 400 instances as with 100', () => {
  const looksAtEach = (count: number) => {
    const around = surroundingsWith(count);
    const looks = [vi.spyOn(String.prototype, 'startsWith'), vi.spyOn(String.prototype, 'slice')];
    starterPlan('first', around);
    const calls = looks.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    vi.restoreAllMocks();
    return calls / count;
  };
  expect(looksAtEach(400)).toBeLessThan(1.5 * looksAtEach(100));
});
