import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalBody, isCanonical } from '../../src/store/canonical.ts';
import { hashEntry, type Row, verifyChain } from '../../src/store/chain.ts';
import { ZERO_HASH } from '../../src/store/journal.ts';

const first = {
  stream: 'run/01JEXAMPLE',
  seq: 1,
  at: '2026-01-02T03:04:05.678Z',
  by: 'Zoë "on call"',
  type: 'answer',
  body: '{"event":"SKIP","reason":"öffnet nicht"}',
  prev: ZERO_HASH,
} as const;

test('the hash of an entry is what openssl gives for the bytes that the definition names', () => {
  const bytes =
    `${'0'.repeat(64)}\n["run/01JEXAMPLE",1,"2026-01-02T03:04:05.678Z","Zoë \\"on call\\"","answer",` +
    '{"event":"SKIP","reason":"öffnet nicht"}]';
  const sum = execFileSync('openssl', ['dgst', '-sha256', '-r'], { input: bytes }).toString();
  expect(hashEntry(first)).toBe(sum.split(' ')[0]);
});

test('an empty chain is sound and its head is zeros', () => {
  expect(verifyChain([])).toEqual({ entries: 0, head: { seq: 0, hash: ZERO_HASH }, problems: [] });
});

const chain = (length: number): Row[] => {
  const rows: Row[] = [];
  for (let seq = 1; seq <= length; seq += 1) {
    const row = { ...first, seq, body: `{"number":${seq}}`, prev: rows.at(-1)?.hash ?? ZERO_HASH };
    rows.push({ ...row, hash: hashEntry(row) });
  }
  return rows;
};

test('one changed entry gives findings for that entry only, so that a reader sees where it was changed', () => {
  const rows = chain(9);
  const forged = rows.map((row) => (row.seq === 4 ? { ...row, body: '{"number":5}' } : row));
  expect(verifyChain(forged).problems).toEqual([
    { seq: 4, code: 'chain.hash', shortMessage: 'entry 4 was changed: its content does not give its hash' },
  ]);
});

test('an entry that was changed and hashed again is betrayed by the one behind it', () => {
  const rows = chain(9).map((row) => {
    if (row.seq !== 4) return row;
    const changed = { ...row, body: '{"number":5}' };
    return { ...changed, hash: hashEntry(changed) };
  });
  expect(verifyChain(rows).problems).toMatchObject([{ seq: 5, code: 'chain.prev' }]);
});

test('every removal but at the end, every swap, repeat and foreign entry is found', () => {
  const rows = chain(8);
  const broken: Row[][] = [];
  for (let i = 0; i < rows.length; i += 1) {
    if (i < rows.length - 1) broken.push(rows.toSpliced(i, 1));
    broken.push(rows.toSpliced(i, 0, rows[i] as Row));
    for (let j = i + 1; j < rows.length; j += 1)
      broken.push(rows.with(i, rows[j] as Row).with(j, rows[i] as Row));
  }
  for (const rowsNow of broken) expect(verifyChain(rowsNow).problems).not.toEqual([]);
  expect(broken).toHaveLength(7 + 8 + 28);
});

test('canonical text is a fixed point, does not depend on the order of names, and is all that counts as canonical', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false, maxDepth: 4 }), (json) => {
      const text = canonicalBody(JSON.parse(json), 'body');
      expect(canonicalBody(JSON.parse(text), 'body')).toBe(text);
      expect(isCanonical(text)).toBe(true);
      expect(isCanonical(` ${text}`)).toBe(false);
      expect(canonicalBody(reversed(JSON.parse(json)), 'body')).toBe(text);
    }),
  );
});

test.each(['{"b":1,"a":2}', '{"a":1,"a":1}', '1.0', '"\\u0061"', '[1, 2]', '{', '', '"\ud800"'])(
  '%j is not canonical',
  (text) => {
    expect(isCanonical(text)).toBe(false);
  },
);

function reversed<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse()) as T;
}
