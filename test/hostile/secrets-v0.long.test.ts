import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { useBenches } from '../bench-kit/test-bench.ts';
import { lookedAfter } from './looked-after.ts';

const ORDERS = ['--instance', 'orders'] as const;
const SHOWING = [
  ['audit', 'show'],
  ['audit', 'show', '--json'],
  ['audit', 'verify'],
  ['keys', 'list'],
  ['runs'],
];
/** What V0 has no call for. */
const REFUSED = [['run', 'rotate-key', '--yes'], ['instance', 'show'], ['metrics']];
const CALLS = (backup: string) => [
  ['backups', 'list'],
  ['backups', 'create', '--yes', '--wait'],
  ['backups', 'restore', backup, '--yes', '--confirm', 'orders', '--wait'],
  ['restores', 'list', '--json'],
];

describe.skipIf(!existsSync('/proc/self/environ'))('no secret is anywhere but where it belongs', () => {
  const benches = useBenches();

  test('after the flows and calls of an instance that only has V0, with every session that it opened', {
    timeout: 1_200_000,
  }, async (context) => {
    /** As they were handed out: with the name of the cookie, its value as it is sent and as it is meant. */
    const sessions = new Set<string>();
    const secrets: string[] = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey];
    const bench = await benches(context, {
      revision: 'v0',
      tokenSource: '{ env: LIFEBOAT_TEST_TOKEN }',
      taskMs: 40,
      twist: (_, answer) => {
        for (const line of 'headers' in answer ? [answer.headers['set-cookie'] ?? []].flat() : []) {
          const [, value = ''] = /^dashboard\.sid=s%3A(\w+);/u.exec(`${line}`) ?? [];
          if (value !== '' && !sessions.has(value)) secrets.push(value);
          sessions.add(value);
        }
        return answer;
      },
    });
    Object.assign(bench.env, { LIFEBOAT_TEST_TOKEN: CANARIES.token });
    await lookedAfter(bench, secrets, async (run) => {
      const good = async (...words: string[]) => {
        const end = await run(...words);
        expect(end.code, `${words.join(' ')}: ${end.stderr}`).toBe(0);
      };
      const backup = `${bench.server.backups[0]?.id}`;
      const file = join(bench.folder, 'tmp/b.enc');
      for (const words of CALLS(backup)) await good(...words, ...ORDERS);
      await good('backups', 'download', backup, '--out', file, ...ORDERS);
      await good('verify', file, ...ORDERS);
      await rm(file, { force: true });
      await good('run', 'back-up-and-verify', '--yes', ...ORDERS);
      for (const words of SHOWING) await good(...words);
      for (const words of REFUSED) expect((await run(...words, ...ORDERS)).code, words.join(' ')).toBe(2);
      bench.server.acceptOnly('another');
      expect((await run('backups', 'list', ...ORDERS)).code).toBe(4);
    });
    expect(sessions.size).toBeGreaterThan(3);
  });
});
