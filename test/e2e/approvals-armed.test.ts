import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { type ApprovalBench, withApprovals } from '../bench-kit/approval-bench.ts';
import type { ForeignServer } from '../bench-kit/foreign/server.ts';
import { ANSWERED, changes, ROTATE, useQuickBenches } from '../bench-kit/test-bench.ts';

/** Calls that replace a key or data. */
function destructive({ calls }: ForeignServer): number {
  return calls.filter(({ method, path }) => method === 'PATCH' || path.endsWith('/restore')).length;
}

describe.concurrent('an approval that was given to a process that died before its call', () => {
  const bench = useQuickBenches();

  /** Kills a run between its typed name and its call, with the approval of Ada on record. */
  async function killedWithApproval(
    context: Pick<TestContext, 'onTestFinished'>,
    words: (opened: ApprovalBench) => readonly string[],
  ): Promise<ApprovalBench & { readonly runId: string }> {
    const reached = Promise.withResolvers<void>();
    let isWatched = false;
    let look = async (): Promise<readonly { readonly type: string }[]> => [];
    const opened = await withApprovals(bench, context, {
      more: ', revoked: ./revoked',
      bench: {
        trouble: async ({ method }) => {
          if (method !== 'GET' || !isWatched) return undefined;
          if (!(await look()).some(({ type }) => type === 'approval.given')) return undefined;
          reached.resolve();
          return { answerAfterMs: 60_000 };
        },
      },
    });
    look = opened.entries;
    writeFileSync(join(opened.folder, 'revoked'), '', { mode: 0o600 });
    await opened.run(...words(opened), ...ANSWERED);
    const { run } = await opened.request();
    await opened.approve(opened.ada);
    isWatched = true;
    const first = opened.start('resume', ...ANSWERED);
    await reached.promise;
    first.child.kill('SIGKILL');
    await first.ended;
    isWatched = false;
    return { ...opened, runId: run };
  }

  const rotation = () => ROTATE;
  const restoration = ({ server }: ApprovalBench) => {
    return ['run', 'restore-backup', '--instance', 'orders', '--backup', `${server.backups[0]?.id}`];
  };

  test.for([
    {
      name: 'is taken back',
      words: rotation,
      change: async ({ run, runId }: ApprovalBench & { readonly runId: string }) =>
        (await run('approvals', 'withdraw', runId, '--reason', 'wrong instance')).code,
      says: 'the approval was withdrawn: wrong instance',
    },
    {
      name: 'has a signer who is revoked',
      words: restoration,
      change: async ({ folder, ada }: ApprovalBench) =>
        writeFileSync(join(folder, 'revoked'), `${ada.publicKey}\n`) ?? 0,
      says: 'is revoked',
    },
    {
      name: 'has a signer who is taken from the list',
      words: restoration,
      change: async ({ folder, people }: ApprovalBench) =>
        writeFileSync(join(folder, 'approvers'), people.person('bob@example.com').line()) ?? 0,
      says: 'the approval that was given does not count any more',
    },
  ])('allows nothing once it $name', async ({ words, change, says }, context) => {
    const { expect } = context;
    const killed = await killedWithApproval(context, words);
    const { server, run, entries } = killed;
    expect(destructive(server)).toBe(0);
    expect(await change(killed)).toBe(0);
    const end = await run('resume', ...ANSWERED);
    expect(end.code, end.stderr).not.toBe(0);
    expect(`${end.stdout}${end.stderr}`).toContain(says);
    expect(destructive(server)).toBe(0);
    const armed = (await entries()).filter(({ type }) => type === 'intent.armed');
    expect(armed.filter(({ body }) => (body as { verb: string }).verb !== 'createBackup')).toEqual([]);
    expect((await run('audit', 'verify')).code).toBe(0);
  });

  test('is used while it is still valid', async (context) => {
    const { expect } = context;
    const { server, run } = await killedWithApproval(context, rotation);
    const end = await run('resume', ...ANSWERED);
    expect(end.code, end.stderr).toBe(0);
    expect(changes(server)).toMatchObject({ patches: 1 });
  });

  test('is replaced by break-glass, which goes on record', async (context) => {
    const { expect } = context;
    const { server, run, folder, ada, entries } = await killedWithApproval(context, rotation);
    writeFileSync(join(folder, 'revoked'), `${ada.publicKey}\n`);
    const end = await run('resume', ...ANSWERED, '--break-glass', 'nobody is there');
    expect(end.code, end.stderr).toBe(0);
    expect(changes(server)).toMatchObject({ patches: 1 });
    const bypassed = (await entries()).find(({ type }) => type === 'approval.bypassed');
    expect(bypassed?.body).toMatchObject({ reason: 'nobody is there' });
  });
});
