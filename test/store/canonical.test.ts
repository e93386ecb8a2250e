import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ascii, canonicalBody, hashOf, isCanonical, leafText } from '../../src/store/canonical.ts';

const entry = {
  stream: 'run/01JEXAMPLE',
  seq: 1,
  at: '2026-01-02T03:04:05.678Z',
  by: 'Zoë "on call"',
  type: 'answer',
  body: canonicalBody({ reason: 'öffnet nicht \u{1f600}', event: 'SKIP' }, 'body'),
} as const;

test('the hash of an entry is what openssl computes for the bytes that the definition names', () => {
  const text =
    '{"at":"2026-01-02T03:04:05.678Z","body":{"event":"SKIP","reason":"\\u00f6ffnet nicht \\ud83d\\ude00"},' +
    '"by":"Zo\\u00eb \\"on call\\"","seq":1,"stream":"run/01JEXAMPLE","type":"answer"}';
  const sum = execFileSync('openssl', ['dgst', '-sha256', '-r'], { input: `\0${text}` }).toString();
  expect(leafText(entry)).toBe(text);
  expect(hashOf(entry)).toBe(sum.split(' ')[0]);
});

test('an entry with any name in it is one line of printable ASCII, and still the same JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.json({ maxDepth: 3 }), (by, json) => {
      const body: unknown = JSON.parse(json);
      const text = leafText({ ...entry, by, body: canonicalBody(JSON.parse(json), 'body') });
      expect(text).toMatch(/^[\x20-\x7e]*$/u);
      expect(JSON.parse(text)).toEqual({ ...entry, by, body: JSON.parse(JSON.stringify(body)) });
    }),
  );
});

test('canonical text is a fixed point, is independent of the order of names, and no other text counts as canonical', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false, maxDepth: 4 }), (json) => {
      const text = canonicalBody(JSON.parse(json), 'body');
      expect(canonicalBody(JSON.parse(text), 'body')).toBe(text);
      expect(isCanonical(text)).toBe(true);
      expect(isCanonical(` ${text}`)).toBe(false);
      expect(ascii(text)).toBe(text);
      expect(canonicalBody(reversed(JSON.parse(json)), 'body')).toBe(text);
    }),
    // A report of a failure is a text, which shows no cause of an error.
    { includeErrorInReport: true },
  );
});

test.each([
  '{"b":1,"a":2}',
  '{"a":1,"a":1}',
  '1.0',
  '"\\u0061"',
  '[1, 2]',
  '{',
  '',
  '"\ud800"',
  '"é"',
  '"\\u00E9"',
  '"\u007f"',
])('%j is not canonical', (text) => {
  expect(isCanonical(text)).toBe(false);
});

function reversed<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse()) as T;
}
