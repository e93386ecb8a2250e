import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from './kit.ts';

test('memory stays under 200 MiB, whatever the size of the backup', async () => {
  const script = join(import.meta.dirname, 'verify-generated.ts');
  const measure = async (blocks: number) => {
    const output = await run(process.execPath, [script, String(blocks)]);
    return JSON.parse(output.toString()) as { contentBytes: number; peakRss: number };
  };
  const { contentBytes, peakRss } = await measure(300);
  expect(contentBytes).toBe(300 * 2 ** 20);
  expect(peakRss / 2 ** 20).toBeLessThan(200);
});
