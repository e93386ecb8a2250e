import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { brandOf } from '../../src/commands/run/run-report.ts';

test.each([
  ['a logo that cannot be used', 'name: ACME, logo: ./x.png', 'logo: the logo cannot be used', 'ACME'],
  ['a name that is too long', `name: ${'x'.repeat(81)}`, 'name and logo: /.+: this is too long', undefined],
])('the report is written in spite of %s, and says what is missing', async (_what, report, said, name) => {
  const folder = mkdtempSync(join(tmpdir(), 'brand-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const configPath = join(folder, 'lifeboat.yaml');
  writeFileSync(configPath, `instances: {}\nreport: { ${report} }\n`);
  writeFileSync(join(folder, 'x.png'), 'GIF89a');
  let stderr = '';
  const write = (text: string) => {
    stderr += text;
    return true;
  };
  expect(await brandOf({ env: {}, configPath, stderr: { write } as NodeJS.WriteStream })).toEqual({ name });
  expect(stderr).toMatch(new RegExp(`^the report is written without ${said}`, 'u'));
});
