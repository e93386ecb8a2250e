import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { statePath } from '../../machines/parts/states.ts';
import { type Kind, somePlan } from '../approvals/plan-scene.ts';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import { signerOf } from '../bench-kit/key-store.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

describe.concurrent('an approval that a plan asks for, from the command line', () => {
  const bench = useQuickBenches();

  test.for<Kind>(['plan', 'step'])(
    'is listed, is accepted only from those whom a %s names, each once, and passes the audit',
    async (kind, context) => {
      const { expect } = context;
      const { run, home, folder } = await withApprovals(bench, context);
      const startMs = Date.now();
      const place = { home, signer: await signerOf(home), signers: join(folder, 'approvers'), startMs };
      const at = await somePlan(context, kind, {}, place);
      const { bob, carol, dave, sam } = at.people;
      const brought = join(folder, 'brought.sig');
      const accept = async (text: string, by = bob) => {
        writeFileSync(brought, by.sign(text));
        const { code, stdout, stderr } = await run('approvals', 'accept', at.runId, brought);
        return { code, says: `${stdout}${stderr}` };
      };
      const first = (await at.asked()).text;

      expect(await accept(first, dave)).toMatchObject({
        code: 3,
        says: expect.stringContaining('the plan lets only bob@acme.com, carol@acme.com'),
      });
      expect(await accept(first, sam)).toMatchObject({
        code: 3,
        says: expect.stringMatching(/sam@acme.com.* cannot approve it/),
      });
      expect(await accept(first)).toMatchObject({
        code: 0,
        says: expect.stringMatching(/^bob@acme.com approves .*\(approval 1 of 2\)$/m),
      });
      const listed = itemsIn((await run('approvals', '--json')).stdout);
      expect(listed).toEqual([expect.objectContaining({ runId: at.runId, state: 'given' })]);
      await at.lookAgain();
      expect(await at.type()).toBeUndefined();

      const second = (await at.asked()).text;
      expect(await accept(first, carol)).toMatchObject({
        code: 3,
        says: expect.stringContaining('for an earlier request of this run'),
      });
      expect(await accept(second)).toMatchObject({
        code: 3,
        says: expect.stringContaining('bob@acme.com has approved this before, and counts once'),
      });
      const withdrawn = await run('approvals', 'withdraw', at.runId, '--reason', 'not tonight');
      expect(withdrawn.code, withdrawn.stderr).toBe(0);
      expect(await accept(second, carol)).toMatchObject({
        code: 2,
        says: expect.stringContaining('it was withdrawn'),
      });
      expect((await at.type())?.code).toBe('approval.withdrawn');
      expect(await accept((await at.asked()).text, carol)).toMatchObject({ code: 0 });
      expect(await at.type()).toBeUndefined();
      expect(statePath(at.run().state().snapshot)).toBe(kind === 'plan' ? 'confirm' : 'done');

      // Nothing is left to be taken back.
      expect((await run('approvals', 'withdraw', at.runId, '--reason', 'too late')).code).toBe(2);
      await at.run().detach();
      const audit = await run('audit', 'verify');
      expect(audit.stdout).toMatch(/consistent|intact/);
      expect(audit.stdout + audit.stderr).not.toMatch(/approval|problem/);
    },
  );

  test('is waited for with exit code 3 and the reason when the name of the plan is given before it is signed', async (context) => {
    const { expect } = context;
    const opened = await withApprovals(bench, context, {
      signers: (ada, people) => `${ada.line()}${people.person('bob@example.com').line()}`,
    });
    const { run, folder, approve, ada } = opened;
    mkdirSync(join(folder, 'plans'));
    writeFileSync(
      join(folder, 'plans', 'west.yaml'),
      'plan: west\napprove: { quorum: 2 }\ngroups: [{ id: go, steps: [{ id: rest, wait: 1s }] }]\n',
    );
    const asked = (number: number) => [
      3,
      expect.stringMatching(
        new RegExp(
          `waits for an approval to start the plan west \\(approval ${number} of 2\\): a second person has to`,
          'u',
        ),
      ),
    ];
    const first = await run('plans', 'run', 'west', '--confirm', 'west');
    expect([first.code, first.stderr]).toEqual(asked(1));
    await approve(ada);
    for (const _ of ['once', 'again']) {
      const more = await run('resume', 'last', '--plain', '--confirm', 'west');
      expect([more.code, more.stderr]).toEqual(asked(2));
      expect(more.stderr).not.toContain('name of the group');
    }
  });
});
