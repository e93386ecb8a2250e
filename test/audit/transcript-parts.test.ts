import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { transcriptWatch } from '../../src/audit/audit-transcript.ts';
import type { Findings } from '../../src/audit/verdict.ts';
import type { StoredEntry } from '../../src/store/journal.ts';

const [ADA, BOB] = ['{"no":1,"by":"ada"}\n', '{"no":1,"by":"bob"}\n'];
const HANDED_ON = [
  kept(ADA),
  entry('transcript.elsewhere', { host: 'of-ada' }),
  kept(BOB),
  entry('run.closed', {}),
];

test.each([
  ['the transcript of the person who began it', true, ADA, ['limit transcript.elsewhere']],
  ['the transcript of the person who ended it', true, BOB, ['limit transcript.elsewhere']],
  ['no transcript', true, undefined, ['limit transcript.elsewhere']],
  ['a changed transcript', true, BOB.replace('bob', 'eve'), ['problem transcript.changed']],
  [
    'a transcript that goes on after the end',
    true,
    `${BOB}{"no":2}\n`,
    ['limit transcript.elsewhere', 'problem transcript.added'],
  ],
  ['only one of the two transcripts, in a store of one machine,', false, BOB, ['problem transcript.changed']],
] as const)('of a run that two people have driven, %s is here', (_, isShared, text, expected) => {
  expect(found(HANDED_ON, isShared, text)).toEqual(expected);
});

test('a run that returned to its first machine is covered up to its last part', () => {
  const both = `${ADA}{"no":2}\n`;
  const entries = [
    ...HANDED_ON.slice(0, 3),
    entry('transcript.elsewhere', {}),
    kept(both),
    entry('run.closed', {}),
  ];
  expect(found(entries, true, both)).toEqual(['limit transcript.elsewhere']);
  expect(found(entries, true, `${both}{"no":3}\n`)).toEqual([
    'limit transcript.elsewhere',
    'problem transcript.added',
  ]);
});

test.each([
  [
    'the transcript of the killed process, of which nothing was recorded,',
    ADA,
    ['limit transcript.elsewhere', 'limit transcript.tail'],
  ],
  ['the transcript of the person who ended it', BOB, []],
] as const)('of a run whose first process was killed, %s is here', (_, text, expected) => {
  const entries = [entry('run.started', {}), entry('run.resumed', {}), kept(BOB), entry('run.closed', {})];
  expect(found(entries, true, text)).toEqual(expected);
});

test.each([
  [
    'that was taken from a process that was stopped, which then wrote the answer it awaited',
    [],
    'limit transcript.tail',
  ],
  ['that its process left', [entry('run.detached', { why: 'Ctrl-C' })], 'problem transcript.added'],
] as const)('a run %s has more than its record covers', (_, left, expected) => {
  const both = `${ADA}{"no":2}\n`;
  const before = [entry('run.started', {}), kept(ADA), ...left];
  const entries = [...before, entry('run.resumed', {}), kept(both), entry('run.closed', {})];
  expect(found(entries, true, `${both}{"no":3}\n`)).toEqual([expected]);
});

test('a run that a worker took for the first time was taken from no other process', () => {
  const entries = [
    entry('run.started', { workers: {} }),
    entry('run.resumed', {}),
    kept(ADA),
    entry('run.closed', {}),
  ];
  expect(found(entries, true, `${ADA}{"no":2}\n`)).toEqual(['problem transcript.added']);
});

test('a run of a shared store with only one driver gets no exemption', () => {
  expect(found([kept(ADA), entry('run.closed', {})], true, BOB)).toEqual(['problem transcript.changed']);
});

function found(
  entries: readonly StoredEntry[],
  isShared: boolean,
  text: string | undefined,
): readonly string[] {
  const codes: string[] = [];
  const note = (grade: string) => (code: string) => codes.push(`${grade} ${code}`);
  const findings = { problem: note('problem'), limit: note('limit') } as unknown as Findings;
  const watch = transcriptWatch(
    () => (text === undefined ? undefined : Buffer.from(text)),
    isShared,
    findings,
  );
  for (const one of entries) watch.take(one);
  watch.finish();
  return codes;
}

function kept(text: string): StoredEntry {
  return entry('transcript.kept', { lines: 1, bytes: text.length, sha256: hash('sha256', text, 'hex') });
}

function entry(type: string, body: unknown): StoredEntry {
  return { stream: 'run/R', seq: 1, type, body: JSON.stringify(body) } as StoredEntry;
}
