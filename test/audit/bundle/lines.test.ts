import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packLines, unpackLines } from '../../../src/audit/bundle/pack.ts';
import { verifyBundle } from '../../../src/audit/bundle/verify-bundle.ts';
import { verdictOf } from '../../../src/audit/verdict.ts';
import { ENTRIES, type Evidence, linesOf, makeEvidence } from './scene.ts';
import { noPython, PYTHON_VERIFIER } from './verifiers.ts';

const folder = mkdtempSync(join(tmpdir(), 'lifeboat-lines-'));
let made: Evidence;
let text: string;

beforeAll(async () => {
  made = await makeEvidence(join(folder, 'home'));
  text = await linesOf(made);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function verdictFor(bytes: string | Buffer, publicKey: string | undefined = made.signer.publicKey) {
  const files = unpackLines(Buffer.from(bytes));
  return files === undefined
    ? 'not-intact'
    : verdictOf(verifyBundle(files, { publicKey, isLines: true }).findings);
}

describe('the exported lines of a run', () => {
  test('are its entries as they were hashed, and one line with what proves them, printable ASCII only', () => {
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(ENTRIES + 1);
    for (const line of lines) expect(line).toMatch(/^[ -~]+$/u);
    expect(lines.slice(0, -1).map((line) => JSON.parse(line).seq)).toEqual(
      Array.from({ length: ENTRIES }, (_, at) => at + 1),
    );
    expect(Object.keys(JSON.parse(lines.at(-1) ?? '')).sort()).toEqual([
      'SHA256SUMS',
      'checkpoint.note',
      ...[1, 2, 3].map((number) => `checkpoints/${number}.note`),
      'lifeboat.pub',
      'log.jsonl',
      'manifest.note',
      'proof.json',
    ]);
  });

  test('can be verified alone: intact with the key from elsewhere, consistent without it', () => {
    expect(verdictFor(text)).toBe('intact');
    const files = unpackLines(Buffer.from(text)) ?? new Map();
    expect(verdictOf(verifyBundle(files, { isLines: true }).findings)).toBe('consistent');
    expect(packLines(files)).toBe(text);
  });

  test.skipIf(noPython)('can be verified with a verifier in another language', () => {
    const [file, key] = [join(folder, 'lines.jsonl'), join(folder, 'key.pub')];
    writeFileSync(file, text);
    writeFileSync(key, made.signer.publicKey);
    expect(String(execFileSync('python3', [PYTHON_VERIFIER, file, key]))).toBe('intact\n');
  });

  test('reveal a change of any byte', () => {
    const all = Buffer.from(text);
    const offset = fc.noBias(fc.integer({ min: 0, max: all.length - 1 }));
    fc.assert(
      fc.property(offset, fc.integer({ min: 0, max: 7 }), (at, bit) => {
        const changed = Buffer.from(all);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        expect(verdictFor(changed)).toBe('not-intact');
      }),
      { numRuns: 400 },
    );
  });

  test('reveal every removed, repeated and swapped line', () => {
    const lines = text.split('\n');
    for (let i = 0; i < lines.length - 1; i += 1) {
      const changes = [lines.toSpliced(i, 1), lines.toSpliced(i, 0, lines[i] ?? '')];
      for (let j = i + 1; j < lines.length - 1; j += 1)
        changes.push(lines.with(i, lines[j] ?? '').with(j, lines[i] ?? ''));
      for (const changed of changes) expect(verdictFor(changed.join('\n'))).toBe('not-intact');
    }
  });

  test('get a verdict whatever they contain, even text that is nested without end', () => {
    const deep = `{"at":"","body":${'['.repeat(100_000)}`;
    const last = text.split('\n').at(-2);
    for (const other of [
      '',
      '\n',
      'null\n',
      '{}\n',
      '[]\n',
      `${deep}\n`,
      `${deep}\n${last}\n`,
      `${last}\n`,
      last ?? '',
    ])
      expect(verdictFor(other)).toBe('not-intact');
  });
});
