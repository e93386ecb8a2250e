import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import { ANSWERED, changes, useQuickBenches } from '../bench-kit/test-bench.ts';

const approvalsIn = (types: readonly string[]) => types.filter((type) => type.startsWith('approval.'));

describe.concurrent('approvals that do not count, and what becomes of the run', () => {
  const bench = useQuickBenches();

  test('an approval by an unknown person, of other words, or for other things does not count', async (context) => {
    const { expect } = context;
    const { server, rotate, run, request, approve, ada, people, entries } = await withApprovals(
      bench,
      context,
    );
    expect((await rotate()).code).toBe(3);
    const { file, text } = await request();
    const attempts: readonly (readonly [string, string, string])[] = [
      ['a stranger', people.person('mallory@example.com').sign(text), 'belong to anybody who may approve'],
      [
        'another text',
        ada.sign(text.replace('target: orders', 'target: payroll')),
        'does not match this request',
      ],
      ['another purpose', ada.sign(text, 'git'), 'does not match this request'],
      ['no signature', 'yes, of course', 'holds no SSH signature'],
      ['nothing', '', 'holds no SSH signature'],
    ];
    for (const [name, signature, why] of attempts) {
      writeFileSync(`${file}.sig`, signature);
      const { code, stderr } = await run('resume', ...ANSWERED);
      expect(code, `${name}: ${stderr}`).toBe(3);
      expect(stderr, name).toContain(why);
    }
    expect(changes(server)).toMatchObject({ patches: 0 });
    expect(approvalsIn(typesOf(await entries(), 'run'))).toEqual(['approval.asked']);
    await approve(ada);
    expect((await run('resume', ...ANSWERED)).code).toBe(0);
  });

  test('the requester cannot approve, under any spelling, nor with the key of this machine', async (context) => {
    const { expect } = context;
    const { server, rotate, run, request, approve, people, folder } = await withApprovals(bench, context, {
      signers: (ada) => ada.line(),
    });
    const self = people.person('ROBIN');
    const printed = await run('approve', '--print-key', 'grace@example.com');
    expect(printed.stdout).toMatch(
      /^grace@example.com namespaces="lifeboat-approval" ssh-ed25519 \S+ lifeboat:[0-9a-f]{16}\n$/,
    );
    writeFileSync(join(folder, 'approvers'), `${self.line()}${printed.stdout}`);
    expect((await rotate()).code).toBe(3);
    await approve(self);
    const refused = await run('resume', ...ANSWERED);
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('somebody else has to');

    const { file } = await request();
    const over = await run('approve', file, '--confirm', 'orders', '--out', file);
    expect([over.code, over.stderr]).toEqual([2, expect.stringContaining('over the request itself')]);
    const signed = await run('approve', file, '--confirm', 'orders');
    expect(signed.stderr).toContain('lifeboat approve --print-key NAME');
    expect(signed.code, signed.stderr).toBe(0);
    const own = await run('resume', ...ANSWERED);
    expect(own.code, own.stderr).toBe(3);
    expect(own.stderr).toContain('whoever has the key of this installation');
    expect(changes(server)).toMatchObject({ patches: 0 });
  });

  test('an expired approval is asked for again, and the old one stays invalid', async (context) => {
    const { expect } = context;
    const { server, rotate, run, request, approve, ada } = await withApprovals(bench, context, {
      more: ', expires: 300ms',
    });
    expect((await rotate()).code).toBe(3);
    const old = await request();
    await approve(ada);
    await expect.poll(() => Date.now() > Date.parse(/^expires: (.*)$/m.exec(old.text)?.[1] ?? '')).toBe(true);
    const late = await run('resume', ...ANSWERED);
    expect(late.code, late.stderr).toBe(3);
    expect(late.stderr).toContain('has expired; a new one was written');
    const fresh = await request();
    expect(fresh.file).not.toBe(old.file);
    writeFileSync(`${fresh.file}.sig`, readFileSync(`${old.file}.sig`));
    const swapped = await run('resume', ...ANSWERED);
    expect(swapped.code, swapped.stderr).toBe(3);
    expect(changes(server)).toMatchObject({ patches: 0 });
  });

  test('an approval can be withdrawn until the name is typed', async (context) => {
    const { expect } = context;
    const { server, rotate, run, request, approve, ada, entries } = await withApprovals(bench, context);
    expect((await rotate()).code).toBe(3);
    const old = await request();
    await approve(ada);
    const taken = await run('approvals', 'withdraw', old.run, '--reason', 'wrong instance');
    expect(taken.code, taken.stderr).toBe(0);
    const withdrawn = (await entries()).find(({ type }) => type === 'approval.withdrawn');
    expect(withdrawn?.body).toMatchObject({ approver: withdrawn?.by });
    const refused = await run('resume', ...ANSWERED);
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('the approval was withdrawn: wrong instance');
    expect(changes(server)).toMatchObject({ patches: 0 });
    expect((await request()).file).not.toBe(old.file);
    await approve(ada);
    expect((await run('resume', ...ANSWERED)).code).toBe(0);
    expect(approvalsIn(typesOf(await entries(), 'run'))).toEqual([
      'approval.asked',
      'approval.withdrawn',
      'approval.asked',
      'approval.given',
    ]);
  });

  test('a revoked key and an expired key approve nothing', async (context) => {
    const { expect } = context;
    const { rotate, run, approve, ada, folder, request, server } = await withApprovals(bench, context, {
      more: ', revoked: ./revoked',
    });
    const [approvers, revoked] = [join(folder, 'approvers'), join(folder, 'revoked')];
    writeFileSync(revoked, '');
    expect((await rotate()).code).toBe(3);
    await approve(ada);
    writeFileSync(approvers, ada.line('valid-before="20200101"'));
    const over = await run('resume', ...ANSWERED);
    expect(over.code, over.stderr).toBe(3);
    expect(over.stderr).toContain('was not in the file of allowed signers when the run began');
    writeFileSync(approvers, ada.line());
    writeFileSync(revoked, `${ada.publicKey}\n`);
    const struck = await run('resume', ...ANSWERED);
    expect(struck.code, struck.stderr).toBe(3);
    expect(struck.stderr).toContain('is revoked');
    const { run: first } = await request();
    expect((await run('resume', first, '--abandon', 'nobody else is there')).code).toBe(0);
    // Of the next run they were never.
    writeFileSync(approvers, ada.line('valid-before="20200101"'));
    writeFileSync(revoked, '');
    expect((await rotate()).code).toBe(3);
    await approve(ada);
    const late = await run('resume', ...ANSWERED);
    expect(late.code, late.stderr).toBe(3);
    expect(late.stderr).toContain('does not belong to anybody who may approve now');
    expect(changes(server)).toMatchObject({ patches: 0 });
  });

  test('if the instance changes after the approval, the change must be approved again', async (context) => {
    const { expect } = context;
    const { server, rotate, run, request, approve, ada, entries } = await withApprovals(bench, context);
    expect((await rotate()).code).toBe(3);
    const first = await request();
    await approve(ada);
    await server.schedule();
    const drifted = await run('resume', ...ANSWERED);
    expect(drifted.code, drifted.stderr).toBe(3);
    const second = await request();
    expect(second.file).not.toBe(first.file);
    expect(second.text).toContain('has changed');
    expect(changes(server)).toMatchObject({ patches: 0 });
    const still = await run('resume', ...ANSWERED);
    expect(still.code, still.stderr).toBe(3);
    await approve(ada);
    expect((await run('resume', ...ANSWERED)).code).toBe(0);
    expect(approvalsIn(typesOf(await entries(), 'run'))).toEqual([
      'approval.asked',
      'approval.given',
      'approval.asked',
      'approval.given',
    ]);
  });

  test('a lost request file is written again from the journal', async (context) => {
    const { expect } = context;
    const { rotate, run, request, home, approve, ada } = await withApprovals(bench, context);
    expect((await rotate()).code).toBe(3);
    const before = await request();
    rmSync(join(home, 'approvals'), { recursive: true });
    expect((await run('resume', ...ANSWERED)).code).toBe(3);
    expect(await request()).toEqual(before);
    await approve(ada);
    expect((await run('resume', ...ANSWERED)).code).toBe(0);
  });
});
