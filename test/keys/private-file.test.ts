import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readPrivateFile } from '../../src/keys/private-file.ts';

const KIND = { name: 'vault file', mayBeLinkOrPipe: false };

test('an unchanged file is not copied into memory again, and a change of any byte is read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-private-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file');
  const bytes = Buffer.alloc(200_000, 'x');
  writeFileSync(path, bytes, { mode: 0o600 });
  expect(await readPrivateFile(path, KIND, bytes)).toBe(bytes);
  const others = [0, 65_535, 65_536, 199_999].map((at) => {
    const other = Buffer.from(bytes);
    other[at] = 0;
    return other;
  });
  for (const other of others) expect((await readPrivateFile(path, KIND, other))?.equals(bytes)).toBe(true);
  const whole = await readPrivateFile(path, KIND, others[0]);
  appendFileSync(path, 'z');
  expect(await readPrivateFile(path, KIND, whole)).toHaveLength(200_001);
});
