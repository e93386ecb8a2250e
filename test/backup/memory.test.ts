import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from './kit.ts';

const MEBIBYTES = 300;

test.each([
  ['noise', { verdict: 'intact', content: 'data', contentBytes: MEBIBYTES * 2 ** 20 }],
  ['gzip', { verdict: 'intact', content: 'gzip' }],
  ['dumps', { verdict: 'intact', content: 'data', contentBytes: MEBIBYTES * 2 ** 20 }],
  ['errors', { problem: 'empty' }],
])('memory stays under 200 MiB, whatever the size of the backup: %s', async (kind, verdict) => {
  const script = join(import.meta.dirname, 'verify-generated.ts');
  const output = await run(process.execPath, [script, String(MEBIBYTES), kind]);
  const { report, peakRss } = JSON.parse(output.toString());
  expect(report).toMatchObject(verdict);
  expect(peakRss / 2 ** 20).toBeLessThan(200);
});
