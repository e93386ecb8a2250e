import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateReceiptKey } from '../../src/keys/keyring.ts';
import { evaluationStatementOf, type RecordedEvaluation } from '../../src/receipts/evaluation-statement.ts';
import { openReceipt, receiptPublicKey, signStatement } from '../../src/receipts/sigstore-bundle.ts';
import {
  evaluationEntry,
  type Finding,
  newestEvaluationIn,
} from '../../src/store/projections/evaluations.ts';
import { acceptedBySigstore } from './sigstore.ts';

const finding: Finding = {
  check: 'newest-backup',
  state: 'red',
  reason: 'too old',
  firstSeen: '2026-03-01T00:00:00.000Z',
  due: '2026-03-02T00:00:00.000Z',
};
const proven: RecordedEvaluation = {
  name: 'orders',
  verdict: 'proven',
  reason: 'restored on 2026-03-01',
  at: '2026-03-02T00:00:00.000Z',
  since: '2026-03-01T00:00:00.000Z',
  findings: [],
};
const propertiesOf = (...changes: readonly Partial<RecordedEvaluation>[]) =>
  evaluationStatementOf(
    changes.map((change) => ({ ...proven, ...change })),
    'x',
    '0123456789abcdef',
  ).predicate.properties;

test('what is proven has every property, and what is only ready is not called proven', () => {
  const rest = ['LIFEBOAT_NO_FINDINGS', 'LIFEBOAT_NO_WAIVERS'];
  expect(propertiesOf({})).toEqual(['LIFEBOAT_RECOVERABLE', 'LIFEBOAT_PROVEN', ...rest]);
  expect(propertiesOf({ verdict: 'ready' })).toEqual(['LIFEBOAT_RECOVERABLE', ...rest]);
  for (const verdict of ['not-ready', 'unknown', 'empty'] as const)
    expect(propertiesOf({ verdict })).toEqual(rest);
});

test('a finding and a waiver are no property, and what is waived is never hidden', () => {
  expect(propertiesOf({ findings: [finding] })).not.toContain('LIFEBOAT_NO_FINDINGS');
  const waived = { ...finding, waivedUntil: '2026-04-01T00:00:00.000Z' };
  expect(propertiesOf({ findings: [waived] })).toEqual(['LIFEBOAT_RECOVERABLE', 'LIFEBOAT_PROVEN']);
});

test('of several, a property holds only if each has it, at the time of the oldest', () => {
  expect(propertiesOf({}, { verdict: 'ready' })).not.toContain('LIFEBOAT_PROVEN');
  expect(propertiesOf({}, { verdict: 'unknown' })).not.toContain('LIFEBOAT_RECOVERABLE');
  expect(propertiesOf()).toEqual([]);
  const older = { ...proven, at: '2026-01-01T00:00:00.000Z' };
  const { predicate, subject } = evaluationStatementOf([proven, older], 'the text', '0123456789abcdef');
  expect(predicate.timeCreated).toBe(older.at);
  expect(predicate.verifier.id).toBe('urn:lifeboat:installation:0123456789abcdef');
  expect(subject).toEqual([{ name: 'evaluation.json', digest: { sha256: hash('sha256', 'the text') } }]);
});

test('Sigstore accepts a signed evaluation offline, and so do we', () => {
  const key = generateReceiptKey();
  const statement = evaluationStatementOf([proven], 'x', '0123456789abcdef');
  const { bundle } = signStatement(statement, key);
  expect(acceptedBySigstore(bundle, receiptPublicKey(key))).toBe(true);
  expect(openReceipt(bundle, receiptPublicKey(key))).toMatchObject({ outcome: 'signed', statement });
});

test('the evaluation on record is the newest entry, with the time since when the verdict is the same', () => {
  const entries = (['ready', 'proven', 'proven'] as const).map((verdict, index) => ({
    ...evaluationEntry('orders', { verdict, reason: 'r', findings: index === 2 ? [finding] : [] }),
    ...{ index, seq: index + 1, at: `2026-03-0${index + 1}T00:00:00.000Z`, by: 'ada', hash: '' },
  }));
  expect(newestEvaluationIn(entries)).toMatchObject({
    verdict: 'proven',
    at: '2026-03-03T00:00:00.000Z',
    since: '2026-03-02T00:00:00.000Z',
    findings: [finding],
  });
  expect(newestEvaluationIn([])).toBeUndefined();
});
