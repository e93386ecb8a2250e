import { expect, test } from 'vitest';
import { pairing } from '../../../src/compose/survey.ts';
import { type InstanceFacts, nothingAsked } from '../../../src/view/fleet/fleet-facts.ts';

const TARGETS: Readonly<Record<string, string>> = { orders: 'spare', bills: 'spare', users: 'orders' };

/** What is passed on after each of these has answered: the instance, and its target. */
async function passed(
  names: readonly string[],
  order: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const all: string[][] = [];
  const answered = ({ name, target }: InstanceFacts) =>
    void all.at(-1)?.push(target === undefined ? name : `${name} -> ${target.name}`);
  const heard = pairing(names, (name) => TARGETS[name], answered);
  for (const name of order) {
    all.push([]);
    await heard(nothingAsked({ name, role: 'source', objectives: {} }));
  }
  return all;
}

test('an instance is passed on as soon as its target has answered, whichever answers first', async () => {
  expect(await passed(['orders', 'bills', 'spare'], ['orders', 'spare', 'bills'])).toEqual([
    [],
    ['spare', 'orders -> spare'],
    ['bills -> spare'],
  ]);
});

test('a target that was not requested is not passed on, and one with a target of its own counts as both', async () => {
  expect(await passed(['users', 'orders'], ['orders', 'users', 'spare'])).toEqual([
    [],
    ['users -> orders'],
    ['orders -> spare'],
  ]);
});
