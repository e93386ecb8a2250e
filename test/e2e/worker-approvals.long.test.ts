import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { useBenches } from '../bench-kit/test-bench.ts';

describe('a worker and the approval of a second person', () => {
  const bench = useBenches({ cheapVault: true, leaseMs: 3_000 });

  test('take a run up once for a signature while it waits for its name as well, which a person gives', async (context) => {
    const { expect } = context;
    const made = await withApprovals(bench, context);
    const { run, start, entries, approve, ada } = made;
    const left = await run('run', 'rotate-key', '--instance', 'orders', '--yes', '--detach');
    const [, first = ''] = /run (\S+) is left/u.exec(`${left.stdout}${left.stderr}`) ?? [];
    const worker = start('worker');
    const says = (words: RegExp) => expect.poll(() => worker.stderr(), { timeout: 300_000 }).toMatch(words);
    await says(/waits for a person/u);
    await approve(ada);
    await says(/(?:waits for a person.*){2}/su);
    // Until another run, which has to wait for its key, was taken, it looks at every run that waits.
    const other = await run('run', 'back-up-and-verify', '--instance', 'orders-dr', '--yes', '--detach');
    expect(other.code, other.stderr).toBe(0);
    await says(/not taken: no key of orders-dr/u);
    const key = join(made.folder, 'key-of-orders-dr');
    writeFileSync(key, CANARIES.oldKey, { mode: 0o600 });
    const added = await run('keys', 'add', 'orders-dr', '--file', key);
    expect(added.code, added.stderr).toBe(0);
    await says(/not taken.*taken: back-up-and-verify of orders-dr/su);
    await says(/(?:waits for a person.*){3}/su);
    const taken = (await entries()).filter(
      ({ stream, type }) => stream === `run/${first}` && type === 'run.detached',
    );
    expect(taken).toHaveLength(2);
    const ended = await run('resume', first, '--yes', '--confirm', 'orders');
    expect(ended.code, ended.stderr).toBe(0);
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });
});
