import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'vitest';
import { useLabs } from '../bench-kit/lab-bench.ts';
import { openMachine } from '../bench-kit/machine.ts';
import { builtProduct } from '../bench-kit/product.ts';

const PLAN = `plan: west
groups:
  - id: data
    for: { role: source, target: "{name}-dr" }
    waves: ["100%"]
    maxConcurrency: 2
    stopWhen: { failed: 1 }
    steps:
      - { id: card, runbook: disaster-recovery, with: { phase: prepare }, undo: none; nothing is changed }
      - { id: recover, runbook: disaster-recovery, undo: none; the source stays }
`;

interface Evaluated {
  readonly items: readonly { readonly instance: string; readonly verdict: string }[];
}

describe.concurrent('on a simulated lab', () => {
  const labs = useLabs();

  test('a rotation and a recovery finish, and neither is proven', async (context) => {
    const { expect } = context;
    const { run, good, did, entries, lab } = await labs(context, {
      simulated: { sources: 1 },
      commandsHere: true,
    });
    const rotated = await run('run', 'rotate-key', '-i', 'sim-00001', '--yes', '--confirm', 'sim-00001');
    expect(rotated.code, rotated.stderr).toBe(0);
    expect(rotated.stderr).toContain('nothing is proven');
    const target = ['--target', 'sim-00001-dr', '--confirm', 'sim-00001-dr'];
    const recovered = await run('run', 'disaster-recovery', '-i', 'sim-00001', ...target, '--yes');
    // What is left of a rehearsal is its target, which the lab takes away.
    expect(recovered.code, recovered.stderr).toBe(3);
    await good('followups', 'done', 'remove-target', '--proof', 'it goes with the lab');
    expect(lab.counts()['sim-00001-dr']).toMatchObject({ 'POST /disaster-recovery/perform': 1 });
    expect(did().filter((call) => call.endsWith('PATCH /backups-config'))).toHaveLength(1);
    const closed = (await entries('run/')).filter(({ type }) => type === 'run.closed');
    expect(closed.map(({ body }) => body)).toEqual([
      expect.objectContaining({ proven: false, simulated: true, outcome: 'done' }),
      expect.objectContaining({ proven: false, simulated: true, outcome: 'done' }),
    ]);
    const { items } = JSON.parse(await good('runs', '-o', 'json')) as {
      readonly items: readonly { readonly result: string; readonly proven: boolean }[];
    };
    expect(items.map(({ result, proven }) => [result, proven])).toEqual([
      ['done', false],
      ['done', false],
    ]);
    const report = await good('report', 'last');
    expect(report).toContain('on a simulated service, so nothing is proven');
    expect(report).toContain('The result is **not proven**');
    expect(report).not.toMatch(/\*\*met\*\*|Facts proven/u);
    const evaluated = JSON.parse((await run('plans', 'evaluate', '-o', 'json')).stdout) as Evaluated;
    expect(evaluated.items).toHaveLength(2);
    expect(evaluated.items.map(({ verdict }) => verdict)).not.toContain('proven');
  });

  test('a plan recovers every pair once, and is not proven', async (context) => {
    const { expect } = context;
    const { run, good, env, lab, entries } = await labs(context, {
      simulated: { sources: 3 },
      commandsHere: true,
    });
    const folder = join(dirname(env['LIFEBOAT_CONFIG'] ?? ''), 'plans');
    expect((await run('plans', 'init', 'all')).code).toBe(0);
    expect((await run('plans', 'check', 'all')).stdout).toContain('sim-00001 -> sim-00001-dr');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'west.yaml'), PLAN);
    const { code, stderr } = await run('plans', 'run', 'west', '--confirm', 'data');
    expect(code, stderr).toBe(0);
    const performed = Object.entries(lab.counts()).flatMap(([name, counts]) =>
      Object.entries(counts).flatMap(([call, count]) => (call.endsWith('/perform') ? [[name, count]] : [])),
    );
    expect(performed.toSorted()).toEqual([1, 2, 3].map((one) => [`sim-0000${one}-dr`, 1]));
    const plans = JSON.parse(await good('runs', '-o', 'json')) as {
      readonly items: readonly { readonly runbook: string; readonly result: string }[];
    };
    expect(plans.items.find(({ runbook }) => runbook === 'plan')?.result).toBe('done');
    const closed = (await entries('run/')).filter(({ type }) => type === 'run.closed');
    expect(closed).toHaveLength(7);
    for (const { body } of closed) expect(body).toMatchObject({ proven: false, simulated: true });
  });

  test('a drill beside it is refused, and starts nothing', async (context) => {
    const { expect } = context;
    const { run, home } = await labs(context, { simulated: { sources: 1 }, commandsHere: true });
    const { code, stderr } = await run('drill', '--auto');
    expect([code, stderr]).toEqual([2, expect.stringContaining('the lab of lifeboat.yaml is simulated')]);
    expect(existsSync(join(home, 'drills'))).toBe(false);
  });
});

test('the command that makes a simulated lab writes its config, says what it is, and ends with Ctrl-C', async (context) => {
  const { expect } = context;
  const machine = openMachine(builtProduct({ cheapVault: true }), context);
  const out = join(machine.folder, 'lifeboat.yaml');
  const shares = 'fail=1%,lost=1%,late=0.1%';
  const lab = machine.start(
    ...['lab', '--simulated', '3', '--faults', shares, '--task-time', '1s-5s', '--out', out],
  );
  await expect.poll(() => lab.stderr()).toContain('it is simulated: 3 instances and their targets');
  expect(
    Object.keys((JSON.parse(readFileSync(out, 'utf8')) as { instances: object }).instances),
  ).toHaveLength(6);
  lab.child.kill('SIGINT');
  expect([0, 130]).toContain((await lab.ended).code);
});
