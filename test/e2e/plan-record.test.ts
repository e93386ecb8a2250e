import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'vitest';
import { unpackFiles } from '../../src/audit/bundle/pack.ts';
import { Secret } from '../../src/base/secret.ts';
import { Comparison } from '../../src/report/comparison.ts';
import { Estate } from '../../src/report/estate.ts';
import { PlanReport } from '../../src/report/plan/plan-report.ts';
import { layOut } from '../audit/bundle/scene.ts';
import { byNode } from '../audit/bundle/verifiers.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

const PLAN = `plan: west
about: orders moves
activation: the head of operations
objectives: { rto: 30m }
groups:
  - id: first
    steps:
      - { id: tell, command: { argv: [/bin/echo, told], kind: repeatable }, undo: tell them again }
  - id: people
    after: [first]
    steps:
      - { id: look, manual: { do: look at the board, owner: Bob }, undo: none; nothing changes }
  - id: move
    after: [people]
    for: { instances: [orders], target: orders-dr }
    steps:
      - { id: recover, runbook: disaster-recovery, undo: none; the source stays }
healthy: [{ command: [/bin/true] }]
`;

const PREPARE = ['run', 'disaster-recovery', 'orders', '--prepare', '--yes', '--confirm', 'orders'];

const QUICK = `plan: quick
groups:
  - id: tell
    steps:
      - { id: tell, command: { argv: [/bin/echo, told], kind: repeatable }, undo: tell them again }
healthy: [{ command: [/bin/true] }]
`;

describe.concurrent('the record of a plan run', () => {
  const bench = useQuickBenches();

  test('covers every run that the plan started, in its report, its bundle and its fallback', async (context) => {
    const { expect } = context;
    const { run, rotate, home, folder, env } = await bench(context);
    const plans = join(dirname(env['LIFEBOAT_CONFIG'] ?? ''), 'plans');
    mkdirSync(plans);
    writeFileSync(join(plans, 'west.yaml'), PLAN, { mode: 0o600 });
    for (const ended of [await rotate(), await run(...PREPARE)]) expect(ended.code, ended.stderr).toBe(0);
    await (await openKeys(home)).add('orders-dr', new Secret('a-key-of-the-target-that-nobody-guesses'));
    const left = await run('plans', 'run', 'west', '--confirm', 'move');
    expect(left.code, left.stderr).toBe(3);
    const runs = itemsIn<{ runId: string; runbook: string }>((await run('runs', '--json')).stdout);
    const id = runs.find(({ runbook }) => runbook === 'plan')?.runId ?? '';
    const { groups, open } = PlanReport.parse(JSON.parse((await run('report', id, '-o', 'json')).stdout));
    expect(groups.map((one) => one.ended)).toEqual(['done', undefined, undefined, undefined]);
    expect(open.join()).toContain('people: open');

    expect(await run('receipt', id)).toMatchObject({ code: 3, stderr: expect.stringContaining('not over') });

    const pages = join(folder, 'pages');
    const written = await run('report', id, '--format', 'html', '--out', pages);
    expect(written.code, written.stderr).toBe(0);
    const page = readFileSync(join(pages, 'report.html'), 'utf8');
    const [, child = ''] = /href="([\w.-]+\.html)"/u.exec(page) ?? [];
    expect(existsSync(join(pages, child)), child).toBe(true);
    expect((await run('report', id, '--format', 'html', '--out', pages)).code).toBe(2);

    const tar = join(folder, 'bundle.tar');
    const exported = await run('audit', 'export', id, '--out', tar);
    expect(exported.code, exported.stderr).toBe(0);
    const { files, sound } = unpackFiles(readFileSync(tar));
    expect(sound).toBe(true);
    const journals = [...files.keys()].filter((name) => /^children\/.*\/journal\.jsonl$/u.test(name));
    expect(journals).toHaveLength(2);
    expect(String(files.get('plan.yaml'))).toBe(PLAN);
    expect(byNode(layOut(files, join(folder, 'bundle'))).status).toBe(3);
    expect((await run('audit', 'verify', tar)).code).toBe(3);

    const rest = join(folder, 'rest');
    // The newest run is one that the plan started.
    const fallback = await run('plans', 'fallback', 'last', '--out', rest);
    expect(fallback.code, fallback.stderr).toBe(0);
    const script = join(rest, 'move.orders.recover.sh');
    expect(spawnSync('bash', ['-n', script]).status).toBe(0);
    expect(readFileSync(script, 'utf8')).toContain(`lifeboat resume ${id}`);
    const checklist = readFileSync(join(rest, 'checklist.md'), 'utf8');
    expect(checklist).toContain('- [ ] **look**: look at the board (Bob)');
    expect(checklist).toContain('**orders -&gt; orders-dr: recover**: `bash move.orders.recover.sh`');
    expect(checklist).not.toContain('/bin/echo told');
    const again = await run('plans', 'fallback', id, '--out', rest);
    expect([again.code, again.stderr.split('\n')[0]]).toEqual([
      2,
      expect.stringContaining('has files already'),
    ]);
  });

  test('is compared with an earlier one, and is listed with the others', async (context) => {
    const { expect } = context;
    const { run, folder, env } = await bench(context);
    const plans = join(dirname(env['LIFEBOAT_CONFIG'] ?? ''), 'plans');
    mkdirSync(plans);
    writeFileSync(join(plans, 'quick.yaml'), QUICK, { mode: 0o600 });
    for (const _ of [1, 2]) expect((await run('plans', 'run', 'quick')).code).toBe(0);
    const all = await run('report', '--all', '-o', 'json');
    const { plans: runs, instances } = Estate.parse(JSON.parse(all.stdout));
    expect(runs).toEqual([
      expect.objectContaining({ plan: 'quick', result: 'proven' }),
      expect.objectContaining({ plan: 'quick', result: 'proven' }),
    ]);
    expect(instances.map(({ name }) => name)).not.toContain('plan.quick');
    const [first = '', second = ''] = runs.map((one) => one.run);
    const compared = await run('report', '--compare', second, first, '-o', 'json');
    const { runs: sides, steps } = Comparison.parse(JSON.parse(compared.stdout));
    expect(sides.map(({ id }) => id)).toEqual([first, second]);
    expect(steps.map(({ label }) => label)).toEqual(['tell', 'healthy']);
    const out = join(folder, 'receipt');
    const receipt = JSON.parse((await run('receipt', first, '--out', out, '--json')).stdout);
    expect(receipt).toMatchObject({ runId: first, result: 'PASSED' });
    const pae = readFileSync(join(out, 'receipt.pae'), 'utf8');
    expect(pae).toContain('"group/tell/done"');
    expect(pae).toContain(hash('sha256', readFileSync(join(out, 'report.json'))));
    const { receipts } = JSON.parse((await run('audit', 'verify', '--receipts', out, '--json')).stdout);
    expect(receipts).toMatchObject([{ about: `run/${first}`, state: 'verified' }]);
    const shown = await run('audit', 'show', first);
    expect(shown.stdout).toContain('group tell: begins');
    expect((await run('plans', 'fallback', first, '--out', join(folder, 'rest'), '--json')).stdout).toContain(
      '"scripts":[]',
    );
  });
});
