import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LARGEST_LIST } from '../../../src/audit/bundle/documents.ts';
import { openPack } from '../../../src/commands/evidence/pack.ts';

/** Of a file and of a folder, as long as a name in a tar may be. */
const LONG = 'a'.repeat(90);
const LINE_BYTES = 64 + '  '.length + '\n'.length;

test('a pack whose list of files no verifier would read to its end is refused, and leaves nothing behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-pack-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const pack = openPack(join(folder, 'pack.tar'), { check: () => undefined });
  for (let listed = 0, at = 0; listed <= LARGEST_LIST; at += 1) {
    const name = `${LONG}/${LONG}${at}`;
    pack.put(name, '');
    listed += name.length + LINE_BYTES;
  }
  expect(() => pack.seal()).toThrow(expect.objectContaining({ code: 'evidence.too-large', exitCode: 2 }));
  pack.drop();
  expect(readdirSync(folder)).toEqual([]);
});
