import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { unpackFiles } from '../../src/audit/bundle/pack.ts';
import { Report } from '../../src/report/model/model.ts';
import { renderReport } from '../../src/report/render-report.ts';
import { openVerifiers } from '../audit/bundle/verifiers.ts';

/* If one of these fails because the product has changed: `npm run samples` makes them again. */
const ROOT = join(import.meta.dirname, '..', '..');
const sample = (name: string) => readFileSync(join(ROOT, 'docs', 'samples', name));
const { files } = unpackFiles(sample('bundle.tar'));
const inBundle = (name: string) => Buffer.from(files.get(name) ?? []).toString();
const verifiers = openVerifiers();
afterAll(() => verifiers.close());

test('every verifier finds the sample bundle intact under the key that lies beside it', async () => {
  const codes = await verifiers.codes(sample('bundle.tar'), { publicKey: `${sample('lifeboat.pub')}` });
  expect(new Set(Object.values(codes))).toEqual(new Set([0]));
});

test('the verifier in the sample bundle is the one that is shipped', () => {
  expect(inBundle('verify.mjs')).toBe(readFileSync(join(ROOT, 'src/audit/bundle/verify.mjs'), 'utf8'));
});

test('the sample report equals what is generated from the record in the bundle today', () => {
  const report = Report.parse(JSON.parse(inBundle('report.json')));
  expect(`${sample('report.html')}`).toBe(renderReport(report, 'html'));
});
