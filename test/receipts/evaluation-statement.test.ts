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
  restored: { runId: 'a', at: '2026-03-01T00:00:00.000Z' },
};
const propertiesOf = (...changes: readonly Partial<RecordedEvaluation>[]) =>
  evaluationStatementOf(
    changes.map((change) => ({ ...proven, ...change })),
    'x',
    '0123456789abcdef',
  ).predicate.properties;

test('a proven instance has every property, and one that is only ready is not called proven', () => {
  const clean = ['LIFEBOAT_NO_FINDINGS', 'LIFEBOAT_NO_WAIVERS'];
  const rest = ['LIFEBOAT_KEY_FITS', 'LIFEBOAT_RESTORED_90D', ...clean];
  expect(propertiesOf({})).toEqual(['LIFEBOAT_RECOVERABLE', 'LIFEBOAT_PROVEN', ...rest]);
  expect(propertiesOf({ verdict: 'ready' })).toEqual(['LIFEBOAT_RECOVERABLE', ...rest]);
  for (const verdict of ['not-ready', 'unknown'] as const) expect(propertiesOf({ verdict })).toEqual(rest);
  expect(propertiesOf({ verdict: 'empty', restored: undefined })).toEqual(clean);
});

test('a key fits if it opens the newest existing backup, and a restore counts for 90 days', () => {
  for (const check of ['newest-backup', 'key-opens'] as const)
    expect(propertiesOf({ findings: [{ ...finding, check }] })).not.toContain('LIFEBOAT_KEY_FITS');
  expect(propertiesOf({ findings: [{ ...finding, check: 'token' }] })).toContain('LIFEBOAT_KEY_FITS');
  const restored = (at: string) => propertiesOf({ restored: { runId: 'a', at } });
  expect(restored('2025-12-02T00:00:00.000Z')).toContain('LIFEBOAT_RESTORED_90D');
  for (const at of ['2025-12-01T23:59:59.000Z', '2026-03-02T00:00:01.000Z', 'some day'])
    expect(restored(at)).not.toContain('LIFEBOAT_RESTORED_90D');
  expect(propertiesOf({ restored: undefined })).not.toContain('LIFEBOAT_RESTORED_90D');
  const changed = { ...finding, check: 'restored' } as const;
  expect(propertiesOf({ findings: [changed] })).not.toContain('LIFEBOAT_RESTORED_90D');
});

test('a plan has no key and no restore of its own: its instances decide about these properties', () => {
  const plan = { name: 'plan.west', restored: undefined };
  const ofInstances = ['LIFEBOAT_KEY_FITS', 'LIFEBOAT_RESTORED_90D'];
  expect(propertiesOf({}, plan)).toEqual(expect.arrayContaining(ofInstances));
  for (const name of ofInstances) {
    expect(propertiesOf(plan)).not.toContain(name);
    expect(propertiesOf(plan, { verdict: 'empty', restored: undefined })).not.toContain(name);
  }
});

test('with a finding or a waiver the clean properties are missing, so a waived finding is not hidden', () => {
  expect(propertiesOf({ findings: [finding] })).not.toContain('LIFEBOAT_NO_FINDINGS');
  const waived = { ...finding, waivedUntil: '2026-04-01T00:00:00.000Z' };
  expect(propertiesOf({ findings: [waived] })).toEqual([
    'LIFEBOAT_RECOVERABLE',
    'LIFEBOAT_PROVEN',
    'LIFEBOAT_RESTORED_90D',
  ]);
});

test('for several instances a property holds only if each has it, as of the oldest evaluation', () => {
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

test('the recorded evaluation is the newest entry, with the time since when the verdict has been the same', () => {
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
