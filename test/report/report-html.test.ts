import { expect, test } from 'vitest';
import { TEST_RESULT } from '../../src/base/receipt-files.ts';
import { measure } from '../../src/report/measure/measure.ts';
import { renderReport } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import type { Entry } from '../../src/store/journal.ts';
import { readHtml } from './html-words.ts';
import { longNight } from './long-night.ts';
import { followUps, recovery, sliceOf } from './recovery.ts';
import { rotation } from './rotation.ts';
import { withTexts } from './with-texts.ts';

const generatedAt = new Date('2026-03-02T00:00:00Z');
const runs: readonly (readonly [string, readonly Entry[]])[] = [
  ['a recovery', recovery],
  ['a night in which everything happens', longNight],
  ['a rotation', rotation],
  ['a run that is not over', recovery.slice(0, 12)],
  ['nothing at all', []],
];

function reportOf(entries: readonly Entry[]) {
  return buildReport(entries, {
    generatedAt,
    sliceOf,
    measures: measure(entries, { sliceOf, followUps }),
    note: 'lifeboat/x/run/01R\n12\nAAAA\n',
    files: [{ name: 'run.jsonl', sha256: 'ab'.repeat(32) }],
  });
}

test.each(runs)(
  'the HTML of %s is well formed, has a language, a title, headings, and a caption for each table',
  (_what, entries) => {
    const { elements } = readHtml(renderReport(reportOf(entries), 'html'));
    const count = (name: string) => elements.filter((one) => one.name === name).length;
    expect(elements.find(({ name }) => name === 'html')?.attributes.get('lang')).toBe('en');
    expect([count('h1'), count('main'), count('nav')]).toEqual([1, 1, 1]);
    expect(count('h2')).toBeGreaterThan(8);
    expect(count('caption')).toBe(count('table'));
    const ids = elements.flatMap(({ attributes }) => attributes.get('id') ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    const named = elements.flatMap(({ attributes }) => attributes.get('aria-labelledby')?.split(' ') ?? []);
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  },
);

test('a picture is never silently cut off: on a narrower screen, a note says that it scrolls', () => {
  const html = renderReport(reportOf(recovery), 'html');
  expect(html).toMatch(/<figure><div class="wide"[^>]*><svg/u);
  const [, widest = ''] = /svg \{[^}]*min-width: (\d+)rem/u.exec(html) ?? [];
  const [, narrow = '', rules] = /@media screen and \(max-width: (\d+)rem\) \{(.*?)\n\}/su.exec(html) ?? [];
  // Beside the picture there is 3 % of the window on either side.
  expect(Number(narrow) * 0.94).toBeGreaterThan(Number(widest));
  expect(rules).toContain('figure::before { content: "Wider than the screen: scroll it sideways \\2192"');
});

test.each(runs)(
  'the HTML of %s is self-contained: no script, no outside reference, and a policy that forbids both',
  (_what, entries) => {
    const html = renderReport(reportOf(entries), 'html');
    const { elements } = readHtml(html);
    const policy = elements.find(
      ({ attributes }) => attributes.get('http-equiv') === 'Content-Security-Policy',
    );
    expect(policy?.attributes.get('content')).toBe("default-src 'none'; style-src 'unsafe-inline'");
    const outside = [
      'script',
      'link',
      'img',
      'iframe',
      'object',
      'embed',
      'form',
      'base',
      'image',
      'use',
      'foreignObject',
    ];
    expect(elements.filter(({ name }) => outside.includes(name))).toEqual([]);
    for (const { name, attributes } of elements) {
      const pointing = [...attributes].filter(([key]) =>
        /^(?:href|src|srcset|action|style|on.*|xlink.*)$/iu.test(key),
      );
      expect(
        pointing.filter(([key, value]) => name !== 'a' || key !== 'href' || !/^#part-\d+$/u.test(value)),
      ).toEqual([]);
    }
    // The type of a receipt is a name, and only text.
    const addressed = html.replaceAll(`--type ${TEST_RESULT} `, '');
    expect(addressed).not.toMatch(/url\(|@import|https?:\/\//iu);
  },
);

test.each(runs)('Markdown and HTML say the same of %s, row by row', (_what, entries) => {
  const report = reportOf(entries);
  const { rows } = readHtml(renderReport(report, 'html'));
  const cells = renderReport(report, 'md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^(?:\|\s*(?:---)?\s*)+\|$/u.test(line))
    .map((line) => line.slice(2, -2).split(/ \| /u).map(unmarked));
  expect(rows.map((row) => row.map((cell) => cell.trim()))).toEqual(cells);
});

test('what break-glass bypassed stands above everything else in every form', () => {
  const report = reportOf(longNight);
  const md = renderReport(report, 'md');
  expect(md.split('\n')[2]).toBe('> **BREAK-GLASS: a step went on without its second person**');
  const html = renderReport(report, 'html');
  const before = html.slice(html.indexOf('</h1>') + 5, html.indexOf('BREAK-GLASS'));
  expect(before.trim()).toBe('<div class="alarm" role="note"><p><strong>');
  expect(report.alarms[0]?.text).toBe('restore backup 7 into orders: the approver cannot be reached');
  expect(Object.keys(report).indexOf('alarms')).toBeLessThan(Object.keys(report).indexOf('run'));
  expect(renderReport(reportOf(recovery), 'html')).not.toContain('BREAK-GLASS');
});

test.each([
  ['a script', '</title></svg></td><script>alert(1)</script>'],
  ['an image', '"><img src=x onerror=alert(1)>'],
  ['an address', 'javascript:alert(1)'],
  ['a link in Markdown', '[a](javascript:alert(1)) ![i](http://h)'],
  ['bidi and zero width', 'a\u202eb\u200b\u2066c\u00ad'],
  ['escapes of a terminal', '\u001b]8;;http://h\u0007x\u001b[2J\u009b31m'],
  ['a comment and a style', '--></style><!--'],
  ['an entity', '&lt;script&gt;'],
  ['a megabyte', 'x<b>'.repeat(262_144)],
])('%s in every text of a journal does nothing in any form', (_what, hostile) => {
  for (const entries of [recovery, longNight, rotation]) {
    const spoilt = entries.map((entry) => ({
      ...entry,
      by: hostile,
      body: withTexts(entry.body, hostile, isWord) as Entry['body'],
    }));
    const report = buildReport(spoilt, {
      generatedAt,
      sliceOf,
      measures: measure(entries, { sliceOf, followUps }),
      followUps: withTexts(followUps, hostile, isWord) as typeof followUps,
      note: `${hostile}\n${hostile}`,
      files: [{ name: hostile, sha256: hostile }],
    });
    const html = renderReport(report, 'html');
    const { elements } = readHtml(html);
    expect(elements.filter(({ name }) => ['script', 'img'].includes(name))).toEqual([]);
    expect(
      elements.flatMap(({ attributes }) => [...attributes.keys()].filter((key) => key.startsWith('on'))),
    ).toEqual([]);
    for (const format of ['md', 'html', 'json'] as const) {
      const text = renderReport(report, format);
      expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
      expect(text.length).toBeLessThan(600_000);
    }
    // What stands in code is shown as it is, by definition.
    const markdown = renderReport(report, 'md').replace(/(?<!\\)`[^`\n]*`|^ {4}.*$/gmu, 'code');
    expect(markdown).not.toMatch(/<|(?<!\\)!\[|(?<!\\)\]\(/u);
  }
});

/** A cell of Markdown as the text that it shows. */
function unmarked(cell: string): string {
  return cell
    .trim()
    .replace(/(?<!\\)\*\*|`/gu, '')
    .replace(/^\\_\\_\\_\\_$/u, '')
    .replace(/\\([\\`*_[\]|~#!])/gu, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** The words and times that the reader of the entries goes by. */
function isWord(text: string): boolean {
  return /^(?:LIVE|REHEARSAL|read|once|before|after|unknown|landed|credentials|history|ssh|done|xstate\..*|operator\..*|[a-z]+[A-Z]\w+|preflight|reconcile|2026-.*)$/u.test(
    text,
  );
}

const report = reportOf(recovery);

test('mode and run are in the head, in the title and on every printed page, whatever they contain', () => {
  const rehearsed = {
    ...report,
    run: { ...report.run, mode: 'REHEARSAL', id: '01R"; } body { display: none' },
  };
  const html = renderReport(rehearsed as typeof report, 'html');
  const style = html.slice(html.indexOf('<style>'), html.indexOf('</style>'));
  expect(style).toContain('@bottom-left { content: "REHEARSAL, run 01R  body  display none";');
  expect(readHtml(html).text).toMatch(/Lifeboat report\s+REHEARSAL, run 01R/u);
  expect(html).toContain('<title>REHEARSAL, run 01R&quot;');
});

test('reference parts are folded in after the main parts, and linked', () => {
  const html = renderReport(report, 'html');
  const [front = '', appendix = ''] = html.split('<details class="appendix">');
  for (const title of ['Objectives', 'Follow-ups', 'Deviations', 'Sign-off'])
    expect(front, title).toMatch(new RegExp(`<h2 id="part-\\d+">${title}</h2>`, 'u'));
  for (const title of ['Facts proven', 'Timeline (UTC)', 'Evidence'])
    expect(appendix, title).toContain(`>${title}</h2>`);
  for (const [, id] of html.matchAll(/href="#(part-\d+)"/gu)) expect(html).toContain(`id="${id}"`);
});

test('the end of a report has the commands that check its receipt, unless the run has none', () => {
  const commands = [
    'openssl dgst -sha256 -verify lifeboat-receipts.pub -signature receipt.sig receipt.pae',
    'openssl dgst -sha256 -r report.json',
    '--type https://in-toto.io/attestation/test-result/v0.1 --insecure-ignore-tlog report.json',
  ];
  const [html, md] = [renderReport(report, 'html'), renderReport(report, 'md')];
  for (const command of commands) {
    expect(html.slice(html.indexOf('<footer>'))).toContain(command);
    expect(md.slice(md.indexOf('All times are UTC'))).toContain(command);
  }
  const { proven: _, ...unjudged } = report.outcome;
  for (const outcome of [unjudged, { ...report.outcome, status: 'open' as const }])
    expect(renderReport({ ...report, outcome }, 'html')).not.toContain('openssl');
});

test('page 1 says how much was restored and how many applications work on it, and names no process', () => {
  const { text } = readHtml(renderReport(report, 'html'));
  const summary = text.slice(0, text.indexOf('Course of the run'));
  expect(summary).toMatch(/Data brought back\s*940 rows, as the data itself says/u);
  expect(summary).toMatch(/Applications\s*2 of 2 bound again/u);
  expect(summary).not.toMatch(/process \(?\d/u);
});
