import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { usePlatformBenches } from '../bench-kit/platform-bench.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, useBenches } from '../bench-kit/test-bench.ts';
import { lookedAfter } from './looked-after.ts';
import { tellAll } from './telling.ts';

const SECRETS = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey];
const ORDERS = ['--instance', 'orders'] as const;

describe.skipIf(!existsSync('/proc/self/environ'))('no secret is anywhere but where it belongs', () => {
  const benches = useBenches();
  const benchesWithPlatform = usePlatformBenches();

  test('after a change that a second person has approved, with everything that OpenSSH was started for', {
    timeout: 1_800_000,
  }, async (context) => {
    const tokenSource = '{ env: LIFEBOAT_TEST_TOKEN }';
    const bench = await withApprovals(benches, context, { bench: { tokenSource } });
    Object.assign(bench.env, { LIFEBOAT_TEST_TOKEN: CANARIES.token });
    await lookedAfter(bench, SECRETS, async (run) => {
      expect((await run('run', 'rotate-key', ...ORDERS, ...ANSWERED)).code).toBe(3);
      const asked = await bench.request();
      const brought = join(bench.folder, 'brought.sig');
      writeFileSync(brought, bench.ada.sign(asked.text));
      expect((await run('approve', asked.file, '--confirm', 'orders', '--out', 'OUT')).code).toBe(0);
      expect((await run('approvals', 'accept', asked.run, brought)).code).toBe(0);
      const { code, stderr } = await run('resume', ...ANSWERED);
      expect(code, stderr).toBe(0);
      await tellAll(run);
    });
  });

  test('once no follow-up is open: the run closes and removes the parameter files of the bindings', {
    timeout: 1_800_000,
  }, async (context) => {
    const bench = await benchesWithPlatform(context);
    const bindings = join(bench.home, 'backups/bindings');
    const first = await bench.restore();
    expect(first.code, first.stderr).toBe(3);
    const { readdirSync } = await import('node:fs');
    expect(readdirSync(bindings)).toHaveLength(1);
    const listed = async () => itemsIn<{ id: string }>((await bench.run('followups', '--json')).stdout);
    for (const { id } of await listed()) {
      const closed = await bench.run('followups', 'done', id, '--proof', 'seen');
      expect([0, 3], closed.stderr).toContain(closed.code);
    }
    expect(await listed()).toEqual([]);
    expect(readdirSync(bindings)).toEqual([]);
  });
});
