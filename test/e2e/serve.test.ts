import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { SCHEMAS } from '../../src/cli/schemas/index.ts';
import type { Running } from '../bench-kit/product.ts';
import { type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';
import { until } from '../bench-kit/until.ts';
import { openPlanBench } from '../plans/plan-bench.ts';
import { readHtml } from '../report/html-words.ts';

const PLAN = `objectives: { rto: 1h }
groups:
  - id: data
    for: { name: "db-*", target: "{name}-dr" }
    steps: [{ id: recover, runbook: disaster-recovery, undo: none; the source stays }]
  - id: people
    after: [data]
    steps: [{ id: look, manual: { do: look whether they are there } }]
`;

describe.concurrent('lifeboat serve', () => {
  const bench = useQuickBenches();

  test('shows the run of a plan, its children, their reports and the board, and all of it as JSON too', async (context) => {
    const { expect } = context;
    const made = await openPlanBench((options) => bench(context, options), 2);
    made.plan('west', PLAN);
    await made.run('plans', 'run', 'west', '--confirm', 'data');
    await made.run('plans', 'evaluate');
    const page = await served(made, context);
    const board = SCHEMAS['page-board'].type.strict().parse(await page.json('/board.json'));
    expect(board.headline).toContain('LIVE: plan of plan.west');
    expect(board.asks).toMatchObject([{ prompt: expect.stringContaining('look whether they are there') }]);
    expect(board.verdicts.map(({ subject }) => subject)).toContain('db-1');
    const { runId } = board.runs[0] ?? { runId: '' };
    const plan = SCHEMAS['page-plan'].type.strict().parse(await page.json(`/runs/${runId}.json`));
    expect(plan.groups.map(({ id, counts }) => [id, counts.done, counts.waiting])).toEqual([
      ['data', 2, 0],
      ['people', 0, 1],
    ]);
    expect(plan.headline).toMatch(/^LIVE: plan west: .*, since .*; nobody drives it; waits for Robin: /u);
    expect(plan.text).toContain('data: done; 2 done');
    expect(plan.changes.length).toBeGreaterThan(0);
    const child = plan.groups[0]?.lanes[0]?.runId ?? board.ended[0]?.runId ?? '';
    const run = SCHEMAS['page-run'].type.strict().parse(await page.json(`/runs/${child}.json`));
    expect(run.steps.length).toBeGreaterThan(3);
    for (const path of [
      '/',
      '/evaluation',
      '/drills',
      `/runs/${runId}`,
      `/runs/${child}`,
      `/runs/${runId}/groups/data`,
    ]) {
      const html = await page.text(path);
      expect(Buffer.byteLength(html), path).toBeLessThan(30 * 1024);
      expect(readHtml(html).text).not.toBe('');
    }
    for (const id of [runId, child]) {
      expect(await page.text(`/runs/${id}/report`)).toContain('Lifeboat report');
      // Fingerprints of keys have twelve digits.
      const report = JSON.stringify(await page.json(`/runs/${id}/report.json`));
      expect(report).not.toMatch(/(?<![\w-])[0-9a-f]{12}(?![\w-])/u);
    }
    await made.good('plans', 'done', 'last', 'people/look', '--proof', 'they are there');
    await made.run('resume', 'last');
    const over = () => page.json('/board.json').then((board) => SCHEMAS['page-board'].type.parse(board));
    await until(async () => (await over()).ended.some((one) => one.runId === runId));
    const { ended, runs: open } = await over();
    // The steps of a plan are on its page, and not on the board.
    expect([open, ended.map((one) => one.runbook)]).toEqual([
      [],
      ['plan', 'disaster-recovery', 'disaster-recovery'],
    ]);
    await page.stop();
  });

  test('tells each listener about new entries by the size of the log, and ends with exit code 0', async (context) => {
    const { expect } = context;
    const made = await bench(context);
    await made.rotate('--yes', '--confirm', 'orders');
    const page = await served(made, context);
    const answer = await fetch(`${page.url}/events`);
    let heard = '';
    const listening = (async () => {
      for await (const chunk of answer.body ?? []) heard += Buffer.from(chunk as Uint8Array).toString('utf8');
    })();
    await until(() => /id: \d+\n/u.test(heard));
    const before = Number(/id: (\d+)\n/u.exec(heard)?.[1]);
    await made.run('plans', 'evaluate');
    await until(() => [...heard.matchAll(/id: (\d+)\n/gu)].some(([, size]) => Number(size) > before));
    await page.stop();
    await listening.catch(() => undefined);
    expect(page.log()).toContain('the page is at http://127.0.0.1:');
  });

  test('writes a page as one file without a script, and replaces names by numbers when asked', async (context) => {
    const { expect } = context;
    const made = await bench(context);
    await made.rotate('--yes', '--confirm', 'orders');
    const [html, json] = ['board.html', 'board.json'].map((name) => join(made.folder, name)) as [
      string,
      string,
    ];
    await made.good('serve', '--snapshot', html, '--mask-names');
    const text = readFileSync(html, 'utf8');
    expect(text).not.toMatch(/<script|<a href="\/|Robin/u);
    expect(readHtml(text).text).toContain('a copy, which stays as it is');
    await made.good('serve', '--snapshot', json);
    const board = SCHEMAS['page-board'].type.parse(JSON.parse(readFileSync(json, 'utf8')));
    expect(board.ended).toMatchObject([{ runbook: 'rotate-key', by: 'Robin' }]);
    const runId = board.ended[0]?.runId ?? '';
    for (const word of ['last', runId.slice(0, -2).toLowerCase(), runId]) {
      const file = join(made.folder, `${word}.json`);
      await made.good('serve', '--snapshot', file, '--page', `/runs/${word}`);
      expect(JSON.parse(readFileSync(file, 'utf8')).run.runId).toBe(runId);
    }
    const listening = await made.run('serve', '--snapshot', `${html}.3`, '--listen', '127.0.0.1:0');
    expect([listening.code, listening.stderr]).toEqual([2, expect.stringContaining('listens nowhere')]);
    const again = await made.run('serve', '--snapshot', html);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('already exists')]);
    const none = await made.run('serve', '--snapshot', `${html}.2`, '--page', '/nobody');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('there is no page /nobody')]);
  });

  test('does not start on an address that other machines can reach without a proxy that identifies people', async (context) => {
    const { expect } = context;
    const { run } = await bench(context);
    for (const where of ['0.0.0.0:0', '[::]:0', '10.0.0.7:8437']) {
      const { code, stderr } = await run('serve', '--listen', where);
      expect([where, code, stderr]).toEqual([where, 2, expect.stringContaining('nobody says who they are')]);
    }
  });
});

interface Page {
  readonly url: string;
  log(): string;
  text(path: string): Promise<string>;
  json(path: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** The pages of a machine, in a process of their own. */
async function served({ start }: TestBench, { expect }: Pick<TestContext, 'expect'>): Promise<Page> {
  const running: Running = start('serve', '--listen', '127.0.0.1:0');
  await until(() => running.stderr().includes('the page is at'));
  const url = /http:\/\/\S+(?=\/)/u.exec(running.stderr())?.[0] ?? '';
  const text = async (path: string) => {
    const answer = await fetch(`${url}${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.text();
  };
  return {
    url,
    text,
    log: () => running.stderr(),
    json: async (path) => JSON.parse(await text(path)),
    async stop() {
      running.child.kill('SIGTERM');
      const { code, stderr } = await running.ended;
      expect(code, stderr).toBe(0);
    },
  };
}
