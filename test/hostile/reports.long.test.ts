import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { printableJson } from '../../src/base/text.ts';
import { htmlDocument } from '../../src/report/render/html-document.ts';
import { markdownDocument } from '../../src/report/render/markdown-document.ts';
import { pagesOf } from '../../src/report/render/pages.ts';
import { buildReport } from '../../src/report/report.ts';
import { actingIn } from './acting.ts';
import { corpus } from './corpus.ts';
import { count } from './figures.ts';
import { strangeIn } from './html.ts';
import { activeIn } from './markdown.ts';
import { filled, RECORDS } from './records.ts';

const TEXTS = corpus().filter((text) => text.length < 100_000);
const LONG = corpus().filter((text) => text.length >= 100_000);
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Reports of a record in which every text stood four times, each time in another place, and of one with the
 * endless ones.
 */
function* reportsOf(name: string, how: 'all' | 'sparing') {
  const record = RECORDS[name] ?? [];
  const { places } = filled(record, TEXTS, 0, how);
  const stride = Math.ceil(places / 4);
  for (let first = 0; first < TEXTS.length; first += stride)
    yield made(filled(record, TEXTS, first, how).entries, first);
  yield made(filled(record, LONG, 0, how).entries, 0);
}

function made(entries: ReturnType<typeof filled>['entries'], at: number) {
  const note = `${TEXTS[at] ?? ''}\n\n— ${TEXTS[(at + 1) % TEXTS.length] ?? ''}`;
  const files = [
    { name: TEXTS[(at + 2) % TEXTS.length] ?? '', sha256: TEXTS[(at + 3) % TEXTS.length] ?? '' },
  ];
  return buildReport(entries, { generatedAt: new Date(0), ledger: entries, note, files });
}

describe.each(Object.keys(RECORDS))('a report of %s in which every text is hostile', (name) => {
  test.each(['all', 'sparing'] as const)('has no effect and no formatting as Markdown (%s)', (how) => {
    for (const report of reportsOf(name, how)) {
      const markdown = markdownDocument(pagesOf(report));
      expect(actingIn(markdown)).toBe('');
      expect(activeIn(markdown)).toEqual([]);
      count('texts', { reports: 1 });
    }
  });

  test.each(['all', 'sparing'] as const)(
    'contains no element, attribute or address of the texts as HTML (%s)',
    (how) => {
      for (const report of reportsOf(name, how)) {
        const html = htmlDocument(pagesOf(report));
        expect(actingIn(html)).toBe('');
        expect(strangeIn(html)).toEqual([]);
        count('texts', { reports: 1 });
      }
    },
  );

  test('is printable ASCII as JSON', () => {
    for (const report of reportsOf(name, 'all'))
      expect(printableJson(report).search(/[^\x20-\x7e]/u)).toBe(-1);
  });
});

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (program) => spawnSync(program, ['--version']).status === 0,
);

test.skipIf(browser === undefined)(
  'a browser that opens such reports runs nothing and draws only parts of the report',
  { timeout: 1_200_000 },
  () => {
    const pages = TEXTS.filter((text) => /[<>"'&]|script/u.test(text));
    for (const how of ['all', 'sparing'] as const) {
      const file = join(folder, `${how}.html`);
      const { entries } = filled(RECORDS['a recovery with everything'] ?? [], pages, 0, how);
      const more = Array.from(
        { length: 4 },
        (_, at) => filled(RECORDS['rotation'] ?? [], pages, at * 60, how).entries,
      );
      const html = htmlDocument(pagesOf(made([...entries, ...more.flat()], 0)));
      writeFileSync(file, html);
      const { stdout, stderr } = spawnSync(
        browser ?? '',
        [
          '--headless=new',
          '--no-sandbox',
          '--disable-gpu',
          '--virtual-time-budget=3000',
          '--dump-dom',
          `file://${file}`,
        ],
        { encoding: 'utf8', timeout: 600_000, env: { ...process.env, HOME: folder } },
      );
      expect(stdout.length, stderr).toBeGreaterThan(10_000);
      // What a browser makes of the page is the page: a script would have changed its title, a stray element
      // its shape.
      expect(titleOf(stdout)).toBe(titleOf(html));
      expect(strangeIn(stdout.replaceAll('&amp;', '&'))).toEqual([]);
      expect(elementsIn(stdout)).toEqual(elementsIn(html));
      count('browser', { 'reports opened': 1 });
    }
  },
);

function titleOf(html: string): string {
  const [, title = ''] = /<title>([^<]*)<\/title>/u.exec(html) ?? [];
  return title.replace(/&[#\w]+;/gu, '?').replace(/[^\w ]/gu, '?');
}

/** Elements by name, with how many there are of each. */
function elementsIn(html: string): Record<string, number> {
  const names = [...html.matchAll(/<([a-zA-Z0-9]+)[ >]/gu)].map(([, name = '']) => name);
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}
