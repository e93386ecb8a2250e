import { describe, test } from 'vitest';
import type { Trouble } from '../bench-kit/foreign/call.ts';
import { answerIn, itemsIn } from '../bench-kit/results.ts';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { changes, useQuickBenches } from '../bench-kit/test-bench.ts';
import { hasPast } from './flows.ts';

const NEVER_ARRIVED: Trouble = { work: false, answer: 'lost' };
const LOST: Trouble = { answer: 'lost' };
const ORDERS = ['--instance', 'orders'] as const;
const SURE = [...ORDERS, '--confirm', 'orders'] as const;
const HOUR = { inFlight: '1h' } as const;

/** Trouble for the requests of a restore. */
function atRestore(trouble: Trouble) {
  return ({ method, path }: { readonly method: string; readonly path: string }): Trouble | undefined =>
    method === 'POST' && path.endsWith('/restore') ? trouble : undefined;
}

function restoresSent({ server }: TestBench): number {
  return server.calls.filter(({ method, path }) => method === 'POST' && path.endsWith('/restore')).length;
}

async function newest(bench: TestBench): Promise<string> {
  const { stdout } = await bench.run('backups', 'list', ...ORDERS, '--json');
  return String(answerIn(stdout)[0].id);
}

/** Starts a command and kills it when the journal holds that the answer to its restore was lost. */
async function killedInDoubt(bench: TestBench, ...args: string[]): Promise<void> {
  const running = bench.start(...args);
  const isLost = async () =>
    (await bench.entries().catch(() => [])).some(
      ({ type, body }) => type === 'intent.outcome' && (body as { verb?: string }).verb === 'restoreBackup',
    );
  while (!(await isLost())) await new Promise((resolve) => setTimeout(resolve, 100));
  running.child.kill('SIGKILL');
  await running.ended;
}

describe.concurrent('a restore in doubt', () => {
  const bench = useQuickBenches();

  test('of a single command keeps every run from starting until a person says what became of it', async (context) => {
    const { expect } = context;
    const home = await bench(context, { ...HOUR, trouble: atRestore(NEVER_ARRIVED) });
    const id = await newest(home);
    await killedInDoubt(home, 'backups', 'restore', id, ...SURE);
    const refused = await home.run('run', 'restore-backup', ...SURE, '--yes', '--backup', id);
    expect([refused.code, restoresSent(home)], refused.stderr).toEqual([5, 1]);
    expect(refused.stderr).toContain(`the restore of backup ${id} on orders, sent `);
    expect(refused.stderr).toMatch(/^hint: .* which sends nothing: lifeboat resume \w+ --look$/mu);
    expect((await home.run('resume', 'last', '--abandon', 'no time')).code).toBe(0);
    const again = await home.run('run', 'restore-backup', ...SURE, '--yes', '--backup', id);
    expect([again.code, restoresSent(home)], again.stderr).toEqual([5, 1]);
    const unlisted = await home.run('resume', 'last', '--became', '99999', '--reason', 'I think');
    expect(unlisted.code, unlisted.stderr).toBe(2);
    expect(unlisted.stderr).toContain('the service lists no restore 99999; nothing was resolved');
    const resolved = await home.run('resume', 'last', '--became', 'nothing', '--reason', 'I looked');
    expect(resolved.code, resolved.stderr).toBe(0);
    const begun = await home.run('run', 'restore-backup', ...ORDERS, '--yes', '--backup', id);
    expect(begun.code, begun.stderr).toBe(3);
  });

  test('of a run refuses single commands, even after the run was abandoned', async (context) => {
    const { expect } = context;
    const home = await bench(context, { ...HOUR, trouble: atRestore(NEVER_ARRIVED) });
    const id = await newest(home);
    await killedInDoubt(home, 'run', 'restore-backup', ...SURE, '--yes', '--backup', id);
    const raw = await home.run('backups', 'restore', id, ...SURE);
    expect(raw.code, raw.stderr).toBe(5);
    expect(raw.stderr).toMatch(/hint: to ask the service and go on: lifeboat resume \w+/u);
    const given = await home.run('resume', '--abandon', 'no time');
    expect(given.code, given.stderr).toBe(0);
    expect(given.stdout).toContain(`the restore of backup ${id} on orders, sent `);
    const listed = await home.run('runs', '--in-doubt', '--json');
    expect(itemsIn(listed.stdout)).toMatchObject([{ instance: 'orders', verb: 'restoreBackup' }]);
    const next = await home.run('run', 'restore-backup', ...SURE, '--yes', '--backup', id);
    expect([next.code, restoresSent(home)], next.stderr).toEqual([5, 1]);
    // What the killed process asked last, no entry may cover; nothing else is open.
    const audit = await home.here('audit', 'verify');
    const open = audit.stdout.match(/^(?:problem|limit): .*/gmu) ?? [];
    expect(open.filter((line) => !line.includes(' goes on for '))).toEqual([]);
    expect(audit.code, audit.stdout).toBe(open.length === 0 ? 0 : 3);
  });

  test('that a single command finds in the list is adopted, and the command says how certain that is', async (context) => {
    const { expect } = context;
    const home = await bench(context, { trouble: atRestore(LOST) });
    const id = await newest(home);
    const restored = await home.run('backups', 'restore', id, ...SURE, '--no-follow-ups', 'a script');
    expect(restored.code, restored.stderr).toBe(0);
    expect(restored.stderr).toMatch(
      /^adopted: .*the service shows restore \d+, triggered .*; certainly ours; /mu,
    );
    expect(changes(home.server)).toMatchObject({ posts: 1, postsDone: 1 });
  });
});

describe.concurrent('a point in time', () => {
  const bench = useQuickBenches();
  const archiving = { instances: [{ name: 'orders', archiving: true, backups: 1 }] };

  test('with an offset is sent to the service in UTC, and is shown as it was typed', async (context) => {
    const { expect } = context;
    const home = await bench(context, archiving);
    await hasPast(home);
    const then = new Date(Date.now() - 3_000);
    const there = new Date(then.getTime() + 3_600_000).toISOString().replace('Z', '+01:00');
    const { stderr } = await home.run('pitr', 'restore', '--to', there, ...SURE);
    expect(stderr).toContain(`restore orders to ${there}, which is `);
    const sent = home.server.calls.find(({ path }) => path.endsWith('/pitr/restore'));
    expect(sent?.body, stderr).toEqual({ target_time: then.toISOString() });
  });

  test('is accepted by the single command in every form that a run accepts, and the hint shows these forms', async (context) => {
    const { expect } = context;
    const home = await bench(context, archiving);
    await hasPast(home);
    const { code, stderr } = await home.run(
      'pitr',
      'restore',
      '--to',
      '3 seconds ago',
      ...SURE,
      '--no-follow-ups',
      'a script',
    );
    expect(code, stderr).toBe(0);
    const sent = home.server.calls.find(({ path }) => path.endsWith('/pitr/restore'));
    const time = String(sent?.body['target_time']);
    expect(stderr).toContain(
      `restore orders to 3 seconds ago, which is ${time.replace('T', ' ').replace('Z', ' UTC')}`,
    );
    const hint = /^hint: for instance (?<rfc>\S+), .*"10 minutes ago"$/mu;
    const wrong = [
      ['pitr', 'restore', '--to', 'some day', ...SURE],
      ['run', 'restore-point-in-time', '--to', 'some day', ...ORDERS],
    ];
    for (const command of wrong) {
      const refused = await home.run(...command);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(hint)]);
      const [, typed = ''] = hint.exec(refused.stderr) ?? [];
      // What the hint says to type is read: it is only too long ago.
      const old = await home.run('pitr', 'restore', '--to', typed, ...SURE);
      expect(old.stderr).toContain('is outside of the range that can be restored');
    }
  });
});
