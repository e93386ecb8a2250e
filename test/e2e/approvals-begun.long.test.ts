import { hash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import type { Person } from '../approvals/people.ts';
import { type ApprovalBench, withApprovals } from '../bench-kit/approval-bench.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import { ANSWERED, changes, useQuickBenches } from '../bench-kit/test-bench.ts';

/** Changes the config as an editor does; gives back how it was. */
function edit({ folder }: ApprovalBench, change: (yaml: string) => string): () => void {
  const config = join(folder, 'lifeboat.yaml');
  const before = readFileSync(config, 'utf8');
  writeFileSync(config, change(before));
  return () => writeFileSync(config, before);
}

const without = (yaml: string) => yaml.replace(/^approvals:.*\n/m, '');
const sha256 = (path: string) => hash('sha256', readFileSync(path), 'hex');

describe.concurrent('the approval rules with which a run began', () => {
  const bench = useQuickBenches();

  test('is on record with its first entry: the policy, the files by their hashes, and who asks', async (context) => {
    const { expect } = context;
    const { rotate, run, entries, folder } = await withApprovals(bench, context);
    expect((await rotate()).code).toBe(3);
    const [started] = (await entries()).filter(({ stream }) => stream.startsWith('run/'));
    expect(started).toMatchObject({
      type: 'run.started',
      body: {
        who: whoAsks(folder),
        approvals: {
          required: { orders: 'destructive' },
          expiresSeconds: 3600,
          signers: {
            sha256: sha256(join(folder, 'approvers')),
            people: [{ names: 'ada@example.com', key: expect.stringMatching(/^SHA256:/) }],
          },
        },
      },
    });
    const shown = await run('audit', 'show');
    expect(shown.stdout).toContain(`login ${userInfo().username} (uid ${userInfo().uid}) on ${hostname()}`);
    expect(shown.stdout).toContain('approval on orders: for every destructive step');
    // The same person, the same config: nothing is new, so nothing is said again.
    expect((await run('resume', ...ANSWERED)).code).toBe(3);
    const resumed = (await entries()).find(({ type }) => type === 'run.resumed');
    expect(resumed?.body).not.toHaveProperty('who');
    expect(resumed?.body).not.toHaveProperty('approvals');
  });

  test.for([
    ['the approvals are taken out', without, 'the config names no approvers'],
    [
      'fewer changes need an approval',
      (yaml: string) => yaml.replace('./approvers', './approvers, required: overwrites'),
      'now: what overwrites data of orders needs a second person',
    ],
    [
      'the instance needs no approval',
      (yaml: string) => yaml.replace('  orders:\n', '  orders:\n    approval: none\n'),
      'now: no change of orders needs a second person',
    ],
    [
      'a request lasts longer',
      (yaml: string) => yaml.replace('./approvers', './approvers, expires: 2d'),
      'a request lasts longer',
    ],
  ] as const)(
    'cannot be weakened during the run: when %s, a resume is refused',
    async ([, change, says], context) => {
      const { expect } = context;
      const opened = await withApprovals(bench, context);
      const { server, rotate, run, entries, approve, ada } = opened;
      expect((await rotate()).code).toBe(3);
      await approve(ada);
      const putBack = edit(opened, change);
      const before = (await entries()).length;
      const refused = await run('resume', ...ANSWERED);
      expect(refused.code, refused.stderr).toBe(3);
      expect(refused.stderr).toContain('the config asks for less approval than when the run began');
      expect(refused.stderr).toMatch(/at the beginning: (?:every destructive change of orders|1 h)/);
      expect(refused.stderr).toContain(says);
      expect(refused.stderr).toContain('--break-glass REASON');
      expect((await entries()).length).toBe(before);
      expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
      putBack();
      const end = await run('resume', ...ANSWERED);
      expect(end.code, end.stderr).toBe(0);
      expect(changes(server)).toMatchObject({ patches: 1 });
    },
  );

  test('can be bypassed only with break-glass, which goes on record and heads the report', async (context) => {
    const { expect } = context;
    const opened = await withApprovals(bench, context);
    const { rotate, run, entries } = opened;
    expect((await rotate()).code).toBe(3);
    edit(opened, (yaml) => without(yaml).replace('Robin', 'Marian'));
    const end = await run('resume', ...ANSWERED, '--break-glass', 'the approvers are lost');
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toContain('BREAK-GLASS: the config asks for less approval');
    const types = typesOf(await entries(), 'run').filter((type) => type.startsWith('approval.'));
    expect(types).toEqual(['approval.asked', 'approval.weakened', 'approval.bypassed']);
    const id =
      (await entries()).find(({ type }) => type === 'run.started')?.stream.slice('run/'.length) ?? '';
    for (const format of ['md', 'json', 'html']) {
      const report = await run('report', id, '--format', format);
      expect(report.code, report.stderr).toBe(0);
      expect(report.stdout).toContain('BREAK-GLASS: the run went on with less approval than when it began');
      for (const word of ['Robin', 'Marian', 'ada@example.com', 'for every destructive step', 'not needed'])
        expect(report.stdout, format).toContain(word);
    }
    const shown = await run('audit', 'show', id);
    expect(shown.stdout).toContain('BREAK-GLASS: went on with less approval than at the beginning');
    expect((await run('audit', 'verify')).code).toBe(0);
  });

  test('decides who can approve: a person added to the file later cannot, though the change is on record', async (context) => {
    const { expect } = context;
    const opened = await withApprovals(bench, context);
    const { server, rotate, run, entries, approve, ada, people, folder, request } = opened;
    expect((await rotate()).code).toBe(3);
    const grace = people.person('grace@example.com');
    writeFileSync(join(folder, 'approvers'), `${grace.line()}${ada.line()}`);
    await approve(grace);
    const refused = await run('resume', ...ANSWERED);
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('was not in the file of allowed signers when the run began');
    const signature = join(folder, 'grace.sig');
    writeFileSync(signature, grace.sign((await request()).text));
    const brought = await run('approvals', 'accept', (await request()).run, signature);
    expect(brought.stderr).toContain('was not in the file of allowed signers when the run began');
    const resumed = (await entries()).find(({ type }) => type === 'run.resumed');
    expect(resumed?.body).toMatchObject({
      approvals: { signers: { sha256: sha256(join(folder, 'approvers')) } },
    });
    expect(changes(server)).toMatchObject({ patches: 0 });
    await approve(ada);
    expect((await run('resume', ...ANSWERED)).code).toBe(0);
  });

  test('decides who the requester is: a name removed from the config during the run approves nothing', async (context) => {
    const { expect } = context;
    let robin: Person | undefined;
    const opened = await withApprovals(bench, context, {
      signers: (ada, people) => {
        robin = people.person('robin');
        return `${ada.line()}${robin.line()}`;
      },
    });
    const { rotate, run, request, server, approve, ada } = opened;
    expect((await rotate()).code).toBe(3);
    edit(opened, (yaml) => yaml.replace('name: Robin', 'name: Marian'));
    await approve(ada);
    await server.schedule();
    // What the run is about to do has changed, so the next request is Marian's.
    expect((await run('resume', ...ANSWERED)).code).toBe(3);
    expect((await request()).text).toContain('requester: Marian\n');
    if (robin !== undefined) await approve(robin);
    const refused = await run('resume', ...ANSWERED);
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('somebody else has to');
    expect(changes(server)).toMatchObject({ patches: 0 });
    await approve(ada);
    expect((await run('resume', ...ANSWERED)).code).toBe(0);
  });

  test('cannot be empty by mistake: without a readable file no run begins', async (context) => {
    const { expect } = context;
    const { rotate, entries, folder } = await withApprovals(bench, context);
    rmSync(join(folder, 'approvers'));
    const refused = await rotate();
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stderr).toContain('nothing was started');
    expect((await entries()).filter(({ type }) => type === 'run.started')).toEqual([]);
    const glass = await rotate('--break-glass', 'the file is on the lost machine');
    expect(glass.code, glass.stderr).toBe(0);
  });

  test('is on record for a single command, too: who made it, on which machine, under which config', async (context) => {
    const { expect } = context;
    const { run, entries, folder } = await withApprovals(bench, context);
    const glass = await run('instance', 'restart', '--instance', 'orders', '--yes', '--break-glass', 'alone');
    expect(glass.code, glass.stderr).toBe(0);
    const begun = (await entries()).findLast(({ type }) => type === 'run.started');
    expect(begun?.body).toMatchObject({
      input: { reason: 'BREAK-GLASS: alone' },
      who: whoAsks(folder),
    });
    const shown = await run('audit', 'show', 'last');
    expect(shown.stdout).toContain(`login ${userInfo().username} (uid`);
  });
});

/** The operator of these benches, as the record names them. */
function whoAsks(folder: string) {
  const { username: login, uid } = userInfo();
  return { name: 'Robin', login, uid, host: hostname(), config: sha256(join(folder, 'lifeboat.yaml')) };
}
