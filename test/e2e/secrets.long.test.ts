import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import { watchTree } from '../bench-kit/process-tree.ts';
import type { Ended } from '../bench-kit/product.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, ROTATE, useBenches } from '../bench-kit/test-bench.ts';
import { leaksIn, leaksInFolder, leaksInProcesses } from './leaks.ts';

const hasProc = existsSync('/proc/self/environ');

describe('token, keys and passphrase', () => {
  const bench = useBenches();

  test.skipIf(!hasProc)(
    'are only where they belong: in no other file, no output, no argument and no environment',
    async (context) => {
      // The sleep gives the sampling below time to meet the command.
      const tokenSource = `{ command: 'sleep 0.05; cat "$HOME/token"' }`;
      const { folder, home, server, run, start } = await bench(context, { firstDay: true, tokenSource });
      await writeFile(`${folder}/key`, `${CANARIES.oldKey}\n`, { mode: 0o600 });
      const said: Ended[] = [await run('keys', 'add', 'orders', '--file', `${folder}/key`)];

      const rotation = start(...ROTATE, ...ANSWERED, '--json');
      const watch = watchTree(rotation.child.pid ?? 0);
      const end = await rotation.ended;
      watch.stop();
      expect(end.code, end.stderr).toBe(0);
      const [{ runId } = { runId: '' }] = itemsIn<{ runId: string }>((await run('runs', '--json')).stdout);
      said.push(
        end,
        await run('keys', 'list'),
        await run('report', runId),
        await run('audit', 'show', runId),
      );
      said.push(
        await run('audit', 'export', runId, '--out', '-'),
        await run('audit', 'verify'),
        await run('doctor'),
      );

      const secrets = [CANARIES.token, CANARIES.passphrase, ...server.keys];
      expect(secrets).toHaveLength(4);
      expect(said.flatMap(({ stdout, stderr }) => leaksIn('output', stdout + stderr, secrets))).toEqual([]);
      expect(leaksInFolder(home, secrets)).toEqual([]);
      expect(watch.seen().some(({ cmdline }) => cmdline.startsWith('sleep\0'))).toBe(true);
      expect(leaksInProcesses(watch.seen(), secrets)).toEqual([]);
    },
  );

  test('are blanked where a service sends them back in an error', async (context) => {
    const answer = {
      status: 422,
      body: {
        error: 'invalidParameters',
        description: `${CANARIES.givenKey} of bearer ${CANARIES.token} is weak`,
      },
    };
    const { folder, home, run, entries } = await bench(context, {
      trouble: ({ method }) => (method === 'PATCH' ? { work: false, answer } : undefined),
    });
    await writeFile(`${folder}/key`, `${CANARIES.givenKey}\n`, { mode: 0o600 });
    const { code, stdout, stderr } = await run(...ROTATE, ...ANSWERED, '--key-file', `${folder}/key`);
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('is weak');
    expect(typesOf(await entries(), 'run')).toContain('event');
    const secrets = [CANARIES.givenKey, CANARIES.token];
    expect(leaksIn('output', stdout + stderr, secrets)).toEqual([]);
    expect(leaksInFolder(home, secrets)).toEqual([]);
  });

  test('would be found in each of the forms that the search covers', () => {
    const secret = CANARIES.oldKey;
    const bytes = Buffer.from(`xy${secret}z`);
    const hidden = [
      secret,
      Buffer.from(secret).toString('hex'),
      bytes.toString('base64'),
      encodeURIComponent(secret),
    ];
    for (const text of hidden) expect(leaksIn('here', text, [secret])).not.toEqual([]);
  });
});
