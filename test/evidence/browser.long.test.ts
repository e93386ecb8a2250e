import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { evidenceHtml } from '../../src/evidence/evidence-pages.ts';
import { CHROMIUM, openChromium } from '../bench-kit/chromium.ts';
import { EVERYTHING } from './sample.ts';

describe.skipIf(CHROMIUM === undefined && process.env['CI'] === undefined)('in a real browser', () => {
  test('the index never scrolls sideways, on narrow and wide screens and on paper', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lifeboat-evidence-'));
    const file = join(folder, 'index.html');
    writeFileSync(file, evidenceHtml(EVERYTHING, { name: 'ACME' }));
    const browser = await openChromium();
    try {
      const tab = await browser.tab();
      for (const [media, width] of [
        ['screen', 320],
        ['screen', 800],
        ['print', 680],
      ] as const) {
        const size = { width, height: 900, deviceScaleFactor: 1, mobile: false };
        await tab.send('Emulation.setDeviceMetricsOverride', size);
        await tab.send('Emulation.setEmulatedMedia', { media });
        await tab.open(`file://${file}`);
        const [wide = 0, inner = 0, tables] = await tab.run<readonly number[]>(
          `[document.documentElement.scrollWidth, innerWidth, document.querySelectorAll('table').length]`,
        );
        expect(wide, `${media} ${width}`).toBeLessThanOrEqual(inner);
        expect(tables).toBeGreaterThan(8);
      }
    } finally {
      await browser.close();
      rmSync(folder, { recursive: true });
    }
  }, 240_000);
});
