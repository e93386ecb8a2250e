import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { verifyStream } from '../../src/backup/verify-file.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { extractBaseBackup } from '../../src/lab/engine/engine.ts';
import { backupOf, KEY, tarOf } from '../backup/kit.ts';
import { actingIn } from './acting.ts';
import { count } from './figures.ts';
import { hostileTars } from './tars.ts';

const TARS = hostileTars();
const yard = mkdtempSync(join(tmpdir(), 'lifeboat-hostile-'));
afterAll(() => rmSync(yard, { recursive: true, force: true }));

test('there are two hundred hostile tars', () => {
  expect(TARS.size).toBeGreaterThan(200);
});

describe('a hostile tar', () => {
  test('gets a verdict from verification or a clear error, whatever it contains', async () => {
    for (const [name, tar] of TARS) {
      const report = await verifyStream(Readable.from([await backupOf(tar)]), { key: KEY });
      if (report.ok) expect(['intact', 'readable'], name).toContain(report.verdict);
      else {
        expect(['corrupt', 'truncated', 'trailing-data', 'empty'], name).toContain(report.problem);
        expect(actingIn(report.shortMessage), name).toBe('');
        expect(report.shortMessage.length, name).toBeLessThan(300);
      }
    }
  });

  test('never writes a byte outside the folder into which it is unpacked', async () => {
    // What makes a tar a base backup, so that none is refused for the lack of it.
    const first = (await tarOf({ PG_VERSION: '18\n' })).subarray(0, 1024);
    let refused = 0;
    for (const [name, tar] of TARS) {
      const home = mkdtempSync(join(yard, 'one-'));
      writeFileSync(join(home, 'neighbour'), 'as it was');
      const folder = join(home, 'deep', 'folder');
      mkdirSync(dirname(folder));
      const content = Readable.from(pieces(Buffer.concat([first, tar])));
      const thrown = await extractBaseBackup(content, folder, undefined, new AbortController().signal).catch(
        (error: unknown) => error,
      );
      if (thrown !== undefined) {
        refused += 1;
        expect(thrown, name).toBeInstanceOf(LifeboatError);
        expect(actingIn((thrown as LifeboatError).shortMessage), name).toBe('');
        expect(existsSync(folder), name).toBe(false);
      } else expectTame(folder, name);
      expect(readdirSync(home).toSorted(), name).toEqual(['deep', 'neighbour']);
      expect(readdirSync(join(home, 'deep')), name).toEqual(thrown === undefined ? ['folder'] : []);
      rmSync(home, { recursive: true, force: true });
    }
    expect(existsSync('/evil') || existsSync('/tmp/evil')).toBe(false);
    expect(refused).toBeGreaterThan(120);
    count('tars', { tried: TARS.size, 'refused or damaged': refused, 'files outside': 0 });
  });
});

/** In pieces of an odd length, as they come from a network. */
function* pieces(tar: Buffer): Generator<Buffer> {
  for (let at = 0; at < tar.length; at += 7_777) yield tar.subarray(at, at + 7_777);
}

/** Only own files and folders, and nothing that runs with another user's rights. */
function expectTame(folder: string, name: string): void {
  for (const one of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, one);
    const stat = lstatSync(path);
    expect(stat.isFile() || stat.isDirectory(), name).toBe(true);
    expect(stat.mode & 0o7077, name).toBe(0);
  }
}
