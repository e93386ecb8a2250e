import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { generateReceiptKey, generateSigningKey } from '../../src/keys/keyring.ts';
import { openReceipt, receiptPublicKey, signStatement } from '../../src/receipts/sigstore-bundle.ts';
import { statementOf } from '../../src/receipts/statement.ts';
import { measure } from '../../src/report/measure/measure.ts';
import type { Report } from '../../src/report/model/model.ts';
import { buildReport } from '../../src/report/report.ts';
import { recovery, sliceOf } from '../report/recovery.ts';
import { acceptedBySigstore } from './sigstore.ts';

const built = buildReport(recovery, {
  generatedAt: new Date('2026-03-02T00:00:00Z'),
  measures: measure(recovery, { sliceOf }),
});
const report: Report = {
  ...built,
  alarms: [],
  outcome: { status: 'closed', proven: true, text: 'proven', followUps: 0 },
};
const key = generateReceiptKey();
const publicKey = receiptPublicKey(key);
const statement = statementOf(report, recovery, 'the report');
const signed = signStatement(statement, key);

test('openssl verifies the signature of a receipt over its statement', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-receipt-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const put = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const [pub, sig] = [put('key.pub', publicKey), put('receipt.sig', signed.signature)];
  const verified = (pae: Buffer) =>
    spawnSync('openssl', [...['dgst', '-sha256', '-verify', pub, '-signature', sig], put('receipt.pae', pae)])
      .status;
  expect(verified(signed.pae)).toBe(0);
  expect(verified(Buffer.from(`${signed.pae}`.replace('WARNED', 'PASSED')))).not.toBe(0);
  expect(verified(Buffer.from(`${signed.pae}`.replace('run/proven', 'run/Proven')))).not.toBe(0);
});

test('the reference implementation of Sigstore accepts a receipt offline, and so do we', () => {
  expect(acceptedBySigstore(signed.bundle, publicKey)).toBe(true);
  const { pae, signature } = signed;
  expect(openReceipt(signed.bundle, publicKey)).toEqual({ outcome: 'signed', statement, pae, signature });
});

type Parts = {
  mediaType: string;
  verificationMaterial: { publicKey: { hint: string }; tlogEntries: unknown[] };
  dsseEnvelope: { payload: string; payloadType: string; signatures: { sig: string; keyid: string }[] };
};

const inPayload = (change: (text: string) => string) => (parts: Parts) => {
  const text = Buffer.from(parts.dsseEnvelope.payload, 'base64').toString();
  const changed = change(text);
  expect(changed).not.toBe(text);
  parts.dsseEnvelope.payload = Buffer.from(changed).toString('base64');
};
const inSignature = (change: (bytes: Buffer) => Buffer) => (parts: Parts) => {
  const [first] = parts.dsseEnvelope.signatures;
  if (first !== undefined) first.sig = change(Buffer.from(first.sig, 'base64')).toString('base64');
};
const flipped = (at: number) => (bytes: Buffer) => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
};
const signedBy = (other: Secret) => (parts: Parts) => {
  Object.assign(parts, JSON.parse(signStatement(statement, other).bundle));
};
const twice = <T>(list: T[]) => void list.push(...list);

const CHANGES: readonly (readonly [string, (parts: Parts) => void])[] = [
  ['another result', inPayload((text) => text.replace('WARNED', 'PASSED'))],
  ['another digest of the report', inPayload((text) => text.replace(/"sha256":"./u, '"sha256":"x'))],
  ['another subject', inPayload((text) => text.replace('report.json', 'Report.json'))],
  ['another run', inPayload((text) => text.replace('urn:lifeboat:run:', 'urn:lifeboat:run:0'))],
  ['another instance', inPayload((text) => text.replace('orders', 'billing'))],
  ['another kind of run', inPayload((text) => text.replace('"kind":"', '"kind":"x'))],
  ['a test that was not made', inPayload((text) => text.replace('"passedTests":[', '"passedTests":["x",'))],
  ['a test that is left out', inPayload((text) => text.replace('"run/proven"', '"run/other"'))],
  ['another predicate', inPayload((text) => text.replace('test-result', 'vuln'))],
  ['another version of the statement', inPayload((text) => text.replace('Statement/v1', 'Statement/v0'))],
  ['a space more', inPayload((text) => `${text} `)],
  ['a line feed before', inPayload((text) => `\n${text}`)],
  ['a letter less', inPayload((text) => text.slice(0, -1))],
  ['an empty object', inPayload(() => '{}')],
  ['a field more', inPayload((text) => text.replace('{', '{"x":1,'))],
  [
    'no payload',
    (parts) => {
      parts.dsseEnvelope.payload = '';
    },
  ],
  ['the first byte of the signature', inSignature(flipped(0))],
  ['a byte of its first number', inSignature(flipped(10))],
  ['a byte of its second number', inSignature(flipped(50))],
  ['a shorter signature', inSignature((bytes) => bytes.subarray(0, -1))],
  ['zeros for a signature', inSignature((bytes) => Buffer.alloc(bytes.length))],
  [
    'no signature',
    (parts) => {
      parts.dsseEnvelope.signatures = [];
    },
  ],
  ['two signatures', (parts) => twice(parts.dsseEnvelope.signatures)],
  [
    'the type of plain text',
    (parts) => {
      parts.dsseEnvelope.payloadType = 'text/plain';
    },
  ],
  [
    'another JSON type',
    (parts) => {
      parts.dsseEnvelope.payloadType = 'application/json';
    },
  ],
  [
    'a type in capitals',
    (parts) => {
      parts.dsseEnvelope.payloadType = 'application/vnd.in-toto+JSON';
    },
  ],
  ['a signature by another key', signedBy(generateReceiptKey())],
  [
    'no bundle type',
    (parts) => {
      parts.mediaType = 'text/plain';
    },
  ],
];

/** Neither is covered by the signature, so that a verifier which is given the key cannot depend on them. */
const UNSEEN: readonly (readonly [string, (parts: Parts) => void])[] = [
  [
    'the hint of another key',
    (parts) => {
      parts.verificationMaterial.publicKey.hint = 'AAAA';
    },
  ],
  [
    'a key id',
    (parts) => {
      for (const one of parts.dsseEnvelope.signatures) one.keyid = 'mallory';
    },
  ],
];

function changed(change: (parts: Parts) => void): string {
  const parts: Parts = JSON.parse(signed.bundle);
  change(parts);
  return JSON.stringify(parts);
}

test.each(CHANGES)('a receipt with %s is refused by us and by Sigstore', (_, change) => {
  const bundle = changed(change);
  expect(openReceipt(bundle, publicKey).outcome).not.toBe('signed');
  expect(acceptedBySigstore(bundle, publicKey)).toBe(false);
});

test.each(UNSEEN)('a receipt with %s is refused by us; Sigstore does not look at it', (_, change) => {
  const bundle = changed(change);
  expect(openReceipt(bundle, publicKey).outcome).not.toBe('signed');
  expect(acceptedBySigstore(bundle, publicKey)).toBe(true);
});

test('a key that is not P-256, a private key, or no key verifies nothing', () => {
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
  const pems = [p384.export({ type: 'spki', format: 'pem' }).toString(), key.reveal(), 'no key'];
  for (const pem of pems) expect(openReceipt(signed.bundle, pem)).toEqual({ outcome: 'bad-key' });
  for (const other of [generateSigningKey(), new Secret('no key')])
    expect(() => signStatement(statement, other)).toThrow('is not a P-256 key');
});

const resultOf = (changes: Partial<Report>) => statementOf({ ...report, ...changes }, recovery, '').predicate;

test('a run that the report does not call proven is FAILED, whatever its checks say', () => {
  expect(statement.predicate.result).not.toBe('FAILED');
  expect(statement.predicate.passedTests).toContain('run/proven');
  const { outcome } = report;
  for (const worse of [
    { ...outcome, proven: false },
    { ...outcome, status: 'abandoned' as const },
    { ...outcome, simulated: true as const },
  ])
    expect(resultOf({ outcome: worse }).result).toBe('FAILED');
});

test('an alarm, a missed objective and open follow-ups turn the result into a warning', () => {
  const alarm = { title: 'BREAK-GLASS', text: 'x', at: '', by: '' };
  expect(resultOf({ alarms: [alarm] }).warnedTests).toContain('run/no-alarm');
  expect(resultOf({ outcome: { ...report.outcome, followUps: 1 } }).warnedTests).toContain(
    'follow-ups/closed',
  );
  expect(statement.predicate.warnedTests).toContain('rpo/met');
});

test('a run that is not over, or that has no verdict, gets no receipt', () => {
  expect(() => resultOf({ outcome: { ...report.outcome, status: 'open' } })).toThrow('not over');
  const { proven: _, ...unjudged } = report.outcome;
  expect(() => resultOf({ outcome: unjudged })).toThrow('no verdict');
});
