import type { Evidence, EvidenceRun } from '../../src/evidence/evidence-schema.ts';

const HASH = 'ab'.repeat(32);

function run(of: Partial<EvidenceRun> & Pick<EvidenceRun, 'runId' | 'kind' | 'runbook'>): EvidenceRun {
  return {
    ...{ instance: 'orders', mode: 'LIVE', by: 'Robin', startedAt: '2026-02-03T04:05:06.000Z' },
    ...{ endedAt: '2026-02-03T04:25:06.000Z', status: 'closed', result: 'proven', deviations: 0 },
    ...{ report: `runs/${of.runId}/report.html`, journal: `runs/${of.runId}/journal.jsonl`, receipts: [] },
    ...of,
  };
}

/** The index of a pack in which everything occurs. */
export const EVERYTHING: Evidence = {
  schema: 'lifeboat.evidence/1',
  generatedAt: '2026-05-01T12:00:00.000Z',
  madeBy: 'lifeboat 0.1.0',
  period: {
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-07-01T00:00:00.000Z',
    knownUntil: '2026-05-01T12:00:00.000Z',
  },
  scope: { instances: ['orders'], plans: ['west'] },
  record: {
    ...{
      verdict: 'not-intact',
      words: 'NOT INTACT',
      entries: 812,
      anchor: 'lifeboat:0123456789abcdef:812:00:11',
    },
    begunAt: '2026-01-15T08:00:00.000Z',
    problems: ['entry 12 of run/01KA was changed: its content does not match its hash'],
  },
  subjects: [
    {
      ...{ subject: 'orders', isConfigured: true, runs: 3, gaps: 1 },
      evaluated: {
        at: '2026-04-30T00:00:00.000Z',
        verdict: 'not-ready',
        reason: 'backup 12 is 3 h 0 min old',
      },
      proven: { backup: 12, at: '2026-04-01T00:00:00.000Z' },
      key: {
        fingerprint: '0a1b2c3d4e5f',
        since: '2026-02-03T04:10:00.000Z',
        dueAt: '2026-08-02T04:10:00.000Z',
      },
    },
    { subject: 'plan.west', isConfigured: false, runs: 1, gaps: 0 },
  ],
  missing: [
    {
      ...{ what: 'record', subject: '', asked: 'a journal', isOpen: false, isCertain: true },
      ...{ from: '2026-01-01T00:00:00.000Z', to: '2026-01-15T08:00:00.000Z' },
    },
    {
      ...{ what: 'evaluation', subject: 'orders', asked: 'evaluate.every: 30 min', isOpen: true },
      ...{ isCertain: false, who: 'Robin' },
      ...{ from: '2026-04-30T01:00:00.000Z', to: '2026-05-01T12:00:00.000Z' },
    },
    {
      ...{
        what: 'rehearsal',
        subject: 'orders',
        asked: 'drills.every: 90 days',
        isOpen: true,
        isCertain: true,
      },
      ...{ from: '2026-04-15T08:00:00.000Z', to: '2026-05-01T12:00:00.000Z', who: 'Kim' },
      waiver: { reason: 'moves in spring', until: '2026-06-01T00:00:00.000Z', covers: 'all' },
    },
  ],
  drills: [
    {
      ...{ id: '20260301-101500', scope: 'full', outcome: 'not-proven', chapters: 3, proven: 2 },
      ...{ begunAt: '2026-03-01T10:15:00.000Z', endedAt: '2026-03-01T10:45:00.000Z', verdict: 'not-intact' },
      report: 'drills/20260301-101500/report.html',
    },
  ],
  runs: [
    run({ runId: '01KA0000000000000000000001', kind: 'rotation', runbook: 'rotate-key' }),
    run({
      ...{
        runId: '01KA0000000000000000000002',
        kind: 'recovery',
        runbook: 'disaster-recovery',
        deviations: 2,
      },
      ...{ target: 'orders-dr', result: 'not proven' },
      rto: { measuredSeconds: 1200, limitSeconds: 900, result: 'missed' },
      rpo: { measuredSeconds: 60, limitSeconds: 3600, result: 'met' },
      receipts: [{ result: 'WARNED', sha256: HASH, at: '2026-02-04T00:00:00.000Z' }],
      receipt: 'runs/01KA0000000000000000000002/receipt',
    }),
    run({
      ...{ runId: '01KA0000000000000000000003', kind: 'plan', runbook: 'plan', instance: 'plan.west' },
      ...{ mode: 'REHEARSAL', status: 'open', result: undefined, endedAt: undefined, journal: undefined },
    }),
    run({
      ...{ runId: '01KA0000000000000000000004', kind: 'rehearsal', runbook: 'restore-backup' },
      ...{ mode: 'REHEARSAL', drill: '20260301-101500', planRun: '01KA0000000000000000000003' },
    }),
    run({
      ...{ runId: '01KA0000000000000000000005', kind: 'other', runbook: 'single-change', result: 'done' },
      report: undefined,
    }),
  ],
  evaluations: [
    {
      ...{ subject: 'orders', at: '2026-04-30T00:00:00.000Z', verdict: 'not-ready' },
      ...{ reason: 'backup 12 is 3 h 0 min old', findings: ['newest-backup', 'restored'] },
    },
    {
      subject: 'plan.west',
      at: '2026-03-30T00:00:00.000Z',
      verdict: 'proven',
      reason: 'rehearsed',
      findings: [],
    },
  ],
  findings: [
    {
      ...{ subject: 'orders', check: 'newest-backup', state: 'red', reason: 'backup 12 is 3 h 0 min old' },
      ...{ owner: 'Robin', firstSeen: '2026-04-29T00:00:00.000Z', due: '2026-04-30T00:00:00.000Z' },
    },
    {
      ...{ subject: 'orders', check: 'restored', state: 'unknown', reason: 'the last answer is 91 days old' },
      ...{ firstSeen: '2026-04-15T00:00:00.000Z', due: '2026-07-15T00:00:00.000Z' },
      ...{ closedAt: '2026-04-29T00:00:00.000Z', waivedUntil: '2026-06-01T00:00:00.000Z' },
    },
  ],
  waivers: [
    {
      ...{ instance: 'orders', check: 'restored', reason: 'moves in spring', owner: 'Kim' },
      until: '2026-06-01T00:00:00.000Z',
    },
  ],
  limits: ['A drill whose folder was removed is not known any more.'],
};
