import { describe, expect, test } from 'vitest';
import { generateReceiptKey } from '../../src/keys/keyring.ts';
import { keyEntry, keyHash, receiptEntry } from '../../src/receipts/log-entries.ts';
import { receiptPublicKey } from '../../src/receipts/sigstore-bundle.ts';
import type { NewEntry } from '../../src/store/journal.ts';
import { auditShow, entrySentences } from '../../src/store/sentence.ts';
import { rotation } from '../report/rotation.ts';
import { freshSigner } from '../store/fresh-signer.ts';

test('every entry of a run is one sentence that a person understands', () => {
  expect(auditShow(rotation).map(({ text }) => text)).toEqual([
    'Ada started rotate-key 1.0.0 on orders, LIVE',
    'next: Make the new key',
    'began to keys.generate',
    'resumed by process 4242',
    'noted what orders shows before the request to backup.create',
    'sending the request to backup.create to orders',
    'what became of the request to backup.create is not known: no answer within 30 s',
    'the service shows that the request to backup.create arrived',
    'paused for new credentials: the token was refused',
    'decided: Skip the negative test, because: the old key <b>is gone</b> | really',
    'left: SIGHUP',
    'closed, proven: key rotated, with deviations: negative test',
  ]);
});

test('a line names who, when and where, with a short hash', () => {
  expect(auditShow(rotation.slice(0, 1))).toEqual([
    {
      stream: 'run/01J',
      seq: 1,
      at: '2026-01-02T03:00:00.000Z',
      by: 'ada',
      type: 'run.started',
      text: 'Ada started rotate-key 1.0.0 on orders, LIVE',
      hash: rotation[0]?.hash.slice(0, 12),
    },
  ]);
});

test('a fact about a key is a sentence, and an unknown type is shown with its fields', () => {
  expect(entrySentences()({ type: 'key.proven', body: { fingerprint: '0a1b', backup: { id: 7 } } })).toEqual({
    text: 'key 0a1b is proven by backup 7',
    tone: 'good',
  });
  expect(entrySentences()({ type: 'future', body: { count: 2, at: null } }).text).toBe(
    'future count 2, at null',
  );
  expect(entrySentences()({ type: 'future', body: [1] }).text).toBe('future [1]');
});

test('a receipt and what vouches for its key are sentences that name the same key', () => {
  const key = receiptPublicKey(generateReceiptKey());
  const of = { sha256: '0a1b2c3d4e5f'.padEnd(64, '0'), key: keyHash(key) };
  const by = `, SHA-256 0a1b2c3d4e5f, by receipt key ${of.key.slice(0, 12)}`;
  const said = (entry: NewEntry) => entrySentences()(entry);
  expect(said(receiptEntry({ run: '01A', result: 'WARNED', ...of }))).toEqual({
    text: `receipt of run 01A: WARNED${by}`,
    tone: 'warn',
  });
  expect(said(receiptEntry({ evaluation: '*', properties: ['LIFEBOAT_PROVEN'], ...of })).text).toBe(
    `receipt of all evaluations: LIFEBOAT_PROVEN${by}`,
  );
  expect(said(receiptEntry({ evaluation: 'plan.west', properties: [], ...of })).text).toBe(
    `receipt of the evaluation of plan.west: no property holds${by}`,
  );
  expect(said(keyEntry(key, 'lifeboat/0123456789abcdef', freshSigner())).text).toBe(
    `vouched for receipt key ${of.key.slice(0, 12)}`,
  );
});

test('no byte of an entry can act on a terminal', () => {
  const hostile = 'x\u001b]0;title\u0007\u009b2J\u202e\n'.repeat(99);
  const entry = { ...rotation[0], by: hostile, type: hostile, at: hostile, body: { [hostile]: hostile } };
  const [line] = auditShow([entry as (typeof rotation)[number]]);
  expect(Object.values(line ?? {}).join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
  expect(line?.text.length).toBeLessThanOrEqual(300);
});

describe('the run of a plan', () => {
  const said = (type: string, event: object) =>
    entrySentences()({ type: 'event', body: { event: { type, ...event }, to: 'groups.data=running' } }).text;

  test.each([
    ['wave.begun', { group: 'data', wave: 2 }, 'group data: wave 2 begins'],
    [
      'group.held',
      { group: 'data', why: 'failed', lanes: ['b'] },
      'group data: it waits for a person: b failed',
    ],
    [
      'group.held',
      { group: 'data', why: 'promotion', lanes: [] },
      'group data: waits until a person lets the next wave begin',
    ],
    ['group.ended', { group: 'data', how: 'not-run' }, 'group data: not run'],
    [
      'operator.skipStep',
      { group: 'data', lane: 'b', step: 'recover', text: 'retired' },
      'data/b/recover: skipped, because: retired',
    ],
    [
      'plan.evaluated',
      {
        lanes: [
          { group: 'data', lane: 'a' },
          { group: 'data', lane: 'b', problem: 'b-dr: it is gone' },
        ],
      },
      'looked at 2 instances: 1 could not be recovered, first b-dr: it is gone',
    ],
  ])('says in words what %s means', (type, event, words) => {
    expect(said(type, event)).toBe(words);
  });

  test('says which request of another process it refused', () => {
    const entry = { type: 'wish.refused', body: { wish: 3, why: 'the group is over' } };
    expect(entrySentences()(entry)).toEqual({ text: 'wish 3 was refused: the group is over', tone: 'warn' });
  });

  test('is named by each run that it started', () => {
    const plan = { run: '01P', group: 'data', step: 'recover', lane: 'b', attempt: 2 };
    const [first] = rotation;
    const body = { ...(first?.body as object), plan };
    expect(entrySentences()({ type: 'run.started', body }).text).toBe(
      "Ada started rotate-key 1.0.0 on orders, LIVE, step data/b/recover of the plan's run 01P, attempt 2",
    );
  });
});
