import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { holdToken } from '../../src/service/token-cache.ts';

test('a token that was read for the next call is that of the next call, and of no other', async () => {
  let reads = 0;
  const tokens = holdToken(async () => {
    reads += 1;
    return new Secret(`bearer token-number-${reads}`);
  });
  await tokens.ready();
  expect((await tokens.fresh()).value.reveal()).toBe('bearer token-number-1');
  expect((await tokens.fresh()).value.reveal()).toBe('bearer token-number-2');
});

test('a token that cannot be read for the next call is missed before that call', async () => {
  const tokens = holdToken(async () => Promise.reject(new Error('not logged in')));
  await expect(tokens.ready()).rejects.toThrow('not logged in');
});
