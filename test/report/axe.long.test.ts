import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareReports } from '../../src/report/comparison.ts';
import { estateOf } from '../../src/report/estate.ts';
import { measure } from '../../src/report/measure/measure.ts';
import {
  renderComparison,
  renderEstate,
  renderPlanReport,
  renderReport,
} from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import type { Entry } from '../../src/store/journal.ts';
import { foldLedger } from '../../src/store/projections/ledgers.ts';
import { CHROMIUM, openChromium } from '../bench-kit/chromium.ts';
import { longNight } from './long-night.ts';
import { CHILDREN, inputOf, planEntries, reportOn, WELL } from './plan/plan-run.ts';
import { followUps, recovery, sliceOf } from './recovery.ts';
import { rotation } from './rotation.ts';

const now = new Date('2026-03-02T00:00:00Z');

function reportOf(entries: readonly Entry[]) {
  return buildReport(entries, {
    generatedAt: now,
    sliceOf,
    measures: measure(entries, { sliceOf, followUps }),
  });
}

/** Every kind of report as a page. */
function pages(): Readonly<Record<string, string>> {
  const [one, other] = [reportOf(recovery), reportOf(longNight)];
  const instances = [
    { name: 'orders', isConfigured: true, ledger: foldLedger([]), followUps: [] },
    { name: 'billing', isConfigured: false, ledger: foldLedger([]), followUps: [] },
  ];
  const plan = reportOn(planEntries(inputOf(), WELL), CHILDREN, inputOf());
  return {
    recovery: renderReport(one, 'html'),
    'a recovery of a long night': renderReport(other, 'html'),
    rotation: renderReport(reportOf(rotation), 'html'),
    comparison: renderComparison(compareReports(one, other, now), 'html'),
    'all instances': renderEstate(
      estateOf(instances, [one], { since: new Date('2026-02-01T00:00:00Z'), now }),
      'html',
    ),
    plan: renderPlanReport(plan, 'html', {}, () => '../children/report.html'),
  };
}

interface Seen {
  readonly held: number;
  readonly found: readonly { readonly id: string; readonly nodes: readonly string[] }[];
  readonly wide: number;
}

const LOOK = `axe.run(document).then(({ violations, passes }) => ({
  held: passes.length,
  found: violations.map(({ id, nodes }) => ({ id, nodes: nodes.slice(0, 3).map(({ html }) => html) })),
  wide: document.documentElement.scrollWidth - innerWidth,
}))`;

describe.skipIf(CHROMIUM === undefined && process.env['CI'] === undefined)(
  'a report in a real browser',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'lifeboat-report-axe-'));
    let browser: Awaited<ReturnType<typeof openChromium>>;
    beforeAll(async () => {
      browser = await openChromium();
    }, 120_000);
    afterAll(async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test.each([
      ['screen', 'light', 320],
      ['screen', 'light', 1_600],
      ['screen', 'dark', 800],
      ['print', 'light', 800],
    ])(
      'has no finding of axe on %s, %s, %i pixels wide, whatever it is about',
      async (media, scheme, width) => {
        const tab = await browser.tab();
        const size = { width, height: 900, deviceScaleFactor: 1, mobile: false };
        await tab.send('Emulation.setDeviceMetricsOverride', size);
        const features = [{ name: 'prefers-color-scheme', value: scheme }];
        await tab.send('Emulation.setEmulatedMedia', { media, features });
        for (const [name, html] of Object.entries(pages())) {
          const file = join(folder, `${name}.html`);
          writeFileSync(file, html);
          await tab.open(pathToFileURL(file).href);
          await tab.run(`${axe.source}; undefined`);
          const { held, found, wide } = await tab.run<Seen>(LOOK);
          expect(held, name).toBeGreaterThan(15);
          expect(found, `${name} ${JSON.stringify(found, undefined, 2)}`).toEqual([]);
          expect(wide, name).toBeLessThanOrEqual(0);
        }
      },
      240_000,
    );
  },
);
