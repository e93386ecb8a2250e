import { describe, test } from 'vitest';
import { statesOf } from '../bench-kit/entries-of.ts';
import { type LabBench, useLabs } from '../bench-kit/lab-bench.ts';
import { itemsIn } from '../bench-kit/results.ts';

const RESTORE = ['run', 'restore-backup', '--instance', 'orders', '--backup', '1'] as const;
const ANSWERED = ['--yes', '--confirm', 'orders'] as const;
const RESTORES = 'orders POST /backups/:id/restore';

describe('a backup restored in place', () => {
  const bench = useLabs();

  test('ends when every application runs on it again and there are no follow-ups', async (context) => {
    const { expect } = context;
    // One recovery as people run it, in processes.
    const { lab, run, good, did, query } = await bench(context, { commandsHere: false });
    const { code, stdout, stderr } = await run(...RESTORE, ...ANSWERED);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('orders is restored, and no follow-up is open');
    expect(did().filter((call) => call === RESTORES)).toHaveLength(1);
    const apps = await lab.platform?.appsReach((states) => states.every(({ state }) => state === 'ok'));
    expect(apps?.map(({ name }) => name).toSorted()).toEqual(['orders-api', 'orders-report']);
    const [before] = await query('orders')<{ n: string }>('select count(*) n from orders');
    await expect
      .poll(async () => (await query('orders')<{ n: string }>('select count(*) n from orders'))[0]?.n)
      .not.toBe(before?.n);
    expect(await good('audit', 'verify')).toContain('intact, up to the newest checkpoint of each place: ');
    expect(await run('followups')).toMatchObject({ code: 0, stdout: '' });
    const report = await good('report', await runIdOf(good));
    for (const word of ['## Objectives', 'RTO', 'RPO', 'rebind', 'unbind, bind and restage orders-api'])
      expect(report).toContain(word);
  });

  test('without a platform waits for a person, shows what to type, and closes once everything is confirmed', async (context) => {
    const { expect } = context;
    const { lab, run, good } = await bench(context, {
      config: (yaml) => yaml.replace(/^platform: .*$/m, 'platform: none'),
    });
    const { code, stderr } = await run(...RESTORE, ...ANSWERED);
    expect(code, stderr).toBe(3);
    const listed = await run('followups');
    expect(listed.code).toBe(3);
    expect(listed.stdout).toContain('give orders-api its new credentials');
    // Nothing says that there is a cf here.
    expect(listed.stdout).not.toMatch(/\bcf /u);
    expect((await run('runs')).stdout).toMatch(/open +\d+ +the open follow-ups/);
    const ids = await followUpIds({ good, run });
    expect(ids).toContain('rebind-orders-api');
    const refused = await run('followups', 'done', 'rebind-nobody', '--proof', 'seen');
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('no follow-up has the id rebind-nobody');
    for (const id of ids.filter((one) => one !== 'fresh-backup' && one !== 'renew-card')) {
      const closed = await run('followups', 'done', id, '--proof', `done by hand, ticket 7 (${id})`);
      expect(closed.code, closed.stderr).toBe(0);
    }
    expect((await run('followups')).stdout).toBe('');
    expect((await run('runs')).stdout).toContain('proven');
    expect(await good('report', await runIdOf(good))).toContain('ticket 7');
    expect(lab.platform?.appStates().find(({ name }) => name === 'orders-api')?.state).toBe('failing');
  });

  test.for(['/backups', '/backups/:id/restore', '/disaster-recovery/prepare'])(
    'a lost answer to POST %s is resolved by asking the service, and nothing is sent twice',
    async (path, context) => {
      const { expect } = context;
      const { lab, run, did, entries } = await bench(context);
      lab.fault({ method: 'POST', path, effect: { kind: 'drop', when: 'after' } });
      const { code, stderr } = await run(...RESTORE, ...ANSWERED);
      expect(code, stderr).toBe(0);
      const calls = did();
      expect(calls.filter((call) => call === RESTORES)).toHaveLength(1);
      expect(calls.filter((call) => call === 'orders POST /backups')).toHaveLength(2);
      expect(statesOf(await entries('run/'))).toContain('record.recording');
    },
  );

  test('a lost request to restore is never sent again unless the name is typed again', async (context) => {
    const { expect } = context;
    const { lab, run, did, entries } = await bench(context);
    lab.fault({ method: 'POST', path: '/backups/:id/restore', effect: { kind: 'drop', when: 'before' } });
    const { code } = await run(...RESTORE, ...ANSWERED);
    expect([3, 5]).toContain(code);
    expect(did().filter((call) => call === RESTORES)).toHaveLength(0);
    const again = await run('resume', ...ANSWERED);
    expect([3, 5], again.stderr).toContain(again.code);
    expect(did().filter((call) => call === RESTORES)).toHaveLength(0);
    expect(statesOf(await entries('run/')).at(-1)).toMatch(/restore\.(?:failed|inDoubt)/);
  });
});

async function runIdOf(good: LabBench['good']): Promise<string> {
  const [first] = itemsIn<{ runId: string }>(await good('runs', '--json'));
  return first?.runId ?? '';
}

async function followUpIds({ run }: Pick<LabBench, 'run' | 'good'>): Promise<string[]> {
  const { stdout } = await run('followups', '--json');
  return itemsIn<{ id: string }>(stdout).map(({ id }) => id);
}
