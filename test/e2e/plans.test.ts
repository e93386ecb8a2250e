import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import type { PlanEvaluation } from '../../src/plans/evaluation-schema.ts';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { useBenches, useQuickBenches } from '../bench-kit/test-bench.ts';
import { until } from '../bench-kit/until.ts';
import { isPerform, openPlanBench } from '../plans/plan-bench.ts';

const RECOVER = `groups:
  - id: data
    for: { name: "db-*", target: "{name}-dr" }
    waves: [1, "100%"]
    maxConcurrency: 2
    stopWhen: { failed: 1 }
    steps: [{ id: recover, runbook: disaster-recovery, undo: none; the source stays }]
`;

const UNAVAILABLE: Trouble = { work: false, answer: { status: 503, body: {} } };

interface Lane {
  readonly instance: string;
  readonly state: string;
  readonly step?: string;
  readonly runId?: string;
}

describe.concurrent('the run of a plan', () => {
  const bench = useQuickBenches();
  const built = useBenches({ cheapVault: true });

  test('recovers every instance once, after one name for the group, and ends with its last steps', async (context) => {
    const { expect } = context;
    const opened = await openPlanBench((options) => bench(context, options), 3);
    const { run, plan, performed, folder } = opened;
    plan(
      'west',
      `${RECOVER}finally: { steps: [{ id: tell, command: { argv: [touch, ${join(folder, 'told')}], kind: repeatable } }] }\n`,
    );
    const asked = await run('plans', 'run', 'west');
    expect([asked.code, asked.stderr]).toEqual([3, expect.stringContaining('db-1-dr, db-2-dr, db-3-dr')]);
    expect(Object.values(performed())).toEqual([0, 0, 0]);
    const { code, stderr } = await run('resume', 'last', '--confirm', 'data');
    expect(code, stderr).toBe(0);
    expect(Object.values(performed())).toEqual([1, 1, 1]);
    expect(readFileSync(join(folder, 'told'), 'utf8')).toBe('');
    expect(stderr).toContain('every step of every instance is done');
    const over = await run('resume', 'last');
    expect([over.code, over.stderr]).toEqual([2, expect.stringContaining((await planRun(run)) ?? '-')]);
  });

  test('asks a page whether all is healthy, as it is built', async (context) => {
    const { expect } = context;
    const { run, plan, entries } = await openPlanBench((options) => built(context, options), 1);
    const page = createServer((_, answer) => void answer.end('all is well')).listen(0, '127.0.0.1');
    context.onTestFinished(() => void page.close());
    await once(page, 'listening');
    const { port } = page.address() as AddressInfo;
    const healthy = (text: string) =>
      `${RECOVER}healthy: [{ http: "http://127.0.0.1:${port}/", expect: { text: ${text} }, within: 5s }]\n`;
    plan('west', healthy('all is well'));
    const { code, stderr } = await run('plans', 'run', 'west', '--confirm', 'data');
    expect(code, stderr).toBe(0);
    expect(JSON.stringify(await entries('run/'))).toContain(`http://127.0.0.1:${port}/ answers 200`);
  });

  test('measures its recovery time, and those of its recoveries, from the incident', async (context) => {
    const { expect } = context;
    const { run, plan, good, entries } = await openPlanBench((options) => bench(context, options), 1);
    plan('west', RECOVER);
    const ended = await run('plans', 'run', 'west', '--incident', '10 minutes ago', '--confirm', 'data');
    expect(ended.code, ended.stderr).toBe(0);
    const begun = (await entries('run/')).filter(({ type }) => type === 'run.started');
    const incidents = begun.flatMap(({ body }) => {
      const { runbook, input } = body as { runbook: string; input: { incidentAt?: string; mode?: string } };
      return runbook === 'plan' || input.mode === 'perform' ? [input.incidentAt] : [];
    });
    expect(incidents).toEqual([expect.any(String), incidents[0]]);
    const report = await good('report', (await planRun(run)) ?? '');
    expect(report).toMatch(/10 min/u);
  });

  test('does not change with its file: the text and the instances are pinned', async (context) => {
    const { expect } = context;
    const { run, plan, performed } = await openPlanBench((options) => bench(context, options), 2);
    plan('west', RECOVER);
    await run('plans', 'run', 'west');
    plan('west', 'groups: nonsense');
    const { code, stderr } = await run('resume', 'last', '--confirm', 'data');
    expect(code, stderr).toBe(0);
    expect(performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 1 });
  });

  test('finishes what has begun and starts nothing new when a lane has failed; a person decides how to go on', async (context) => {
    const { expect } = context;
    const fails: Trouble = { task: { fails: true } };
    let isFirst = true;
    const trouble = (call: Parameters<typeof isPerform>[0]): Trouble | undefined => {
      if (!isPerform(call) || !isFirst) return undefined;
      isFirst = false;
      return fails;
    };
    const opened = await openPlanBench((options) => bench(context, options), 3, { trouble });
    const { run, plan, performed, good } = opened;
    plan('west', RECOVER);
    const stopped = await run('plans', 'run', 'west', '--confirm', 'data');
    expect([stopped.code, stopped.stderr]).toEqual([3, expect.stringContaining('1 run waiting')]);
    expect(performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 0, 'db-3-dr': 0 });
    await good('plans', 'take-out', 'last', 'data/db-1', '--reason', 'its target is broken');
    const { code, stderr } = await run('resume', 'last', '--confirm', 'data');
    expect(code, stderr).toBe(1);
    expect(performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 1, 'db-3-dr': 1 });
    const { lanes } = JSON.parse(await good('plans', 'show', 'last', '--json')) as { lanes: readonly Lane[] };
    expect(lanes.map(({ instance, state }) => [instance, state])).toEqual([
      ['db-1', 'out'],
      ['db-2', 'done'],
      ['db-3', 'done'],
    ]);
    // The recovery that was taken out goes on by itself, in the hands of a person.
    const child = lanes[0]?.runId ?? '';
    const alone = await run('resume', child, '--yes');
    expect([alone.code, alone.stderr]).toEqual([3, expect.stringContaining(`run ${child}`)]);
  });

  test('asks a person about a recovery that never reached the service, even where it continues after a failure', async (context) => {
    const { expect } = context;
    let isFirst = true;
    const trouble = (call: Parameters<typeof isPerform>[0]): Trouble | undefined => {
      if (!isPerform(call) || !isFirst) return undefined;
      isFirst = false;
      return { work: false, answer: 'lost' };
    };
    const opened = await openPlanBench((options) => bench(context, options), 2, { trouble });
    const { run, plan, performed, good } = opened;
    plan('west', RECOVER.replace('undo: none', 'onFailure: continue, because: it may wait, undo: none'));
    const asked = await run('plans', 'run', 'west', '--confirm', 'data');
    expect([asked.code, asked.stderr]).toEqual([3, expect.stringContaining('never arrived')]);
    expect(performed()['db-1-dr']).toBe(0);
    await good('plans', 'retry', 'last', 'data/db-1/recover');
    const { code, stderr } = await run('resume', 'last', '--confirm', 'data');
    expect(code, stderr).toBe(0);
    expect(performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 1 });
  });

  test('asks before anything is sent where an instance has no recovery card', async (context) => {
    const { expect } = context;
    const { run, plan, server } = await openPlanBench((options) => bench(context, options), 2);
    plan(
      'west',
      `${RECOVER.replace('"db-*", target: "{name}-dr"', 'db-1-dr, role: target, target: db-2-dr')}`,
    );
    const asked = await run('plans', 'run', 'west', '--confirm', 'data');
    const words =
      'no recovery card of db-1-dr is on record: lifeboat run disaster-recovery db-1-dr --prepare';
    expect([asked.code, asked.stderr]).toEqual([3, expect.stringContaining(words)]);
    expect(server.calls.filter(isPerform)).toEqual([]);
  });

  test('is told by its check with the steps at its end', async (context) => {
    const { expect } = context;
    const { run, plan } = await openPlanBench((options) => bench(context, options), 1);
    const healthy = 'healthy: [{ http: "https://orders.example.com/health" }]';
    const last = 'finally: { steps: [{ id: clean, manual: { do: clean up } }] }';
    plan('east', `${RECOVER}${healthy}\n${last}\n`);
    const { stdout } = await run('plans', 'check', 'east');
    expect(stdout).toContain('healthy\n  healthy-1: check https://orders.example.com/health\n');
    expect(stdout).toContain('finally\n  clean: by hand: clean up\n');
  });

  test('asks about a single instance whose target no longer matches what was confirmed', async (context) => {
    const { expect } = context;
    const { run, plan, server, performed } = await openPlanBench((options) => bench(context, options), 2);
    plan('west', RECOVER.replace('waves: [1, "100%"]', 'waves: ["100%"]'));
    await run('plans', 'run', 'west');
    // A backup of one target is made in between: it is not the empty one that the plan has looked at.
    const made = await run('backups', 'create', '-i', 'db-2-dr', '--yes', '--wait');
    expect(made.code, made.stderr).toBe(0);
    const { code, stderr } = await run('resume', (await planRun(run)) ?? '', '--confirm', 'data');
    expect([code, stderr]).toEqual([3, expect.stringContaining('data db-2 recover')]);
    expect(performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 0 });
    expect(server.instance('db-2-dr').restores).toHaveLength(0);
  });

  test('continues beside a recovery that takes longer than its step allows, and records its end when it comes', async (context) => {
    const { expect } = context;
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const trouble = (call: Call): Trouble | undefined => {
      if (!isPerform(call)) return undefined;
      if (call.instance === 'db-1-dr') return { task: { until } };
      release();
      return undefined;
    };
    const opened = await openPlanBench((options) => bench(context, options), 2, { trouble });
    const { run, plan, performed } = opened;
    plan(
      'west',
      `groups:
  - id: data
    for: { name: "db-*", target: "{name}-dr" }
    maxConcurrency: 1
    steps: [{ id: recover, runbook: disaster-recovery, timeout: 2s, onFailure: continue, because: it may wait, undo: none }]
`,
    );
    const { code, stderr } = await run('plans', 'run', 'west', '--confirm', 'data');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      'data db-1 recover: FAILED: it has taken longer than 2 s and is still under way',
    );
    expect(performed()).toEqual({ 'db-1-dr': 1, 'db-2-dr': 1 });
  });

  test('is evaluated with its instances and targets: what is missing, what its runs show, and full targets', async (context) => {
    const { expect } = context;
    const { run, plan, entries, server } = await openPlanBench((options) => bench(context, options), 2);
    plan('west', `objectives: { rto: 2h }\n${RECOVER}`);
    const evaluate = async () => {
      const ended = await run('plans', 'evaluate', 'west', '--json');
      const { plans, items } = JSON.parse(ended.stdout) as {
        readonly plans: readonly (PlanEvaluation & { readonly changed: boolean })[];
        readonly items: readonly { readonly instance: string }[];
      };
      return { code: ended.code, of: plans[0], asked: items.map(({ instance }) => instance) };
    };
    const from = server.calls.length;
    const first = await evaluate();
    expect(server.calls.slice(from).every(({ method }) => method === 'GET')).toBe(true);
    expect(first.asked).toEqual(['db-1', 'db-2', 'db-1-dr', 'db-2-dr']);
    expect([first.code, first.of]).toMatchObject([
      3,
      {
        verdict: 'unknown',
        reason: expect.stringContaining('2 of 2 steps have not been run'),
        changed: true,
      },
    ]);
    expect((await evaluate()).of).toMatchObject({ changed: false, since: expect.any(String) });
    expect((await run('status')).stdout.split('\n')).toContainEqual(
      expect.stringMatching(/^plan west: UNKNOWN/u),
    );

    const ran = await run('plans', 'run', 'west', '--confirm', 'data');
    expect(ran.code, ran.stderr).toBe(0);
    const after = await evaluate();
    expect([after.code, after.of?.verdict]).toEqual([1, 'not-ready']);
    const states = Object.fromEntries(after.of?.checks.map(({ id, state }) => [id, state]) ?? []);
    expect(states).toMatchObject({ time: 'green', rehearsed: 'green', targets: 'red' });
    const rehearsed = async () => (await evaluate()).of?.checks.find(({ id }) => id === 'rehearsed');
    plan('west', `# for the auditor\nobjectives: { rto: 2h }\n${RECOVER}`);
    expect((await rehearsed())?.state).toBe('green');
    plan('west', `objectives: { rto: 3h }\ncontacts: [{ name: Kim }]\n${RECOVER}`);
    expect((await rehearsed())?.state).toBe('green');
    plan('west', RECOVER.replace('maxConcurrency: 2', 'maxConcurrency: 1'));
    expect(await rehearsed()).toMatchObject({ state: 'red', code: 'rehearsal.changed' });
    plan('west', `objectives: { rto: 2h }\n${RECOVER}`);
    await evaluate();
    const made = (await entries('instance/plan.west')).filter(({ type }) => type === 'evaluation.made');
    expect(made.length).toBeGreaterThanOrEqual(2);

    plan('west', 'groups: nonsense');
    const broken = await run('plans', 'evaluate', 'west');
    expect([broken.code, broken.stdout]).toEqual([
      1,
      expect.stringMatching(/^plan west: NOT READY since .* UTC: .*lifeboat plans check west$/mu),
    ]);
  });

  test('takes a decision from another process, which says whether it counts, and if not, why', async (context) => {
    const { expect } = context;
    const { plan, start } = await openPlanBench((options) => bench(context, options), 1);
    plan(
      'slow',
      `groups: [{ id: go, steps: [{ id: rest, wait: 1h }] }, { id: next, after: [go], steps: [{ id: look, manual: { do: look } }] }]\n`,
    );
    const driver = start('plans', 'run', 'slow');
    while (!driver.stderr().includes('go rest'))
      await once(driver.child.stderr as NodeJS.ReadableStream, 'data');
    const decide = (...words: string[]) => start('plans', ...words).ended;
    const paused = await decide('pause', 'last', 'go', '--reason', 'we look first');
    expect([paused.code, paused.stdout], paused.stderr).toEqual([0, expect.stringContaining('on record')]);
    const refused = await decide('resume', 'last', 'next');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('group next has not begun: it can be stopped'),
    ]);
    for (const words of [
      ['pause', 'last', 'go', '--reason', 'we look first'],
      ['take-up', 'last', 'next'],
      ['source', 'last', 'up'],
    ]) {
      const again = await decide(...words);
      expect([again.code, again.stdout, again.stderr]).toEqual([
        0,
        '',
        expect.stringContaining('nothing was changed: '),
      ]);
    }
    driver.child.kill('SIGINT');
    expect((await driver.ended).code).toBe(130);
  });

  test('shows from its record, while another process drives it, what waits and what it asks', async (context) => {
    const { expect } = context;
    const { plan, start, run } = await openPlanBench((options) => bench(context, options), 1);
    plan(
      'slow',
      `groups:
  - { id: rest, steps: [{ id: rest, wait: 1h }] }
  - { id: people, steps: [{ id: look, manual: { do: look at the board, owner: Bob } }] }
  - { id: count, steps: [{ id: count, check: { command: ['false'] } }] }
`,
    );
    const driver = start('plans', 'run', 'slow');
    const saysBoth = (said: string) =>
      said.includes('people look: waits') && said.includes('count count: FAILED');
    while (!saysBoth(driver.stderr())) await once(driver.child.stderr as NodeJS.ReadableStream, 'data');
    const { lanes } = JSON.parse((await run('plans', 'show', 'last', '--json')).stdout) as {
      lanes: readonly object[];
    };
    expect(lanes).toMatchObject([
      { group: 'rest', state: 'at-work' },
      { group: 'people', state: 'waiting', asks: 'look at the board (Bob)' },
      { group: 'count', state: 'failing', asks: expect.stringContaining('false') },
    ]);
    const shown = (await run('plans', 'show', 'last')).stdout;
    expect(shown).toContain('look at the board (Bob)');
    expect(shown).toMatch(
      /^to answer people\/-\/\S+: lifeboat plans done \S+ people\/-\/\S+ --proof TEXT$/mu,
    );
    expect(shown).toMatch(/^to answer count\/-\/\S+: lifeboat plans retry \S+ count\/-\/\S+$/mu);
    driver.child.kill('SIGINT');
    expect((await driver.ended).code).toBe(130);
  });

  test('asks a person where an instance could not be reached, and looks again when a command asks for it', async (context) => {
    const { expect } = context;
    let isCut = true;
    const { plan, run, performed } = await openPlanBench((options) => bench(context, options), 2, {
      trouble: ({ instance }) => (isCut && instance === 'db-2-dr' ? UNAVAILABLE : undefined),
    });
    plan('west', RECOVER);
    const asked = await run('plans', 'run', 'west', '--confirm', 'data');
    expect([asked.code, asked.stderr]).toEqual([
      3,
      expect.stringContaining('1 of 2 could not be recovered now'),
    ]);
    expect((await run('plans', 'retry', 'last')).stdout).toContain('look at the instances again: on record');
    expect((await run('resume', 'last', '--confirm', 'data')).code).toBe(3);
    const shown = (await run('plans', 'show', 'last')).stdout;
    expect(shown).toMatch(
      /it asks: 1 of 2 could not be recovered now: db-2: .*\nto answer: lifeboat plans retry \S+/u,
    );
    expect(Object.values(performed())).toEqual([0, 0]);
    isCut = false;
    await run('plans', 'retry', 'last');
    const { code, stderr } = await run('resume', 'last', '--confirm', 'data');
    expect(code, stderr).toBe(0);
    expect(Object.values(performed())).toEqual([1, 1]);
    const late = await run('plans', 'retry', 'last');
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('the run of the plan is closed')]);
  });

  test('says why a step has failed that it continues without: at once, in its record, and in its report', async (context) => {
    const { expect } = context;
    const { run, plan, good, folder } = await openPlanBench((options) => bench(context, options), 1);
    plan(
      'count',
      `groups: [{ id: go, steps: [{ id: count, check: { command: [sh, -c, "exit 7"] }, onFailure: continue, because: it may wait }] }]\n`,
    );
    const { code, stderr } = await run('plans', 'run', 'count');
    expect(code, stderr).toBe(1);
    const cause = 'sh ended with 7';
    expect(stderr).toContain(`go count: ended without success: ${cause}`);
    const id = (await planRun(run)) ?? '';
    const { lanes } = JSON.parse(await good('plans', 'show', id, '--json')) as { lanes: readonly Lane[] };
    expect(lanes).toMatchObject([{ state: 'failed', step: 'count', cause: expect.stringContaining(cause) }]);
    expect(await good('report', id)).toContain(cause);
    await good('plans', 'fallback', id, '--out', join(folder, 'on-paper'));
    const checklist = readFileSync(join(folder, 'on-paper', 'checklist.md'), 'utf8');
    expect(checklist).toContain('It has failed, and the plan went on without it (it may wait)');
  });

  test('does not retry a step that has not failed: what was sent once is not sent again', async (context) => {
    const { expect } = context;
    const { run, plan, folder } = await openPlanBench((options) => bench(context, options), 1);
    const mark = join(folder, 'sent');
    plan(
      'once',
      `groups: [{ id: go, steps: [{ id: send, command: { argv: [sh, -c, "echo x >> ${mark}"], kind: once, landed: ['false'] } }, { id: look, manual: { do: look } }] }]\n`,
    );
    expect((await run('plans', 'run', 'once')).code).toBe(3);
    const again = await run('plans', 'retry', 'last', 'go/send');
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('has not failed')]);
    await run('resume', (await planRun(run)) ?? '');
    expect(readFileSync(mark, 'utf8')).toBe('x\n');
  });

  test('ends when it is stopped, whatever waits for a person: a recovery that asks can be resumed alone', async (context) => {
    const { expect } = context;
    const trouble = (call: Call): Trouble | undefined =>
      isPerform(call) ? { task: { fails: true } } : undefined;
    const { run, plan, good } = await openPlanBench((options) => bench(context, options), 1, { trouble });
    plan(
      'west',
      `${RECOVER}  - { id: people, steps: [{ id: look, manual: { do: look } }] }
  - { id: later, after: [people], steps: [{ id: rest, wait: 1s }] }
`,
    );
    const asked = await run('plans', 'run', 'west', '--confirm', 'data');
    expect([asked.code, asked.stderr]).toEqual([3, expect.stringContaining('2 runs waiting')]);
    const id = (await planRun(run)) ?? '';
    await good('plans', 'stop', id, 'people', '--reason', 'nobody is there');
    const still = await run('resume', id);
    expect([still.code, still.stderr]).toEqual([3, expect.stringContaining('1 run waiting')]);
    await good('plans', 'stop', id, '--reason', 'the region is back');
    const { code, stderr } = await run('resume', id);
    expect([code, stderr]).toEqual([1, expect.stringContaining('stopped')]);
    const { lanes, groups } = JSON.parse(await good('plans', 'show', id, '--json')) as {
      readonly lanes: readonly Lane[];
      readonly groups: readonly object[];
    };
    expect(groups).toMatchObject([{ state: 'stopped' }, { state: 'stopped' }, { state: 'notRun' }]);
    const child = lanes[0]?.runId ?? '';
    const alone = await run('resume', child, '--yes');
    expect([alone.code, alone.stderr]).toEqual([3, expect.stringContaining(`run ${child}`)]);
  });

  test('says until when a command whose process was killed may still run', async (context) => {
    const { expect } = context;
    const { start, run, plan, folder } = await openPlanBench((options) => bench(context, options), 1);
    const mark = join(folder, 'begun');
    plan(
      'once',
      `groups: [{ id: go, for: { instances: [db-1] }, steps: [{ id: switch, command: { argv: [sh, -c, "touch ${mark}; sleep 600"], kind: once, landed: ['false'], timeout: 11m } }] }]\n`,
    );
    const driver = start('plans', 'run', 'once');
    await until(() => existsSync(mark));
    driver.child.kill('SIGKILL');
    await driver.ended;
    const shown = await run('plans', 'show', 'last');
    expect(shown.stdout).toMatch(/begun at .* UTC, may go on until .* UTC/u);
    const again = start('resume', 'last');
    while (!/may go on until .* UTC/u.test(again.stderr()))
      await once(again.child.stderr as NodeJS.ReadableStream, 'data');
    again.child.kill('SIGINT');
    expect((await again.ended).code).toBe(130);
    const status = await run('status', '-o', 'json');
    expect(status.stdout).toContain('run the command once');
    expect(status.stdout).not.toContain('runOnce');
  });

  test('runs a command of kind once only once: it is not run if its landed command says that it has happened', async (context) => {
    const { expect } = context;
    const { run, plan, folder } = await openPlanBench((options) => bench(context, options), 1);
    const mark = join(folder, 'switched');
    plan(
      'once',
      `groups: [{ id: go, steps: [{ id: switch, command: { argv: [sh, -c, "echo x >> ${mark}"], kind: once, landed: [test, -f, ${mark}] } }] }]\n`,
    );
    expect((await run('plans', 'run', 'once')).code).toBe(0);
    expect(readFileSync(mark, 'utf8')).toBe('x\n');
    const again = await run('plans', 'run', 'once');
    expect([again.code, again.stderr]).toEqual([3, expect.stringContaining('has happened already')]);
    expect(readFileSync(mark, 'utf8')).toBe('x\n');
    const done = await run('plans', 'done', 'last', 'go/switch', '--proof', 'switched by the first run');
    expect(done.code, done.stderr).toBe(0);
    expect((await run('resume', (await planRun(run)) ?? '')).code).toBe(1);
  });

  test('fails every form of a check on an empty database', async (context) => {
    const { expect } = context;
    const { run, plan, folder } = await openPlanBench((options) => bench(context, options), 1);
    const config = join(folder, 'lifeboat.yaml');
    const empty = '    reconcile: { command: "echo 0" }\n';
    writeFileSync(config, readFileSync(config, 'utf8').replace('  db-1:\n', `  db-1:\n${empty}`));
    plan(
      'count',
      `groups: [{ id: data, for: { instances: [db-1] }, steps: [{ id: count, check: { reconcile: true, expect: { rows: "> 0" } } }] }]\n`,
    );
    const { code, stderr } = await run('plans', 'run', 'count');
    expect([code, stderr]).toEqual([3, expect.stringContaining('there are 0, and > 0 are wanted')]);
  });

  test('begins with a generated first plan, which never overwrites an existing one', async (context) => {
    const { expect } = context;
    const { run, good, folder } = await openPlanBench((options) => bench(context, options), 1);
    await good('plans', 'init', 'first');
    const path = join(folder, 'plans', 'first.yaml');
    const text = readFileSync(path, 'utf8');
    const { code, stderr } = await run('plans', 'init', 'first');
    expect([code, stderr]).toEqual([2, expect.stringContaining('a plan is not overwritten')]);
    expect(stderr).toContain('add --print');
    expect(stderr).not.toMatch(/--out|evidence/u);
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(await good('plans', 'init', 'first', '--print')).toBe(text);
  });

  test('changes nothing in a rehearsal whose target is not a scratch instance', async (context) => {
    const { expect } = context;
    const { run, plan, performed } = await openPlanBench((options) => bench(context, options), 1);
    plan('west', RECOVER);
    const { code, stderr } = await run('plans', 'run', 'west', '--rehearsal', '--confirm', 'data');
    expect([code, stderr]).toEqual([3, expect.stringContaining('is no scratch instance')]);
    expect(performed()).toEqual({ 'db-1-dr': 0 });
  });

  test('refuses a decision that does not fit, and says which ones do', async (context) => {
    const { expect } = context;
    const { run, plan } = await openPlanBench((options) => bench(context, options), 1);
    plan('west', RECOVER);
    await run('plans', 'run', 'west');
    for (const [words, told] of [
      [['pause', 'last', 'dta', '--reason', 'wait'], 'the most similar: data'],
      [['pause', 'last', 'data'], 'it needs --reason TEXT'],
      [['skip', 'last', 'data/db-9/recover', '--reason', 'not needed today'], 'no instance db-9'],
      [['done', 'last', 'data/db-1/recver', '--proof', 'seen'], 'the most similar: recover'],
      [['resume', 'last', 'data'], 'group data has not begun: answer first what the plan asks'],
    ] as const) {
      const { code, stderr } = await run('plans', ...words);
      expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining(told)]);
      expect(code).not.toBe(0);
    }
  });
});

/** The newest run of a plan. */
async function planRun(
  run: (...args: string[]) => Promise<{ readonly stdout: string }>,
): Promise<string | undefined> {
  const { items } = JSON.parse((await run('runs', '--json')).stdout) as {
    readonly items: readonly { readonly runId: string; readonly runbook: string }[];
  };
  return items.findLast(({ runbook }) => runbook === 'plan')?.runId;
}
