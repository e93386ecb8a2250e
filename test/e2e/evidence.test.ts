import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type ExpectStatic, test } from 'vitest';
import type { Evidence } from '../../src/evidence/evidence-schema.ts';
import { forge } from '../audit/forge.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { openPlanBench } from '../plans/plan-bench.ts';

const PLAN = `drill: { every: 30d }
groups:
  - id: data
    for: { name: "db-*", target: "{name}-dr" }
    steps: [{ id: recover, runbook: disaster-recovery, undo: none; the source stays }]
`;

const PERIODS = `drills: { every: 90d }
keys: { cryptoperiod: 180d }
waivers:
  - { instance: db-1, check: restored, reason: "moves in spring", until: 2099-01-01, owner: Kim }
`;

const FROM = new Date(Date.now() - 30 * 24 * 60 * 60_000).toISOString().slice(0, 10);

describe.concurrent('the evidence of a period', () => {
  const bench = useQuickBenches();

  test('holds runs with reports and their entries as one signed bundle that sha256sum and Node check, and lists what is missing', async (context) => {
    const { expect } = context;
    const opened = await openPlanBench((options) => bench(context, options), 2);
    const { run, plan, folder, good, entries } = opened;
    appendFileSync(join(folder, 'lifeboat.yaml'), PERIODS);
    plan('west', PLAN);
    expect((await run('plans', 'run', 'west', '--confirm', 'data')).code).toBe(0);
    await run('plans', 'evaluate');
    await good('receipt', await runOf(good, 'disaster-recovery'), '--out', join(folder, 'a-receipt'));
    const out = join(folder, 'pack');
    const before = (await entries()).length;
    const { code, stdout, stderr } = await run('evidence', '--from', FROM, '--out', out, '--json');
    expect(code, stderr).toBe(0);
    expect((await entries()).length).toBe(before);
    assertSums(out, expect);
    const index = indexOf(out);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ schema: 'lifeboat.evidence-pack/1', path: out, verdict: 'intact', runs: index.runs.length },
      files: spawnSync('find', [out, '-type', 'f'], { encoding: 'utf8' }).stdout.trim().split('\n').length,
    });
    expect(index.runs.map(({ kind }) => kind).toSorted()).toEqual([
      ...['other', 'other', 'plan', 'recovery', 'recovery'],
    ]);
    for (const { report = '', journal = '' } of index.runs)
      for (const file of [report, report.replace('.html', '.json'), journal])
        expect(existsSync(join(out, file)), file).toBe(true);
    assertVerified(out, expect);
    const audited = await run('audit', 'verify', out, '--public-key', join(out, 'lifeboat.pub'));
    expect(audited.code, audited.stdout).toBe(0);
    const changed = join(out, index.runs[0]?.report ?? '');
    appendFileSync(changed, ' ');
    expect((await run('audit', 'verify', out)).code).toBe(1);
    truncateSync(changed, statSync(changed).size - 1);
    expect(index.runs.flatMap(({ receipts }) => receipts).map(({ sha256 }) => sha256)).toEqual([
      hash('sha256', readFileSync(join(folder, 'a-receipt', 'receipt.sigstore.json'))),
    ]);
    const gaps = index.missing.map(({ what, subject, waiver }) => [what, subject, waiver?.covers ?? 'none']);
    expect(gaps).toEqual(
      expect.arrayContaining([
        ['record', '', 'none'],
        ['drill', '', 'none'],
        ['rehearsal', 'db-1', 'all'],
        ['rehearsal', 'db-2', 'none'],
        ['plan-run', 'plan.west', 'none'],
      ]),
    );
    expect(index.subjects.map(({ subject }) => subject)).toEqual([
      ...['db-1', 'db-2', 'db-1-dr', 'db-2-dr', 'plan.west'],
    ]);
    expect(index.evaluations.some(({ subject }) => subject === 'plan.west')).toBe(true);
    expect(index.findings.every(({ firstSeen, due, owner }) => firstSeen < due && owner === 'Robin')).toBe(
      true,
    );
    const part = join(folder, 'part.tar');
    await good('evidence', '--from', FROM, '-i', 'db-1', '--plan', 'west', '--out', part, '--receipts');
    const listed = spawnSync('tar', ['-tf', part], { encoding: 'utf8' }).stdout.trim().split('\n');
    expect(listed.filter((name) => /\/runs\/[^/]+\/journal\.jsonl$/u.test(name)).length).toBe(5);
    expect(listed.filter((name) => name.includes('/ledger/'))).toHaveLength(5);
    expect(listed.every((name) => name.startsWith('part/'))).toBe(true);
    const again = await run('evidence', '--from', FROM, '--out', out);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('already exists')]);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('is a tar of one folder for one instance, with receipts that openssl checks', async (context) => {
    const { expect } = context;
    const { rotate, good, folder, run, entries } = await bench(context);
    await rotate();
    const out = join(folder, 'orders.tar');
    await good('evidence', '--from', FROM, '-i', 'orders', '--out', out, '--receipts');
    const into = join(folder, 'unpacked');
    mkdirSync(into);
    const tar = spawnSync('tar', ['-xf', out, '-C', into], { encoding: 'utf8' });
    expect([tar.status, tar.stderr, readdirSync(into)]).toEqual([0, '', ['orders']]);
    const packed = await run('audit', 'verify', out);
    expect([packed.code, packed.stderr]).toEqual([2, expect.stringContaining('tar -xf')]);
    const pack = join(into, 'orders');
    assertSums(pack, expect);
    const index = indexOf(pack);
    assertVerified(pack, expect);
    expect(index.scope).toEqual({ instances: ['orders'], plans: [] });
    const [rotation] = index.runs;
    expect(rotation).toMatchObject({ kind: 'rotation', receipts: [{}] });
    const receipt = join(pack, rotation?.receipt ?? '');
    const checked = ['-verify', 'lifeboat-receipts.pub', '-signature', 'receipt.sig', 'receipt.pae'];
    const { stdout } = spawnSync('openssl', ['dgst', '-sha256', ...checked], {
      cwd: receipt,
      encoding: 'utf8',
    });
    expect(stdout).toBe('Verified OK\n');
    expect((await entries()).filter(({ type }) => type === 'receipt.made').length).toBe(1);
    const words = ['--receipts', join(pack, 'runs'), '--public-key', join(pack, 'lifeboat.pub')];
    const audited = await good('audit', 'verify', pack, ...words);
    expect(audited).toContain(`receipt of run/${rotation?.runId}`);
    const unknown = await run('evidence', '-i', 'order');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('orders')]);
    expect((await run('evidence', '--plan', 'west')).code).toBe(2);
  });

  test('lists a waiting run as open, and leaves out a run from outside the period', async (context) => {
    const { expect } = context;
    const { run, good, folder } = await bench(context);
    expect((await run('run', 'rotate-key', '-i', 'orders')).code).toBe(3);
    const [open, earlier] = [join(folder, 'open'), join(folder, 'earlier')];
    await good('evidence', '--from', FROM, '--out', open);
    expect(indexOf(open).runs).toMatchObject([{ status: 'open', journal: expect.any(String) }]);
    expect(indexOf(open).runs[0]).not.toHaveProperty('endedAt');
    expect(readFileSync(join(open, 'index.html'), 'utf8')).toContain('<strong class="bad">open</strong>');
    await good('evidence', '--from', '2020-01-01', '--to', '2020-06-30', '--out', earlier);
    expect(indexOf(earlier).runs).toEqual([]);
    const halfYear = join(folder, 'half-year');
    await good('evidence', '--out', halfYear);
    expect(indexOf(halfYear).period.to).toMatch(/^\d{4}-(?:01|07)-01T00:00:00.000Z$/u);
    expect(indexOf(earlier).missing.map(({ what, from, to }) => [what, from, to])).toEqual([
      ['record', '2020-01-01T00:00:00.000Z', '2020-07-01T00:00:00.000Z'],
    ]);
  });

  test('of a record that is not intact says so first, signs nothing, and ends with 1', async (context) => {
    const { expect } = context;
    const { rotate, run, home, folder } = await bench(context);
    await rotate();
    forge(home, (db) =>
      db.exec("UPDATE entries SET body = replace(body, 'Robin', 'Robyn') WHERE type = 'run.started'"),
    );
    const out = join(folder, 'pack');
    const { code, stdout, stderr } = await run('evidence', '--from', FROM, '--out', out, '--receipts');
    expect(code, stderr).toBe(1);
    expect(stdout, stderr).toContain('pack');
    assertSums(out, expect);
    const { record, runs } = indexOf(out);
    expect(record.verdict).toBe('not-intact');
    expect(runs.some(({ journal, receipt }) => journal !== undefined || receipt !== undefined)).toBe(false);
    expect(readFileSync(join(out, 'index.html'), 'utf8')).toContain('THE RECORD IS NOT INTACT');
  });

  test('is not started for an impossible period', async (context) => {
    const { expect } = context;
    const { run, folder } = await bench(context);
    const out = join(folder, 'pack');
    for (const words of [
      ['--from', '2026-02-30'],
      ['--to', '2026-06-30'],
      ['--from', '2026-02-03', '--to', '2026-02-02'],
    ]) {
      const { code, stderr } = await run('evidence', ...words, '--out', out);
      expect([code, stderr]).toEqual([2, expect.stringContaining('nothing was written')]);
    }
    expect(existsSync(out)).toBe(false);
  });
});

type Index = Omit<Evidence, 'schema'>;

function indexOf(pack: string): Index {
  return JSON.parse(readFileSync(join(pack, 'index.json'), 'utf8'));
}

async function runOf(good: (...args: string[]) => Promise<string>, runbook: string): Promise<string> {
  const { items } = JSON.parse(await good('runs', '--json'));
  return items.find((run: { readonly runbook: string }) => run.runbook === runbook).runId;
}

/** Every file of a pack is listed, and is what the list says. */
function assertSums(pack: string, expect: ExpectStatic): void {
  const { status, stdout } = spawnSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: pack, encoding: 'utf8' });
  expect(status, stdout).toBe(0);
  const files = spawnSync('find', ['.', '-type', 'f'], { cwd: pack, encoding: 'utf8' }).stdout;
  const unlisted = existsSync(join(pack, 'manifest.note')) ? 2 : 1;
  expect(files.trim().split('\n').length).toBe(stdout.trim().split('\n').length + unlisted);
}

/** A pack is what its own `verify.mjs` accepts, under the key that is beside it. */
function assertVerified(pack: string, expect: ExpectStatic): void {
  const args = ['verify.mjs', '--public-key', 'lifeboat.pub'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: pack, encoding: 'utf8' });
  expect(status, stdout).toBe(0);
}
