import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { canonicalBody } from '../../src/store/canonical.ts';
import type { Json } from '../../src/store/journal.ts';
import { createSecretGuard } from '../../src/store/secret-guard.ts';

const KEY = 'p4ss/Wörd "with" +spaces & \\slash';

const refused = (secret: string, body: Json): boolean => {
  const guard = createSecretGuard();
  guard.add(new Secret(secret));
  try {
    guard.check(canonicalBody(body, 'body'), 'the entry');
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'journal.secret' });
    expect(JSON.stringify(error)).not.toContain(secret.slice(0, 6));
    return true;
  }
};

describe('the secret guard', () => {
  test.each<[string, Json]>([
    ['as it is', KEY],
    ['inside a longer text', `Authorization: ${KEY}, sent`],
    ['as a name', { [KEY]: true }],
    ['deep inside', { a: [{ b: [KEY] }] }],
    ['as JSON inside JSON', JSON.stringify({ key: KEY })],
    ['as JSON inside JSON inside JSON', JSON.stringify(JSON.stringify({ key: KEY }))],
    ['in a URL', `https://example.com/?key=${encodeURIComponent(KEY)}`],
    ['in a URL with small digits', encodeURIComponent(KEY).replaceAll(/%../g, (code) => code.toLowerCase())],
    ['in a form', new URLSearchParams({ key: KEY }).toString()],
    ['in hex', Buffer.from(KEY).toString('hex')],
    ['in capital hex', Buffer.from(KEY).toString('hex').toUpperCase()],
    ['in base64', Buffer.from(KEY).toString('base64')],
    ['in base64url', Buffer.from(KEY).toString('base64url')],
    ['in basic authorization', Buffer.from(`user:${KEY}`).toString('base64')],
  ])('finds a secret %s', (_title, body) => {
    expect(refused(KEY, body)).toBe(true);
  });

  test('finds a random key in base64 at any offset, between any neighbours', () => {
    const bytes = fc.uint8Array({ maxLength: 9 });
    const key = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((raw) => Buffer.from(raw).toString('base64url'));
    fc.assert(
      fc.property(bytes, key, bytes, (before, secret, after) => {
        const whole = Buffer.concat([before, Buffer.from(secret), after]);
        expect(refused(secret, whole.toString('base64'))).toBe(true);
        expect(refused(secret, whole.toString('base64url'))).toBe(true);
      }),
    );
  });

  test('accepts everything else, including the fingerprint and half of the key', () => {
    const body = { fingerprint: '0a1b2c3d4e5f', half: KEY.slice(0, KEY.length / 2) };
    expect(refused(KEY, body)).toBe(false);
  });

  test('a short secret counts only as a whole string, so that it cannot silence the journal', () => {
    expect(refused('run', { text: 'the run goes on' })).toBe(false);
    expect(refused('run', { text: 'run' })).toBe(true);
    expect(refused('', { text: '' })).toBe(false);
  });

  test('finds one of a thousand keys as reliably as the only one', () => {
    const guard = createSecretGuard();
    const keys = Array.from({ length: 1_000 }, (_, at) => hash('sha256', `${at}`, 'base64'));
    for (const key of keys) guard.add(new Secret(key));
    const check = (text: string) => () => guard.check(canonicalBody({ text }, 'body'), 'the entry');
    for (const key of [keys[0], keys[499], keys[999]])
      expect(check(`it was ${Buffer.from(key ?? '').toString('hex')}, they say`)).toThrow();
    expect(check(hash('sha256', 'another', 'base64'))).not.toThrow();
  });
});
