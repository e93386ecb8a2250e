import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { auditVerifyCommand } from '../../src/commands/audit/verify.ts';
import { canonicalBody, leafText } from '../../src/store/canonical.ts';
import { auditShow, entrySentences } from '../../src/store/sentence.ts';
import { actingIn } from './acting.ts';
import { corpus } from './corpus.ts';
import { filled, RECORDS } from './records.ts';

const TEXTS = corpus().filter((text) => text.length < 100_000);
const LONG = corpus().filter((text) => text.length >= 100_000);
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The record filled so often that every text stood in it four times, each time in another place. */
function fillings(name: string, how: 'all' | 'sparing') {
  const entries = RECORDS[name] ?? [];
  const step = filled(entries, TEXTS, 0, how).places;
  const firsts = Array.from(
    { length: Math.ceil(TEXTS.length / step) * 4 },
    (_, at) => at * Math.ceil(step / 4),
  );
  return firsts.map((first) => filled(entries, TEXTS, first, how).entries);
}

describe.each(Object.keys(RECORDS))('the record of %s, with a hostile text in every place', (name) => {
  test.each(['all', 'sparing'] as const)('has no effect in any sentence or line of the audit (%s)', (how) => {
    const long = filled(RECORDS[name] ?? [], LONG, 0, how).entries;
    for (const entries of [...fillings(name, how), long]) {
      const lines = auditShow(entries).map((line) => Object.values(line).join(' '));
      const sentences = entries.map((entry) => entrySentences()(entry).text);
      expect(actingIn([...lines, ...sentences].join('\n'))).toBe('');
    }
  });

  test('is exported as printable ASCII, and has no effect in the audit of the export', async () => {
    for (const [at, entries] of fillings(name, 'all').entries()) {
      const lines = entries.map((entry) => leafText({ ...entry, body: canonicalBody(entry.body, 'it') }));
      expect(lines.join('').search(/[^\x20-\x7e]/u)).toBe(-1);
      const file = join(folder, `${at}.jsonl`);
      writeFileSync(file, `${lines.join('\n')}\n{"proof.json":"{}"}\n`);
      let said = '';
      const stream = { write: (text: string) => (said += text) };
      const context = { stdout: stream, stderr: stream, env: {} };
      expect(await auditVerifyCommand(context as never, [file], {})).toBe(1);
      expect(actingIn(said)).toBe('');
    }
  });
});
