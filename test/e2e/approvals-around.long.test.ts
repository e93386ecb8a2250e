import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { withApprovals } from '../bench-kit/approval-bench.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, changes, useQuickBenches } from '../bench-kit/test-bench.ts';

describe.concurrent('around approvals', () => {
  const bench = useQuickBenches();

  test('a process that is killed after the approval loses nothing: the next one confirms with the same approval', async (context) => {
    const { expect } = context;
    const asked = Promise.withResolvers<void>();
    let isArmed = false;
    const opened = await withApprovals(bench, context, {
      bench: {
        trouble: async ({ method }) => {
          if (method !== 'GET' || !isArmed) return undefined;
          asked.resolve();
          return { answerAfterMs: 60_000 };
        },
      },
    });
    const { server, rotate, start, run, approve, ada, entries } = opened;
    expect((await rotate()).code).toBe(3);
    await approve(ada);
    isArmed = true;
    const first = start('resume', ...ANSWERED);
    await asked.promise;
    first.child.kill('SIGKILL');
    await first.ended;
    isArmed = false;
    expect(changes(server)).toMatchObject({ patches: 0 });
    const end = await run('resume', ...ANSWERED);
    expect(end.code, end.stderr).toBe(0);
    expect(changes(server)).toMatchObject({ patches: 1, posts: 1 });
    expect(typesOf(await entries(), 'run').filter((type) => type === 'approval.given')).toHaveLength(1);
    expect((await run('audit', 'verify')).code).toBe(0);
  });

  test('a recovery asks about the target, and an instance that needs no approval is left alone', async (context) => {
    const { expect } = context;
    const { run, request, approve, ada, folder, server } = await withApprovals(bench, context);
    const config = join(folder, 'lifeboat.yaml');
    const yaml = readFileSync(config, 'utf8').replace('  orders:\n', '  orders:\n    approval: none\n');
    writeFileSync(config, yaml);
    const prepared = await run('run', 'disaster-recovery', '--instance', 'orders', '--prepare', '--yes');
    expect(prepared.code, prepared.stderr).toBe(0);
    const words = ['disaster-recovery', '--instance', 'orders', '--target', 'orders-dr', '--perform'];
    const planned = await run('run', ...words, '--dry-run');
    expect(planned.stdout).toContain('what a second person has to approve');
    expect(planned.stdout).toContain('a change of orders-dr');
    const first = await run('run', ...words, '--yes', '--confirm', 'orders-dr');
    expect(first.code, first.stderr).toBe(3);
    const { text } = await request();
    expect(text).toMatch(/^order: recover .* of orders into orders-dr with key [0-9a-f]{12}$/m);
    expect(text).toContain(`target: orders-dr\nurl: ${server.urlOf('orders-dr')}\n`);
    expect(text).toContain('call: POST /disaster-recovery/perform on orders-dr');
    await approve(ada);
    // The target has no key here, so that the run ends at its fresh backup.
    const end = await run('resume', '--yes', '--confirm', 'orders-dr');
    expect(end.code, end.stderr).toBe(3);
    expect(end.stderr).toContain('backup.no-key');
    expect(server.calls.filter(({ path }) => path.endsWith('/perform'))).toHaveLength(1);
  });

  test('when the config says so, approval is asked only for changes that overwrite data', async (context) => {
    const { expect } = context;
    const { rotate, run, server } = await withApprovals(bench, context, { more: ', required: overwrites' });
    expect((await rotate()).code).toBe(0);
    const restore = ['restore-backup', '--instance', 'orders', '--backup', `${server.backups[0]?.id}`];
    const waits = await run('run', ...restore, ...ANSWERED);
    expect(waits.code, waits.stderr).toBe(3);
    expect(waits.stderr).toContain('a second person has to approve it');
    expect(server.calls.filter(({ path }) => path.endsWith('/restore'))).toHaveLength(0);
  });

  test('commands that change something wait for the second person, and break-glass goes on record', async (context) => {
    const { expect } = context;
    const { run, server, entries } = await withApprovals(bench, context);
    const restart = ['instance', 'restart', '--instance', 'orders', '--yes'];
    const commands = [
      restart,
      ['instance', 'recreate', '--instance', 'orders', '--confirm', 'orders'],
      ['backups', 'restore', `${server.backups[0]?.id}`, '--instance', 'orders', '--confirm', 'orders'],
      ['backup-config', 'set', '--new-key', '--instance', 'orders', '--confirm', 'orders'],
    ];
    for (const words of commands) {
      const { code, stderr } = await run(...words);
      expect(code, `${words.join(' ')}: ${stderr}`).toBe(3);
      expect(stderr).toContain('a second person has to approve it');
      expect(stderr).toContain('lifeboat approve');
      const given = await run('resume', 'last', '--abandon', 'only tried');
      expect(given.code, given.stderr).toBe(0);
    }
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
    const backup = await run('backups', 'create', '--instance', 'orders', '--yes');
    expect(backup.code, backup.stderr).toBe(0);
    const glass = await run(...restart, '--break-glass', 'nobody there');
    expect(glass.code, glass.stderr).toBe(0);
    expect(glass.stderr).toContain('BREAK-GLASS, without a second person: nobody there');
    const begun = (await entries()).findLast(({ type }) => type === 'run.started');
    expect(begun?.body).toMatchObject({ input: { reason: 'BREAK-GLASS: nobody there' } });
  });

  test('doctor says who could not approve, and a run does not start with a config without approvers', async (context) => {
    const { expect } = context;
    const { run, folder, ada, entries } = await withApprovals(bench, context);
    const checks = async () =>
      itemsIn<{ what: string; state: string; found: string; hints: string[] }>(
        (await run('doctor', '--json')).stdout,
      ).filter(({ what }) => what.startsWith('approvals'));
    const signers = join(folder, 'approvers');
    expect((await checks()).map(({ state }) => state)).toEqual(['ok', 'ok']);
    writeFileSync(signers, `\ufeff"Ada Example" ${ada.line().replace(/^\S+ /, '')}`);
    expect((await checks()).map(({ state }) => state)).toEqual(['ok', 'ok']);
    writeFileSync(signers, `${ada.line()}ada ssh-ed25519\n`);
    expect((await checks())[1]).toMatchObject({ state: 'bad', found: expect.stringContaining('line 2') });
    writeFileSync(signers, '# nobody yet\n');
    expect((await checks())[1]).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('names nobody'),
    });
    chmodSync(signers, 0o666);
    expect((await checks())[1]).toMatchObject({ state: 'bad', found: expect.stringContaining('everybody') });
    chmodSync(signers, 0o600);
    writeFileSync(signers, `* cert-authority ${ada.publicKey}\n${ada.line()}`);
    expect((await checks())[1]).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('3 things to look at'),
      hints: expect.arrayContaining([
        expect.stringMatching(/^line 1 names no namespaces/),
        expect.stringMatching(/^line 1 accepts any name/),
      ]),
    });
    writeFileSync(signers, ada.line('namespaces="lifeboat-approval",valid-before="20200101"'));
    expect((await checks())[1]).toMatchObject({
      state: 'bad',
      hints: expect.arrayContaining(['no line could approve now']),
    });
    const config = join(folder, 'lifeboat.yaml');
    const yaml = readFileSync(config, 'utf8').replace(/^approvals:.*\n/m, '');
    writeFileSync(config, yaml.replace('  orders:\n', '  orders:\n    approval: required\n'));
    const begun = await run('run', 'rotate-key', '--instance', 'orders', ...ANSWERED);
    expect(begun.code, begun.stderr).toBe(2);
    expect(begun.stderr).toContain('the config names nobody to give them');
    await expect(entries()).rejects.toThrow('there is no journal');
  });

  test('approve signs only what it understands and what is still open, and needs no config', async (context) => {
    const { expect } = context;
    const { run, rotate, request, folder, ada, people } = await withApprovals(bench, context);
    expect((await rotate()).code).toBe(3);
    const { text } = await request();
    const other = join(folder, 'no-such.yaml');
    const carried = people.file('request.txt', text);
    const sign = (file: string, ...more: string[]) =>
      run('--config', other, 'approve', file, '--key', ada.keyFile, ...more);
    const unasked = await sign(carried);
    expect(unasked.code, unasked.stderr).toBe(3);
    const wrong = await sign(carried, '--confirm', 'order');
    expect(wrong.code, wrong.stderr).toBe(2);
    const changed = people.file('changed.txt', text.replace('mode: LIVE', 'mode: LIVE\u001b[2J'));
    const odd = await sign(changed, '--confirm', 'orders');
    expect(odd.code, odd.stderr).not.toBe(0);
    expect(odd.stderr).toContain('not an approval request');
    expect(odd.stderr).not.toContain('\u001b');
    const good = await sign(carried, '--confirm', 'orders');
    expect(good.code, good.stderr).toBe(0);
    expect(good.stdout).toBe(`${carried}.sig\n`);
    expect(good.stderr).toContain('order: set key');
    const { run: id } = await request();
    const accepted = await run('approvals', 'accept', id, `${carried}.sig`);
    expect(accepted.code, accepted.stderr).toBe(0);
    expect((await run('resume', ...ANSWERED)).code).toBe(0);
  });
});
