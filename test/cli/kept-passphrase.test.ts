import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { askOnlyOnce, keepPassphrase } from '../../src/cli/kept-passphrase.ts';

/** A person who enters these, one after the other; undefined is Ctrl-C. */
function person(...entered: readonly (string | undefined)[]) {
  const left = [...entered];
  let asked = 0;
  const ask = async () => {
    asked += 1;
    const next = left.shift();
    if (next === undefined) throw new Error('nothing was entered');
    return new Secret(next);
  };
  return { ask, asked: () => asked };
}

test('a passphrase is asked for once, even by several callers at the same time', async () => {
  const { ask, asked } = person('first', 'second');
  const kept = keepPassphrase();
  const both = await Promise.all([kept.get(ask), kept.get(ask)]);
  expect([...both, await kept.get(ask)].map((secret) => secret.reveal())).toEqual([
    'first',
    'first',
    'first',
  ]);
  expect(asked()).toBe(1);
});

test('a passphrase that was refused is forgotten, and asked for again', async () => {
  const { ask } = person('wrong', 'right');
  const kept = keepPassphrase();
  await kept.get(ask);
  kept.forget();
  expect((await kept.get(ask)).reveal()).toBe('right');
});

test('asks again after an empty input', async () => {
  const { ask } = person(undefined, 'right');
  const kept = keepPassphrase();
  await expect(kept.get(ask)).rejects.toThrow('nothing was entered');
  expect((await kept.get(ask)).reveal()).toBe('right');
});

test.for([
  { what: 'was not entered', entered: [undefined, 'later'], forget: false },
  { what: 'was refused', entered: ['wrong', 'later'], forget: true },
])('a background reader asks no second time when it $what', async ({ entered, forget }) => {
  const { ask, asked } = person(...entered);
  const kept = keepPassphrase();
  const looking = askOnlyOnce(kept);
  expect([kept, looking].map(({ isUnasked }) => isUnasked)).toEqual([false, true]);
  await looking.get(ask).catch(() => undefined);
  const refusal = new Error('it does not open the vault file');
  if (forget) looking.forget(refusal);
  const why = forget ? refusal : { code: 'keys.no-passphrase' };
  await expect(looking.get(ask)).rejects.toMatchObject(why);
  expect(asked()).toBe(1);
  // What a person asked for asks again, and what looks on has it too.
  await kept.get(ask);
  expect((await looking.get(ask)).reveal()).toBe('later');
});

test('lets a background reader ask again when a person wants to enter it, and repeats the refusal until then', async () => {
  const { ask, asked } = person('wrong', 'right');
  const looking = askOnlyOnce(keepPassphrase());
  await looking.get(ask);
  const refusal = new Error('it does not open the vault file');
  looking.forget(refusal);
  await expect(looking.get(ask)).rejects.toBe(refusal);
  // The refusal is repeated, as any error is.
  looking.forget(refusal);
  expect(asked()).toBe(1);
  looking.askAgain();
  expect((await looking.get(ask)).reveal()).toBe('right');
});
