import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { auditExport } from '../../src/audit/export.ts';
import { verifyExport } from '../../src/audit/verify-export.ts';
import type { Signer } from '../../src/store/log/signer.ts';
import { printableJson } from '../../src/text.ts';
import { openSealed } from './sealed-journal.ts';

const noPython = spawnSync('python3', ['--version']).status !== 0;

let lines: readonly string[];
let short: readonly string[];
let signer: Signer;

beforeAll(async () => {
  const home = mkdtempSync(join(tmpdir(), 'lifeboat-export-'));
  const sealed = await openSealed({ home });
  signer = sealed.signer;
  const exported = () => collect(auditExport(sealed.journal, 'run/a', { sign: signer.sign }));
  for (let number = 1; number <= 60; number += 1) {
    const text = ['plain', 'é', '\u001b[2J', '\u{1f600}', '\u202e', '"\\'][number % 6] ?? '';
    await sealed.journal.append([{ stream: 'run/a', type: 'note', body: { number, text } }]);
    if (number === 4) short = await exported();
  }
  lines = await exported();
  await sealed.close();
  rmSync(home, { recursive: true });
});

const problems = (changed: readonly string[]) => {
  const { ok, findings } = verifyExport(changed, signer.publicKey);
  expect(ok).toBe(findings.length === 0);
  return findings.length;
};

describe('an exported stream', () => {
  test('is one line an entry and a signed head, printable ASCII only', () => {
    expect(lines).toHaveLength(61);
    for (const line of lines) expect(line).toMatch(/^[ -~]+$/u);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      stream: 'run/a',
      seq: 1,
      body: { number: 1, text: 'é' },
    });
    expect(JSON.parse(lines[60] ?? '')).toMatchObject({
      head: { seq: 60 },
      note: expect.stringContaining('\n60\n'),
    });
  });

  test('verifies by itself, with the public key alone', () => {
    expect(verifyExport(lines, signer.publicKey)).toMatchObject({
      ok: true,
      entries: 60,
      findings: [],
      streams: [{ stream: 'run/a', sealed: 60 }],
    });
    expect(verifyExport(lines)).toMatchObject({
      ok: true,
      trust: 'none',
      findings: [{ code: 'stream.unsealed' }],
    });
  });

  test.skipIf(noPython)('can be verified by a stranger who knows only the definition of the chain', () => {
    const script = [
      'import hashlib, json, sys',
      'prev, seq = "0" * 64, 0',
      'for line in sys.stdin:',
      '    e = json.loads(line)',
      '    if "head" in e:',
      '        assert (e["head"]["seq"], e["head"]["hash"]) == (seq, prev)',
      '        print("sound", seq)',
      '        break',
      '    seq += 1',
      '    row = [e[k] for k in ("stream", "seq", "at", "by", "type", "body")]',
      '    text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False)',
      '    assert (e["seq"], e["prev"]) == (seq, prev)',
      '    prev = hashlib.sha256((prev + "\\n" + text).encode()).hexdigest()',
      '    assert e["hash"] == prev',
    ].join('\n');
    const answer = execFileSync('python3', ['-c', script], { input: `${lines.join('\n')}\n` });
    expect(answer.toString()).toBe('sound 60\n');
  });

  test('betrays every change of every single byte of a short export', () => {
    const all = Buffer.from(short.join('\n'));
    for (let at = 0; at < all.length; at += 1) {
      if (problems(flip(all, at, at % 8)) === 0) throw new Error(`byte ${at} can be changed unnoticed`);
    }
  });

  test('betrays a change of any bit of a long export', () => {
    const all = Buffer.from(lines.join('\n'));
    const offset = fc.noBias(fc.integer({ min: 0, max: all.length - 1 }));
    fc.assert(
      fc.property(offset, fc.integer({ min: 0, max: 7 }), (at, bit) => {
        expect(problems(flip(all, at, bit))).toBeGreaterThan(0);
      }),
      { numRuns: 600 },
    );
  });

  test('betrays every removed, repeated, inserted and swapped line', () => {
    const foreign = lines[0]?.replace('"seq":1,', '"seq":2,') ?? '';
    for (let i = 0; i < lines.length; i += 1) {
      expect([i, problems(lines.toSpliced(i, 1))]).not.toEqual([i, 0]);
      expect([i, problems(lines.toSpliced(i, 0, lines[i] ?? ''))]).not.toEqual([i, 0]);
      expect([i, problems(lines.toSpliced(i, 0, foreign))]).not.toEqual([i, 0]);
      for (let j = i + 1; j < lines.length; j += 7) {
        expect([i, j, problems(lines.with(i, lines[j] ?? '').with(j, lines[i] ?? ''))]).not.toEqual([
          i,
          j,
          0,
        ]);
      }
    }
  });

  test('betrays a tail that was cut together with its head line being made anew', () => {
    const cut = lines.slice(0, 40);
    const { stream, seq, hash } = JSON.parse(cut[39] ?? '');
    const { note } = JSON.parse(lines[60] ?? '');
    const codes = (head: object) =>
      verifyExport([...cut, printableJson(head)], signer.publicKey).findings.map(({ code }) => code);
    expect(codes({ head: { stream, seq, hash }, note })).toEqual(['export.note']);
    expect(codes({ head: { stream, seq, hash } })).toEqual(['stream.unsealed']);
  });

  test('answers for any text, also text that is nested without end', () => {
    const deep = `{"stream":"run/a","body":${'['.repeat(100_000)}`;
    for (const text of [[], [''], ['null'], [deep, deep], ['{"head":{}}'], ['[]', '{}']]) {
      expect(verifyExport(text, signer.publicKey)).toMatchObject({ ok: false });
    }
  });

  test('of a stream nobody wrote to is a head of zeros', async () => {
    const { journal, close } = await openSealed();
    onTestFinished(close);
    const empty = await collect(auditExport(journal, 'run/none', { sign: signer.sign }));
    expect(empty).toHaveLength(1);
    expect(verifyExport(empty, signer.publicKey)).toMatchObject({ ok: true, entries: 0 });
  });
});

async function collect(source: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of source) all.push(line);
  return all;
}

/** The lines of an export in which one bit is different. */
function flip(bytes: Buffer, at: number, bit: number): string[] {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ (1 << bit);
  return changed.toString().split('\n');
}
