import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'vitest';
import { NAMESPACE } from '../../src/approvals/ssh-signature.ts';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, changes, useQuickBenches } from '../bench-kit/test-bench.ts';

const approvalsIn = (types: readonly string[]) => types.filter((type) => type.startsWith('approval.'));

describe.concurrent('a change that a second person has to approve', () => {
  const bench = useQuickBenches();

  test('waits with exit 3, names file and command, and continues once the second person has signed', async (context) => {
    const { expect } = context;
    const { server, rotate, here, run, entries, request, ada } = await withApprovals(bench, context);
    const first = await rotate();
    expect(first.code, first.stderr).toBe(3);
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
    const asked = await request();
    expect(first.stderr).toContain(asked.file);
    expect(first.stderr).toContain(`ssh-keygen -Y sign -n ${NAMESPACE} -f ~/.ssh/id_ed25519 ${asked.file}`);
    expect(statSync(asked.file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(asked.file)).mode & 0o777).toBe(0o700);
    expect(asked.text).toMatch(/^[\x20-\x7e\n]+\n$/);
    expect(asked.text).toContain(`target: orders\nurl: ${server.urlOf('orders')}\n`);
    expect(asked.text).toContain('requester: Robin\n');
    expect(asked.text).toContain('call: PATCH /backups-config on orders: encryption_key = the new key\n');

    const signature = ada.sign(asked.text);
    const brought = join(dirname(dirname(asked.file)), 'brought.sig');
    writeFileSync(brought, signature);
    const accepted = await run('approvals', 'accept', asked.run, brought);
    expect(accepted.code, accepted.stderr).toBe(0);
    const listed = await run('approvals', '--json');
    expect(listed.code, listed.stderr).toBe(0);
    expect(itemsIn(listed.stdout)[0]).toMatchObject({ state: 'given', by: 'ada@example.com' });

    const end = await run('resume', ...ANSWERED);
    expect(end.code, end.stderr).toBe(0);
    expect(changes(server)).toMatchObject({ patches: 1, posts: 1 });
    expect(approvalsIn(typesOf(await entries(), 'run'))).toEqual(['approval.asked', 'approval.given']);

    // A second opinion on what is on record: OpenSSH alone, with the text and the signature of the journal.
    const all = await entries();
    const body = (type: string) => all.find((entry) => entry.type === type)?.body as Record<string, string>;
    const kept = join(dirname(asked.file), 'kept.sig');
    writeFileSync(kept, body('approval.given')['signature'] ?? '');
    const signers = join(dirname(asked.file), 'signers');
    writeFileSync(signers, ada.line());
    const verdict = spawnSync(
      'ssh-keygen',
      ['-Y', 'verify', '-f', signers, '-I', 'ada@example.com', '-n', NAMESPACE, '-s', kept],
      { input: body('approval.asked')['text'], encoding: 'utf8' },
    );
    expect(verdict.status, verdict.stderr).toBe(0);
    expect(verdict.stdout).toContain(body('approval.given')['key']);
    const audit = await here('audit', 'verify');
    expect(audit.code, audit.stdout).toBe(0);
  });

  test('break-glass works: with a reason, with a warning, and on record', async (context) => {
    const { expect } = context;
    const { server, rotate, here, entries } = await withApprovals(bench, context);
    const end = await rotate('--break-glass', 'Ada is asleep');
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toMatch(
      /^BREAK-GLASS: set key [0-9a-f]{12} on orders without a second person: Ada is asleep$/m,
    );
    expect(changes(server)).toMatchObject({ patches: 1 });
    const bypassed = (await entries()).find(({ type }) => type === 'approval.bypassed');
    expect(bypassed?.body).toMatchObject({ reason: 'Ada is asleep' });
    expect((await here('audit', 'verify')).code).toBe(0);
  });

  test('without approvals in the config no approval is asked for, and no request is written', async (context) => {
    const { expect } = context;
    const { rotate, entries } = await bench(context);
    expect((await rotate()).code).toBe(0);
    expect(approvalsIn(typesOf(await entries(), 'run'))).toEqual([]);
  });
});
