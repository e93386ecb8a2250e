import { expect, test } from 'vitest';
import { evidenceHtml, evidenceJson } from '../../src/evidence/evidence-pages.ts';
import { Evidence } from '../../src/evidence/evidence-schema.ts';
import { readHtml } from '../report/html-words.ts';
import { withTexts } from '../report/with-texts.ts';
import { EVERYTHING } from './sample.ts';

test('the index is well formed, has a caption for each table, and begins with what is not intact', () => {
  const html = evidenceHtml(EVERYTHING, { name: 'ACME' });
  const { elements } = readHtml(html);
  const count = (name: string) => elements.filter((one) => one.name === name).length;
  expect([count('h1'), count('main'), count('nav'), count('script')]).toEqual([1, 1, 1, 0]);
  expect(count('caption')).toBe(count('table'));
  expect(html.indexOf('THE RECORD IS NOT INTACT')).toBeLessThan(html.indexOf('<nav'));
  expect(html).toContain('THE RECORD OF A DRILL IS NOT INTACT');
  expect(Evidence.parse(JSON.parse(evidenceJson(EVERYTHING)))).toEqual(
    JSON.parse(JSON.stringify(EVERYTHING)),
  );
});

test('the index links to files of the pack alone', () => {
  const { elements } = readHtml(evidenceHtml(EVERYTHING, {}));
  const links = elements.flatMap(({ attributes }) => attributes.get('href') ?? []);
  const files = links.filter((link) => !link.startsWith('#'));
  expect(new Set(files)).toEqual(
    new Set([
      'drills/20260301-101500/report.html',
      ...EVERYTHING.runs.flatMap(({ report, journal }) => [report ?? [], journal ?? []].flat()),
      'runs/01KA0000000000000000000002/receipt/receipt.sigstore.json',
    ]),
  );
});

test('the index of an empty period says so, and reports nothing as missing that was not required', () => {
  const html = evidenceHtml(
    {
      ...EVERYTHING,
      record: { verdict: 'intact', words: 'intact', entries: 1, problems: [] },
      ...{ subjects: [], missing: [], drills: [], runs: [], evaluations: [], findings: [], waivers: [] },
    },
    {},
  );
  expect(html).toContain('Nothing: all that the config asks for is on record.');
  expect(html).toContain('None in the period.');
  expect(html).not.toContain('NOT INTACT');
  expect(html).not.toContain('<div class="good">');
});

test('only what was evaluated as proven or ready counts as recoverable, not an empty target or an unevaluated instance', () => {
  const subject = (verdict: 'ready' | 'not-ready' | 'empty') => ({
    ...{ subject: verdict, isConfigured: true, runs: 0, gaps: 0 },
    evaluated: { at: '2026-04-30T00:00:00.000Z', verdict, reason: 'it is so' },
  });
  const counted = (...subjects: Evidence['subjects']) =>
    /(\d+ of \d+)/u.exec(readHtml(evidenceHtml({ ...EVERYTHING, subjects }, {})).text)?.[1];
  const unseen = { subject: 'plan.west', isConfigured: true, runs: 0, gaps: 0 };
  expect(counted(subject('not-ready'), subject('empty'), unseen)).toBe('0 of 2');
  expect(counted(subject('ready'), subject('empty'))).toBe('1 of 1');
});

/** What no journal and no config can say otherwise. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  ...EVERYTHING.missing.map(({ what }) => what),
  ...EVERYTHING.runs.flatMap(({ kind, status }) => [kind, status]),
  ...EVERYTHING.evaluations.map(({ verdict }) => verdict),
  'all',
]);

test.each([
  ['a script', '</title></style></td><script>alert(1)</script>'],
  ['an image', '"><img src=x onerror=alert(1)>'],
  ['an address', 'javascript:alert(1)'],
  ['bidi and escapes', 'a\u202eb\u200b\u001b]8;;http://h\u0007x\u009b31m'],
  ['a path out of the pack', '../../etc/passwd'],
])('%s in every text of the index has no effect', (_what, hostile) => {
  const spoilt = withTexts(EVERYTHING, hostile, (text) => OWN_WORDS.has(text)) as Evidence;
  const html = evidenceHtml({ ...spoilt, period: EVERYTHING.period }, { name: hostile });
  const { elements } = readHtml(html);
  expect(elements.filter(({ name }) => ['script', 'img', 'iframe'].includes(name))).toEqual([]);
  const attributes = elements.flatMap((one) => [...one.attributes]);
  expect(attributes.filter(([name]) => name.startsWith('on'))).toEqual([]);
  expect(attributes.filter(([name, value]) => name === 'href' && !value.startsWith('#'))).toEqual([]);
  expect(html).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
});
