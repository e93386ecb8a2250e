import { expect, test } from 'vitest';
import type { Entry } from '../../src/store/journal.ts';
import { rotation } from './rotation.ts';
import { withTexts } from './with-texts.ts';
import { runReport } from './written-report.ts';

const generatedAt = new Date('2026-01-03T00:00:00Z');
const root = Buffer.alloc(32, 7).toString('base64');
const note = `lifeboat/0123456789abcdef\n13\n${root}\n\n— lifeboat/0123456789abcdef BBBB\n`;
const report = runReport(rotation, {
  generatedAt,
  note,
  files: [{ name: 'run-01J.jsonl', sha256: 'ab'.repeat(32) }],
  ledger: rotation
    .slice(0, 1)
    .map((entry) => ({ ...entry, type: 'key.proven', body: { fingerprint: '5f4e3d2c1b0a' } })),
});

test.each([
  ['what it is about', '# rotate-key on orders'],
  ['the run', '| Run | `01J` |'],
  ['the runbook and its version', '| Runbook | rotate-key, version 1.0.0 |'],
  ['mode and operator', '| Mode | LIVE |\n| Operator | Ada |'],
  [
    'when it began and ended',
    '| Started | 2026-01-02 03:00:00 UTC |\n| Ended | 2026-01-02 03:11:00 UTC |\n| Duration | 11 min |',
  ],
  ['the tool', '| Tool | lifeboat 0.1.0, Node 24.21.0 |'],
  ['whether the outcome is proven', '**key rotated**. The result is **proven**.'],
  ['the facts', '| Old key | 0a1b2c3d4e5f |\n| New key | 5f4e3d2c1b0a |'],
  [
    'who decided what and why',
    '| 2026-01-02 03:09:00 | ada | Skip the negative test | the old key &lt;b&gt;is gone&lt;/b&gt; \\| really |',
  ],
  ['what was skipped', '- negative test: the old key is gone'],
  ['each call that may happen once', '| 2026-01-02 03:05:00 | backup.create | `i1` | lost | it happened |'],
  ['the timeline', '| 2026-01-02 03:03:00 | 4 | ada | resumed by process 4242 |'],
  ['the ledger', 'key 5f4e3d2c1b0a is proven'],
  ['the last entry', `12 entries, the last of them with the leaf hash \`${rotation.at(-1)?.hash}\``],
  ['the files', `| run-01J.jsonl | \`${'ab'.repeat(32)}\` |`],
  [
    'the signed head of the log',
    `    lifeboat/0123456789abcdef\n    13\n    ${root}\n    \n    — lifeboat/0123456789abcdef BBBB`,
  ],
  ['the anchor of the whole log', '`lifeboat:0123456789abcdef:13:07070707070707070707:'],
  ['how to verify', '`lifeboat audit verify 01J`'],
])('the record of a rotation says %s', (_what, text) => {
  expect(report).toContain(text);
});

test('the same entries give the same record', () => {
  expect(runReport(rotation, { generatedAt })).toBe(runReport(rotation, { generatedAt }));
});

test('a run that is not over says so, and an abandoned one says why', () => {
  const open = runReport(rotation.slice(0, 6), { generatedAt });
  expect(open).toContain('**This run is still open.**');
  expect(open).toContain('| `i1` | none on record |');
  const abandoned = { ...rotation[6], type: 'run.abandoned', body: { reason: 'a newer machine' } } as Entry;
  expect(runReport([...rotation.slice(0, 6), abandoned], { generatedAt })).toContain(
    '**Abandoned**: a newer machine.',
  );
});

test('a clock that was set back gives no negative duration', () => {
  const back = rotation.with(-1, { ...rotation.at(-1), at: '2025-12-31T00:00:00.000Z' } as Entry);
  expect(runReport(back, { generatedAt })).toContain('| Duration | unknown: the clock was set back |');
});

test('unknown entries, or none at all, still give a record', () => {
  expect(runReport([], { generatedAt })).toContain('There are no entries.');
  const future = rotation.map((entry) => ({ ...entry, type: 'future', body: { a: 1 } }));
  expect(runReport(future, { generatedAt })).toContain('future a 1');
});

test('no text of an entry can format, link or act in the record', () => {
  const hostile = '\u001b[2J</td><script>x</script> ![i](http://h) | `a` **b** \n# title';
  const entries = rotation.map((entry) => ({
    ...entry,
    by: hostile,
    body: withTexts(entry.body, hostile, isWord) as Entry['body'],
  }));
  // What stands in a code span is shown as it is, by definition.
  const text = runReport(entries, { generatedAt }).replace(/(?<!\\)`[^`\n]*`/gu, 'code');
  expect(text).not.toMatch(/[^\n -~…\ufffd\u2014]/u);
  expect(text).not.toMatch(/<|(?<!\\)!\[|(?<!\\)\*\*b|^# title/mu);
  expect(text.split('\n').filter((line) => line.startsWith('| ') && line.includes('started'))).toHaveLength(
    1,
  );
});

const isWord = (text: string) => ['LIVE', 'read', 'unknown', 'landed', 'credentials'].includes(text);
