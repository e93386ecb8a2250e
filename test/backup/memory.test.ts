import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from './kit.ts';

test('memory stays under 200 MiB, whatever the size of the backup', async () => {
  const script = join(import.meta.dirname, 'verify-generated.ts');
  const mebibytes = 300;
  const output = await run(process.execPath, [script, String(mebibytes)]);
  const { contentBytes, peakRss } = JSON.parse(output.toString());
  expect(contentBytes).toBe(mebibytes * 2 ** 20);
  expect(peakRss / 2 ** 20).toBeLessThan(200);
});
