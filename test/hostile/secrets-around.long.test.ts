import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withApprovals } from '../e2e/approval-house.ts';
import { ANSWERED, CANARIES } from '../e2e/house.ts';
import { useHouses } from '../e2e/scene.ts';
import { useStrangers } from '../e2e/stranger.ts';
import { lookedAfter } from './looked-after.ts';
import { tellAll } from './telling.ts';

const SECRETS = [CANARIES.token, CANARIES.passphrase, CANARIES.oldKey];
const ORDERS = ['--instance', 'orders'] as const;

describe.skipIf(!existsSync('/proc/self/environ'))('no secret is anywhere but where it belongs', () => {
  const houses = useHouses();
  const strangers = useStrangers();

  test('after a change that a second person has approved, with everything that OpenSSH was started for', {
    timeout: 180_000,
  }, async (context) => {
    const tokenSource = '{ env: LIFEBOAT_TEST_TOKEN }';
    const house = await withApprovals(houses, context, { house: { tokenSource } });
    Object.assign(house.env, { LIFEBOAT_TEST_TOKEN: CANARIES.token });
    await lookedAfter(house, SECRETS, async (run) => {
      expect((await run('run', 'rotate-key', ...ORDERS, ...ANSWERED)).code).toBe(3);
      const asked = await house.request();
      const brought = join(house.folder, 'brought.sig');
      writeFileSync(brought, house.ada.sign(asked.text));
      expect((await run('approve', asked.file, '--confirm', 'orders', '--out', 'OUT')).code).toBe(0);
      expect((await run('approvals', 'accept', asked.run, brought)).code).toBe(0);
      const { code, stderr } = await run('resume', ...ANSWERED);
      expect(code, stderr).toBe(0);
      await tellAll(run);
    });
  });

  test('once nothing is owed any more: what bindings were made with is removed when the run closes', {
    timeout: 180_000,
  }, async (context) => {
    const house = await strangers(context);
    const bindings = join(house.home, 'backups/bindings');
    const first = await house.restore();
    expect(first.code, first.stderr).toBe(3);
    const { readdirSync } = await import('node:fs');
    expect(readdirSync(bindings)).toHaveLength(1);
    const owed = (await house.run('owe', '--json')).stdout.split('\n').filter((line) => line !== '');
    for (const line of owed) {
      const { id } = JSON.parse(line) as { readonly id: string };
      const settled = await house.run('owe', 'settle', id, '--proof', 'seen');
      expect([0, 3], settled.stderr).toContain(settled.code);
    }
    expect((await house.run('owe', '--json')).stdout).toBe('');
    expect(readdirSync(bindings)).toEqual([]);
  });
});
