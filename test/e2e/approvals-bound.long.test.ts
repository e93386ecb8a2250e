import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'vitest';
import type { Json } from '../../src/store/journal.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { type ApprovalBench, withApprovals } from '../bench-kit/approval-bench.ts';
import { typesOf } from '../bench-kit/entries-of.ts';
import { signerOf } from '../bench-kit/key-store.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { ANSWERED, changes, useQuickBenches } from '../bench-kit/test-bench.ts';

type Fields = Readonly<Record<string, string>>;

/** Writes into the journal as an attacker could who has the database and the installation's key. */
async function forge({ home }: ApprovalBench, run: string, body: Fields): Promise<void> {
  const journal = await openSqliteStore({
    home,
    by: 'Robin',
    signer: await signerOf(home),
    projections: PROJECTIONS,
  });
  try {
    const hold = await journal.hold(`run/${run}`);
    const entry = { stream: hold.resource, type: 'approval.asked', body: body as unknown as Json };
    await journal.append([entry], [hold]);
  } finally {
    await journal.close();
  }
}

async function askedIn({ entries }: ApprovalBench, run: string): Promise<Fields> {
  const all = (await entries()).filter(({ stream }) => stream === `run/${run}`);
  return all.findLast(({ type }) => type === 'approval.asked')?.body as unknown as Fields;
}

/** Changes the config as an editor does. */
function edit({ folder }: ApprovalBench, change: (yaml: string) => string): void {
  const config = join(folder, 'lifeboat.yaml');
  writeFileSync(config, change(readFileSync(config, 'utf8')));
}

const without = (yaml: string) => yaml.replace(/^approvals:.*\n/m, '');

describe.concurrent('an approval that a second person has signed', () => {
  const bench = useQuickBenches();

  test('for one run does not count for another, even if its text is in the record of the other', async (context) => {
    const { expect } = context;
    const opened = await withApprovals(bench, context);
    const { server, run, approve, ada, request, home, entries } = opened;
    const restore = (backup: number | undefined) =>
      run('run', 'restore-backup', '--instance', 'orders', '--backup', `${backup}`, ...ANSWERED);
    const created = await run('backups', 'create', '--instance', 'orders', '--yes');
    expect(created.code, created.stderr).toBe(0);
    const [one, two] = server.backups;
    expect((await restore(one?.id)).code).toBe(3);
    const first = await request();
    await approve(ada);
    const signature = `${first.file}.sig`;
    const given = await askedIn(opened, first.run);
    expect((await run('resume', first.run, '--abandon', 'another backup is better')).code).toBe(0);
    const waits = await restore(two?.id);
    expect(waits.code, waits.stderr).toBe(3);
    const all = (await entries()).filter(({ type }) => type === 'run.started');
    const other = all.map(({ stream }) => stream.slice('run/'.length)).at(-1) ?? '';
    const own = await askedIn(opened, other);
    expect(own['text']).not.toBe(given['text']);
    const before = changes(server).posts;
    await forge(opened, other, {
      ...own,
      text: given['text'] ?? '',
      challenge: given['challenge'] ?? '',
    });
    copyFileSync(signature, join(home, 'approvals', other, `${given['challenge']}.txt.sig`));

    const listed = await run('approvals', other, '--json');
    expect(listed.code, listed.stderr).toBe(3);
    expect(itemsIn(listed.stdout)[0]).toMatchObject({
      state: 'refused',
      by: expect.stringContaining('its text has another run'),
    });
    const accepted = await run('approvals', 'accept', other, signature);
    expect(accepted.code, accepted.stderr).toBe(2);
    expect(accepted.stderr).toContain('its text has another run');
    const end = await run('resume', other, ...ANSWERED);
    expect(end.code, end.stderr).toBe(3);
    expect(end.stderr).toContain('the request on record does not fit this confirmation');
    expect(changes(server).posts).toBe(before);
    // Honestly asked again, and honestly signed, it goes on.
    const fresh = await askedIn(opened, other);
    expect(fresh['text']).toContain(`run: ${other}\n`);
    writeFileSync(
      join(home, 'approvals', other, `${fresh['challenge']}.txt.sig`),
      ada.sign(fresh['text'] ?? ''),
    );
    await run('resume', other, ...ANSWERED);
    expect(changes(server).posts).toBeGreaterThan(before);
  });

  test.for([
    ['the approvals are taken out', without],
    [
      'only overwriting asks',
      (yaml: string) => yaml.replace('./approvers', './approvers, required: overwrites'),
    ],
    ['nothing asks', (yaml: string) => yaml.replace('./approvers', './approvers, required: none')],
    [
      'this one asks nobody',
      (yaml: string) => yaml.replace('  orders:\n', '  orders:\n    approval: none\n'),
    ],
  ] as const)('is still needed in a run that has asked for it, when %s', async ([name, change], context) => {
    const { expect } = context;
    const opened = await withApprovals(bench, context);
    const { server, rotate, run, approve, ada, folder, entries } = opened;
    expect((await rotate()).code).toBe(3);
    const config = readFileSync(join(folder, 'lifeboat.yaml'), 'utf8');
    edit(opened, change);
    expect(readFileSync(join(folder, 'lifeboat.yaml'), 'utf8')).not.toBe(config);
    const refused = await run('resume', ...ANSWERED);
    expect(refused.code, refused.stderr).toBe(3);
    if (change === without) {
      expect(refused.stderr).toContain('the config has no `approvals` any more');
      expect(refused.stderr).toContain('put `approvals` back into ');
      expect(refused.stderr).toContain('--break-glass REASON');
    }
    expect(changes(server)).toMatchObject({ patches: 0, posts: 0 });
    await approve(ada);
    const listed = await run('approvals', '--json');
    expect(itemsIn(listed.stdout)[0]).toMatchObject({ state: change === without ? 'refused' : 'given' });
    // A signature does not make up for a config that asks for less.
    expect((await run('resume', ...ANSWERED)).code).toBe(3);
    edit(opened, () => config);
    const end = await run('resume', ...ANSWERED);
    expect(end.code, `${name}: ${end.stderr}`).toBe(0);
    expect(typesOf(await entries(), 'run')).toContain('approval.given');
    expect(changes(server)).toMatchObject({ patches: 1 });
  });

  test('can be skipped only with break-glass, even when the config no longer asks for approvals', async (context) => {
    const { expect } = context;
    const opened = await withApprovals(bench, context);
    const { server, rotate, run, entries } = opened;
    expect((await rotate()).code).toBe(3);
    edit(opened, without);
    const end = await run('resume', ...ANSWERED, '--break-glass', 'nobody is there');
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toContain('without a second person: nobody is there');
    const bypassed = (await entries()).find(({ type }) => type === 'approval.bypassed');
    expect(bypassed?.body).toMatchObject({ reason: 'nobody is there' });
    expect(changes(server)).toMatchObject({ patches: 1 });
    expect((await run('audit', 'verify')).code).toBe(0);
  });

  test('is signed only from a file whose content matches its name', async (context) => {
    const { expect } = context;
    const { rotate, run, request, ada } = await withApprovals(bench, context);
    expect((await rotate()).code).toBe(3);
    const { file, text } = await request();
    const other = join(dirname(file), '0123456789abcdef.txt');
    writeFileSync(other, text);
    const refused = await run('approve', other, '--key', ada.keyFile, '--confirm', 'orders');
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stderr).toContain('the file is named after another request');
    const good = await run('approve', file, '--key', ada.keyFile, '--confirm', 'orders');
    expect(good.code, good.stderr).toBe(0);
  });
});
