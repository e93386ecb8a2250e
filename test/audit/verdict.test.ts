import { expect, test } from 'vitest';
import { createFindings, toldFindings, toldWords, verdictWords } from '../../src/audit/verdict.ts';

test('of a thousand transcripts on other machines one is told; every other limit and each problem is, too', () => {
  const findings = createFindings();
  for (let run = 0; run < 1_000; run += 1)
    findings.limit('transcript.elsewhere', `the transcript of run/${run} is not on this machine`);
  findings.limit('key.unpinned', 'no pinned key has signed it');
  for (let seq = 1; seq <= 4; seq += 1) findings.problem('entry.changed', `entry ${seq} was changed`);
  const told = toldFindings(findings.list());
  expect(told.map(toldWords)).toEqual([
    'entry 1 was changed',
    'entry 2 was changed',
    'entry 3 was changed',
    'entry 4 was changed',
    'the transcript of run/0 is not on this machine, and 499 more of this kind',
    'no pinned key has signed it',
    '500 more findings are not listed',
  ]);
});

test('the verdict names each kind of limit', () => {
  const findings = createFindings();
  for (let run = 0; run < 9; run += 1)
    findings.limit('transcript.elsewhere', `the transcript of run/${run} is not on this machine`);
  findings.limit('key.unpinned', 'no pinned key has signed it');
  expect(verdictWords(findings.list(), [])).toBe(
    'consistent, but not all of it is pinned: the transcript of run/0 is not on this machine, ' +
      'and 8 more of this kind; no pinned key has signed it',
  );
});

test('three limits of one kind are told one by one', () => {
  const findings = createFindings();
  for (let run = 0; run < 3; run += 1) findings.limit('transcript.elsewhere', `run/${run} is elsewhere`);
  expect(toldFindings(findings.list()).map(toldWords)).toEqual([
    'run/0 is elsewhere',
    'run/1 is elsewhere',
    'run/2 is elsewhere',
  ]);
});
