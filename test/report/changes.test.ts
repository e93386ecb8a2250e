import { expect, test } from 'vitest';
import { changesOf } from '../../src/report/model/chain.ts';
import type { Entry } from '../../src/store/journal.ts';

test('a call that was refused and sent again is listed as two calls, of which one was done', () => {
  const mark = { intent: 'I-1', verb: 'restoreBackup' };
  const failure = { code: 'service.busy', shortMessage: 'too many requests', hints: [], evidence: {} };
  const bodies = [
    ['intent.prepared', { ...mark, baseline: null }],
    ['intent.armed', mark],
    ['intent.outcome', { ...mark, sent: 'absent', failure, againMs: 1000 }],
    ['intent.prepared', { ...mark, baseline: null }],
    ['intent.armed', mark],
    ['intent.outcome', { ...mark, sent: 'unknown', failure }],
    ['intent.judged', { ...mark, verdict: 'landed', evidence: null, output: null }],
  ] as const;
  const entries = bodies.map(([type, body], seq) => ({
    stream: 'run/R1',
    seq: seq + 1,
    at: `2026-03-01T03:00:0${seq}.000Z`,
    by: 'lifeboat',
    type,
    body,
    hash: '',
  })) as unknown as readonly Entry[];
  expect(changesOf(entries)).toMatchObject([
    { step: 'restoreBackup', answer: 'absent', found: '' },
    { step: 'restoreBackup', answer: 'unknown', found: 'landed' },
  ]);
});
