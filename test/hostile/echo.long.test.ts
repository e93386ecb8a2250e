import { describe, expect, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { leaksInFolder } from '../e2e/leaks.ts';
import { piecesIn } from './pieces.ts';
import { hostileWords } from './twist.ts';

const SECRETS = [CANARIES.token, CANARIES.givenKey];
const ANSWERED = ['--yes', '--confirm', 'orders'] as const;

describe('a service that repeats secrets in its answers', () => {
  const benches = useQuickBenches();

  test('does not get the token printed or written down, and its runs continue', {
    timeout: 1_200_000,
  }, async (context) => {
    const { run, home } = await benches(context, {
      twist: hostileWords([`it was bearer ${CANARIES.token}`]),
    });
    const commands = [
      ['backup-config', 'get'],
      ['instance', 'show'],
      ['backups', 'list'],
      ['restores', 'list'],
      ['pitr', 'show'],
      ['metrics'],
      ['backups', 'create', '--yes', '--wait'],
      ['run', 'rotate-key', '--dry-run'],
      ['run', 'back-up-and-verify', ...ANSWERED],
      ['run', 'rotate-key', ...ANSWERED],
    ];
    for (const words of commands)
      for (const form of [[], ['--json']]) {
        const { code, stdout, stderr } = await run(...words, '--instance', 'orders', ...form);
        if (words[0] !== 'pitr') expect(code, stderr).toBe(0);
        expect(piecesIn(words.join(' '), stdout + stderr, SECRETS)).toEqual([]);
      }
    expect(leaksInFolder(home, SECRETS)).toEqual([]);
  });

  test('does not get printed an encryption key that no answer should contain', async (context) => {
    const { run } = await benches(context, {
      twist: (_, answer) =>
        'body' in answer && typeof answer.body === 'object' && !Array.isArray(answer.body)
          ? { ...answer, body: { ...answer.body, encryption_key: CANARIES.givenKey } }
          : answer,
    });
    for (const words of [
      ['backup-config', 'get'],
      ['instance', 'show'],
      ['backup-config', 'get', '--json'],
      ['instance', 'show', '--json'],
    ]) {
      const { code, stdout, stderr } = await run(...words, '--instance', 'orders');
      expect(code, stderr).toBe(0);
      expect(piecesIn(words.join(' '), stdout + stderr, SECRETS)).toEqual([]);
    }
  });
});
