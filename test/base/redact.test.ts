import { expect, test } from 'vitest';
import { redact } from '../../src/base/redact.ts';
import { Secret } from '../../src/base/secret.ts';

const redacted = (text: string, ...secrets: string[]) =>
  redact(
    text,
    secrets.map((secret) => new Secret(secret)),
  );

test('every occurrence of a secret is blanked', () => {
  expect(redacted('a k1-key b k1-keyk1-key', 'k1-key')).toBe('a [secret] b [secret][secret]');
});

test('a secret is found escaped for JSON and for a URL', () => {
  expect(redacted('{"k":"a\\"b\\\\c"}', 'a"b\\c')).toBe('{"k":"[secret]"}');
  expect(redacted('?k=a%20b%2Fc', 'a b/c')).toBe('?k=[secret]');
});

test('a token is found with and without its scheme word', () => {
  expect(redacted('bearer abc.def and abc.def', 'bearer abc.def')).toBe('[secret] and [secret]');
});

test('a secret that is the beginning of another leaves no rest of the longer one', () => {
  expect(redacted('key-123456', 'key-123', 'key-123456')).toBe('[secret]');
});

test('characters with a meaning in patterns are treated as plain characters', () => {
  expect(redacted('x.*+?^$&{}()|[]\\/x', '.*+?^$&{}()|[]\\/')).toBe('x[secret]x');
  expect(redacted('nothing', '.*')).toBe('nothing');
});

test('an empty secret blanks nothing', () => {
  expect(redacted('text', '')).toBe('text');
});

test('text in the form of a credential is blanked even if it is not registered', () => {
  expect(redact('Authorization: Bearer 0123456789abcdefghij!')).toBe('Authorization: Bearer [secret]!');
  expect(redact('got eyJhbGciOiJSUzI1.eyJzdWIi.sig-nature_1 back')).toBe('got [secret] back');
  expect(redact('https://user:pa:ss@host/x and //me@h')).toBe('https://[secret]@host/x and //[secret]@h');
});

test('ordinary words are not blanked', () => {
  for (const text of ['bearer of bad news', 'basic authentication required', 'mail a@b.example', 'a//b']) {
    expect(redact(text)).toBe(text);
  }
});

test('a token between points and dashes is found, as a whole', () => {
  const jwt = 'eyJhbGciOiJSUzI1.eyJzdWIi.sig-nature_1';
  expect(redact(`some.name.${jwt}`)).toBe('some.name.[secret]');
  expect(redact(`x-token-${jwt}.more`)).toBe('x-token-[secret].more');
  expect(redact(`${jwt} ${jwt}`)).toBe('[secret] [secret]');
  expect(redact('eyJhbGciOiJSUzI1.eyJzdWIi')).toBe('[secret]');
  expect(redact('eyJ.eyJ.eyJ and eyJhbGciOiJSUzI1')).toBe('eyJ.eyJ.eyJ and eyJhbGciOiJSUzI1');
});

test('hostile text does not slow the search down: the time grows only with its length', () => {
  const pieces = ['-eyJ', 'eyJa.', '.eyJaaaaaaaa', 'bearer ', '//', '//a', 'eyJ-eyJ.-'];
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(2 ** 21 / piece.length));
    const began = performance.now();
    redact(text);
    // In quadratic time, two million characters would take an hour.
    expect(performance.now() - began, piece).toBeLessThan(60_000);
  }
});
