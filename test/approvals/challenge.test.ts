import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Challenge,
  challengeId,
  challengeText,
  type Plan,
  parseChallenge,
  planHash,
} from '../../src/approvals/challenge.ts';

const CHALLENGE: Challenge = {
  order: 'restore backup 3 into orders',
  run: '01JD0000000000000000000000',
  runbook: 'restore-backup 1',
  mode: 'LIVE',
  instance: 'orders',
  target: 'orders',
  url: 'https://dashboard.example.com/service-instances/4a1f',
  state: 'confirming',
  entry: '41',
  requester: 'robin@example.com',
  asked: '2026-11-21T03:00:00.000Z',
  expires: '2026-11-21T04:00:00.000Z',
  plan: 'ab'.repeat(32),
  prompt: "type the instance's name to restore backup 3 into orders",
  facts: ['state: running', 'backups: 3, of them 3 done'],
  overrides: [],
  calls: ['POST /backups/:id/restore on orders: one restore of the chosen backup'],
};

describe('a challenge', () => {
  test('is text that a person can read, and is read back unchanged', () => {
    const text = challengeText(CHALLENGE);
    expect(text).toMatch(/^[\x20-\x7e\n]+\n$/);
    expect(text).toContain('\norder: restore backup 3 into orders\n');
    expect(parseChallenge(text)).toEqual(CHALLENGE);
  });

  test('whatever its fields contain, it stays printable ASCII with one field a line', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 600 }), { maxLength: 80 }),
        fc.string({ unit: 'binary', maxLength: 600 }),
        (facts, words) => {
          const text = challengeText({ ...CHALLENGE, facts, order: words, prompt: `a\nplan: ${words}` });
          expect(text).toMatch(/^[\x20-\x7e\n]+\n$/);
          expect(text.match(/^plan: /gm)).toHaveLength(1);
          expect(challengeText(parseChallenge(text))).toBe(text);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('one changed, added or lost character makes it a different or invalid challenge', () => {
    const text = challengeText(CHALLENGE);
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom('', '\u001b', '\n', 'x', ' ', '\u00a0'),
        (at, put) => {
          const other = `${text.slice(0, at)}${put}${text.slice(at + 1)}`;
          fc.pre(other !== text);
          expect(challengeId(other)).not.toBe(challengeId(text));
          const read = (() => {
            try {
              return parseChallenge(other);
            } catch {
              return undefined;
            }
          })();
          if (read !== undefined) expect(read).not.toEqual(CHALLENGE);
        },
      ),
    );
  });

  test('nothing can be hidden behind what is shown', () => {
    const text = challengeText(CHALLENGE);
    for (const other of [
      `${text}\n`,
      text.slice(0, -1),
      `${text}order: drop it\n`,
      text.replace('mode: LIVE', 'mode: LIVE\nmode: REHEARSAL'),
      text.replace('expires: 2026', 'expires: never 2026'),
      text.replace('fact: state', 'fact:  state'),
      text.replaceAll('\n', '\r\n'),
    ])
      expect(() => parseChallenge(other), other).toThrow('not an approval request');
  });
});

describe('the hash of a plan', () => {
  const { entry: _, asked: __, expires: ___, plan: ____, requester: _____, ...rest } = CHALLENGE;
  const plan: Plan = { ...rest, version: '1', event: 'operator.confirm' };

  test('differs whenever anything on which the order depends differs', () => {
    const others: Plan[] = [
      ...Object.keys(rest)
        .filter((name) => typeof plan[name as keyof Plan] === 'string')
        .map((name) => ({ ...plan, [name]: 'another' })),
      { ...plan, facts: ['state: failed', 'backups: 3, of them 3 done'] },
      { ...plan, facts: [...plan.facts].reverse() },
      { ...plan, overrides: ['target: it is not empty'] },
      { ...plan, calls: [] },
    ];
    const hashes = [plan, ...others].map(planHash);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(planHash({ ...plan })).toBe(hashes[0]);
  });
});
