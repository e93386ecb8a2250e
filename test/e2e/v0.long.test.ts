import { describe, type TestContext, test } from 'vitest';
import { statesOf } from '../bench-kit/entries-of.ts';
import { type LabBench, useLabs } from '../bench-kit/lab-bench.ts';
import { personAt } from '../bench-kit/person.ts';
import { hasTerminal, KEYS } from '../bench-kit/pseudo-terminal.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

const PROVE = ['run', 'back-up-and-verify', '--instance', 'orders'] as const;
const RESTORE = ['run', 'restore-backup', '--instance', 'orders', '--backup', '1'] as const;
const ANSWERED = ['--yes', '--confirm', 'orders'] as const;
const RESTORES = 'orders POST /backups/restore';
const DEPRECATED = /V0 is deprecated and will be discontinued in a future release; use V1/g;
const UNSHOWN = 'V0 does not say whether orders is available';

describe('an instance that only has V0', { timeout: 1_200_000 }, () => {
  const labs = useLabs();
  const bench = (context: TestContext) =>
    labs(context, { config: (yaml) => yaml.replaceAll('revision: 62', 'revision: v0') });

  test('has a backup taken and proven, and the report names what V0 does not say', async (context) => {
    const { expect } = context;
    const { run, did, good } = await bench(context);
    const { code, stdout, stderr } = await run(...PROVE, '--yes');
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/backup \d+ is proven/);
    expect(stdout).toContain('state: V0 does not say');
    expect(stdout).toMatch(/V0 does not say: .*minimum length of a key.*the size of a backup/);
    expect(stderr.match(/warning: orders: V0 is deprecated/g)).toHaveLength(1);
    expect(did()).toEqual(['orders POST /backups']);
    const report = await good('report', await runIdOf(good));
    expect(report).toMatch(DEPRECATED);
    expect(report).toContain('V0 does not say');
  });

  test('is restored without a person, and the run claims nothing that V0 does not show', async (context) => {
    const { expect } = context;
    const { lab, run, did, good, entries } = await bench(context);
    const { code, stdout, stderr } = await run(...RESTORE, ...ANSWERED);
    expect(code, stderr).toBe(1);
    expect(stdout).toContain('closed without proof: orders is not shown to be available');
    expect(stdout).toContain(`deviation at available: ${UNSHOWN}, and nobody looked`);
    expect(stdout).toContain('state: V0 does not say');
    expect(stdout).toContain('restored from: V0 does not say');
    expect(stdout).toContain('follow-ups: all 4 done');
    expect(did().filter((call) => call === RESTORES)).toHaveLength(1);
    expect(did().filter((call) => call.includes('/v1/') || call.includes('PATCH'))).toEqual([]);
    const states = statesOf(await entries('run/'));
    expect(states).toContain('available.asking');
    expect(states).not.toContain('available.waiting');
    const apps = await lab.platform?.appsReach((all) => all.every(({ state }) => state === 'ok'));
    expect(apps?.length).toBeGreaterThan(0);
    expect(await good('audit', 'verify')).toContain('intact, up to the newest checkpoint of each place: ');
    const report = await good('report', await runIdOf(good));
    expect(report).toContain(UNSHOWN);
    expect(report).not.toContain('verdict: available');
  });

  test.skipIf(!hasTerminal())(
    'is restored on a screen, where the person supplies what V0 does not say',
    async (context) => {
      const { expect } = context;
      const opened = await bench(context);
      const terminal = openTerminal(opened.product, opened, [...RESTORE]);
      context.onTestFinished(() => terminal.close());
      const screen = personAt(terminal, expect);
      await screen.asks('back up the present state first');
      await screen.shows('V0 does not say whether orders is available, so the backup may fail');
      screen.type(KEYS.enter);
      await screen.asks(/type the instance's name to restore backup 1 into orders/);
      await screen.shows(/state +! V0 does not say/);
      await screen.confirm();
      await screen.asks(`the restore is done, but ${UNSHOWN}`);
      screen.type(KEYS.up);
      await screen.shows('❯ it is available');
      screen.type(KEYS.enter);
      await screen.asks('how do you know that it is available?');
      screen.type('psql answers');
      await screen.shows('is available?: psql answers');
      screen.type(KEYS.enter);
      await screen.asks('let the platform');
      screen.type(KEYS.enter);
      await screen.asks('closed without proof: orders is not shown to be available');
      screen.type(KEYS.enter);
      await screen.isGivenBack(1);
      expect(screen.text()).toContain("available, on the operator's word: psql answers");
      expect(opened.did().filter((call) => call === RESTORES)).toHaveLength(1);
    },
  );

  test('a lost answer to its restore leads to a question, and the restore is never sent twice', async (context) => {
    const { expect } = context;
    const { lab, run, did, entries } = await bench(context);
    lab.fault({ method: 'POST', path: '/backups/restore', effect: { kind: 'drop', when: 'after' } });
    const { code, stderr } = await run(...RESTORE, ...ANSWERED);
    expect(code, stderr).toBe(5);
    expect(statesOf(await entries('run/')).at(-1)).toBe('restore.inDoubt');
    const again = await run('resume', ...ANSWERED);
    expect(again.code, again.stderr).toBe(5);
    expect(did().filter((call) => call === RESTORES)).toHaveLength(1);
  });

  test('a run whose process was killed goes on, and nothing is sent twice', async (context) => {
    const { expect } = context;
    const { lab, start, run, did, entries } = await bench(context);
    lab.fault({ method: 'POST', path: '/backups/restore', effect: { kind: 'task', outcome: 'queued' } });
    const first = start(...RESTORE, ...ANSWERED);
    const states = async () => statesOf(await entries('run/'));
    await expect.poll(states, { timeout: 600_000 }).toContain('restore.waiting');
    first.child.kill('SIGKILL');
    await first.ended;
    lab.clearFaults();
    const again = await run('resume', ...ANSWERED);
    expect(again.code, again.stderr).toBe(1);
    expect(await states()).toContain('available.asking');
    expect((await states()).at(-1)).toBe('unproven');
    expect(did().filter((call) => call === RESTORES)).toHaveLength(1);
  });

  test('a plan names the calls of V0, and the calls that V0 lacks', async (context) => {
    const { expect } = context;
    const { run, did } = await bench(context);
    const { code, stdout, stderr } = await run('run', ...RESTORE.slice(1), '--dry-run');
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/POST …\/backups\/restore/);
    expect(stdout).not.toMatch(/backups-config|GET … /);
    expect(stdout).toMatch(
      /what its interface has no call for\n(?: {2}.*\n)* {2}waiting until the instance is available: /,
    );
    expect(stdout).toContain('state: V0 does not say');
    expect(did()).toEqual([]);
  });

  test('cannot use the other runbooks: the refusal names the call that V0 lacks and what can be run', async (context) => {
    const { expect } = context;
    const { run, did } = await bench(context);
    for (const [words, call] of [
      [['rotate-key'], 'PATCH …/backups-config'],
      [['change-instance', '--action', 'restart'], 'PATCH …/restart'],
      [['disaster-recovery', '--prepare'], 'POST …/disaster-recovery/prepare'],
      [['restore-point-in-time', '--to', '5 seconds ago'], 'POST …/pitr/restore'],
    ] as const) {
      const { code, stderr } = await run('run', ...words, '--instance', 'orders');
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(`${words[0]} cannot be run on orders: interface v0 of the service cannot`);
      expect(stderr).toContain(call);
      expect(stderr).toContain('hint: what can be run on orders: restore-backup, back-up-and-verify');
    }
    expect(did()).toEqual([]);
    expect(itemsIn((await run('runs', '--json')).stdout)).toEqual([]);
  });

  test('is warned about the end of V0 once per command, and never on the output for programs', async (context) => {
    const { expect } = context;
    const { run } = await bench(context);
    for (const words of [
      ['backups', 'list'],
      ['restores', 'list'],
      ['backups', 'create', '--yes', '--wait'],
    ]) {
      const { code, stdout, stderr } = await run(...words, '--instance', 'orders', '--json');
      expect(code, stderr).toBe(0);
      expect(stderr.match(DEPRECATED)).toHaveLength(1);
      expect(stdout).not.toMatch(DEPRECATED);
    }
    const { stdout } = await run('doctor');
    expect(stdout.match(DEPRECATED)?.length).toBeGreaterThan(0);
    expect(stdout).toContain('what can be run on orders: restore-backup, back-up-and-verify');
  });
});

async function runIdOf(good: LabBench['good']): Promise<string> {
  const [first] = itemsIn<{ runId: string }>(await good('runs', '--json'));
  return first?.runId ?? '';
}
