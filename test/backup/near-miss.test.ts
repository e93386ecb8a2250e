import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nearMiss } from '../../src/backup/probe.ts';
import { Secret } from '../../src/base/secret.ts';
import { makeFolder, PROFILES, run } from './kit.ts';

const folder = makeFolder();
const MINE = [
  { fingerprint: 'aaaaaaaaaaaa', key: new Secret('another key') },
  { fingerprint: 'bbbbbbbbbbbb', key: new Secret('the key of the file') },
];
const DERIVED = { md5: ['-md', 'md5'], sha256: ['-md', 'sha256'], pbkdf2: ['-pbkdf2'] };

/** A backup from openssl with the key in a file with this text. */
async function sealed(text: string, derived: readonly string[]): Promise<Buffer> {
  const file = join(folder, 'key-with-end');
  writeFileSync(file, text, { mode: 0o600 });
  const packed = await run('gzip', ['-c'], Buffer.from('some content'));
  return run('openssl', ['enc', '-aes-256-cbc', ...derived, '-salt', '-pass', `file:${file}`], packed);
}

test.each(PROFILES)(
  'a key that openssl read with its carriage return is recognized, derived with %s',
  async (profile) => {
    const derived = profile === 'pbkdf2' ? ['-pbkdf2', '-md', 'sha256', '-iter', '10000'] : DERIVED[profile];
    const head = await sealed('the key of the file\r\n', derived);
    expect(nearMiss(head, MINE)).toBe('key bbbbbbbbbbbb with a carriage return at its end opens it');
    expect(nearMiss(head, MINE.slice(0, 1))).toBeUndefined();
    expect(nearMiss(head, [])).toBeUndefined();
  },
);

test('a held key with a line end is recognized if the backup was made without it', async () => {
  const head = await sealed('the key of the file\n', DERIVED.md5);
  const held = [{ fingerprint: 'cccccccccccc', key: new Secret('the key of the file\r') }];
  expect(nearMiss(head, held)).toBe('key cccccccccccc without the line end at its end opens it');
});
