import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { renderPlanReport } from '../../../src/report/render-report.ts';
import { CHILDREN, inputOf, planEntries, reportOn, WELL } from './plan-run.ts';

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-plan-page-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HOSTILE = '"><script>document.title="owned"</script><img src=x onerror="document.title=1"> </svg>';

test.skipIf(browser === undefined)(
  'a browser that opens the record of a plan with hostile texts runs none of them, and draws the groups',
  { timeout: 120_000 },
  () => {
    const input = inputOf();
    const plan = {
      ...input.plan,
      about: HOSTILE,
      activation: HOSTILE,
      contacts: [{ name: HOSTILE, role: HOSTILE, reach: HOSTILE }],
    };
    const hostile = { ...input, plan, groups: input.groups.map((group) => ({ ...group, about: HOSTILE })) };
    const events = [
      ...WELL.slice(0, 4),
      [310, { type: 'operator.pauseGroup', group: 'data', text: HOSTILE }, HOSTILE],
      [320, { type: 'operator.takeOut', group: 'data', lane: 'db-4', text: HOSTILE }, HOSTILE],
    ] as const;
    const children = CHILDREN.map((child) => ({ ...child, where: HOSTILE }));
    const report = reportOn(planEntries(hostile, events as never), children, hostile);
    const file = join(folder, 'report.html');
    writeFileSync(
      file,
      renderPlanReport(report, 'html', {}, () => HOSTILE),
    );
    const words = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--virtual-time-budget=3000',
      '--dump-dom',
    ];
    const { stdout, stderr } = spawnSync(browser ?? '', [...words, `file://${file}`], {
      encoding: 'utf8',
      timeout: 100_000,
      env: { ...process.env, HOME: folder },
    });
    expect(stdout.length, stderr).toBeGreaterThan(10_000);
    expect(/<title>(.*?)<\/title>/u.exec(stdout)?.[1]).toBe('LIVE, run 01P: plan west');
    expect(stdout).not.toMatch(/<script|<img|<a href="[^#]/u);
    expect(stdout.match(/<rect class="b-(?:execute|work|queue)"/gu)?.length).toBeGreaterThan(2);
  },
);
