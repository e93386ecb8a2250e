import { format, inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';

const WORD = 'hunter2-hunter2';
const secret = new Secret(WORD);

test('a secret reveals itself only when asked', () => {
  expect(secret.reveal()).toBe(WORD);
  expect(secret.length).toBe(WORD.length);
  expect(secret.equals(new Secret(WORD))).toBe(true);
  expect(secret.equals(new Secret('other'))).toBe(false);
});

test('no usual way of printing reveals a secret', () => {
  const holder = { deep: { secret }, list: [secret] };
  const outputs = [
    `${secret}`,
    String(secret),
    `${secret as unknown as string}x`,
    format('%s %o %O %j', secret, secret, secret, 1),
    inspect(holder, { depth: 10, showHidden: true, getters: true }),
    inspect(secret, { customInspect: false, showHidden: true }),
    inspect(new Error('failed', { cause: secret })),
    [secret, secret].join(),
    Object.entries(secret).join(),
    JSON.stringify(structuredClone({ ...secret })),
  ];
  for (const output of outputs) expect(output).not.toContain(WORD);
  expect(inspect(holder)).toContain('[secret]');
});

test('a secret that reaches a serialiser is an error, not a gap', () => {
  expect(() => JSON.stringify({ key: secret })).toThrow('a secret cannot be serialised');
});
