import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { holdToken } from '../../src/service/token-source.ts';

test('a token read for the next call is used by that call, and by no other', async () => {
  let reads = 0;
  const tokens = holdToken(async () => {
    reads += 1;
    return new Secret(`bearer token-number-${reads}`);
  });
  await tokens.ready();
  expect((await tokens.fresh()).value.reveal()).toBe('bearer token-number-1');
  expect((await tokens.fresh()).value.reveal()).toBe('bearer token-number-2');
});

test('a token that cannot be read for the next call fails before that call', async () => {
  const tokens = holdToken(async () => Promise.reject(new Error('not logged in')));
  await expect(tokens.ready()).rejects.toThrow('not logged in');
});
