import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { planStatementOf, type StartedRun, startedRun } from '../../src/receipts/plan-statement.ts';
import type { PlanReport } from '../../src/report/plan/plan-report.ts';
import { CHILDREN, inputOf, planEntries, reportOn, WELL } from '../report/plan/plan-run.ts';
import { started as begun, closed, journalOf, performed } from '../report/recovery.ts';

const input = inputOf();
const plan = (proven = true) => reportOn(planEntries(input, WELL, 1200, proven), CHILDREN);

const SHA256 = 'ab'.repeat(32);
const verified = journalOf(
  begun(),
  performed([1, 2], 'verifyBackup', { verdict: 'intact', opens: 'f', cipherSha256: SHA256 }, 'done', {
    backup: 7,
  }),
  closed(3),
);

type Outcome = StartedRun['outcome'];
const PROVEN: Outcome = { status: 'closed', proven: true, text: 'proven', followUps: 0 };
const RESTORED = '01C-data-db-1-recover-1';
const TOLD = CHILDREN.find(({ step }) => step === 'tell')?.runId ?? '';

/** The runs of the plan, each proven, but for these. Two recoveries verified the same backup. */
function started(but: Readonly<Record<string, Partial<Outcome>>> = {}): ReadonlyMap<string, StartedRun> {
  return new Map(
    CHILDREN.map(({ runId, step, whole }) => {
      const report = { ...whole, alarms: [], outcome: { ...PROVEN, ...but[runId] } };
      return [runId, startedRun(report, step === 'recover' ? verified : [])] as const;
    }),
  );
}

/** A plan whose steps are told to have been done so. */
function withRow(step: string, change: (row: Row) => Partial<Row>): PlanReport {
  const report = plan();
  for (const row of report.groups.flatMap(({ lanes }) => lanes.flatMap(({ steps }) => steps)))
    if (row.id === step) Object.assign(row, change(row));
  return report;
}
type Row = PlanReport['groups'][number]['lanes'][number]['steps'][number];

const of = (report: PlanReport, runs = started()) => planStatementOf(report, runs, 'the report').predicate;

test('a plan is PASSED when it is proven and so is each of its runs, with tests below each group', () => {
  const { result, passedTests, warnedTests, failedTests } = of(plan());
  expect({ result, warnedTests, failedTests }).toEqual({
    result: 'PASSED',
    warnedTests: [],
    failedTests: [],
  });
  expect(passedTests).toEqual(
    expect.arrayContaining([
      'group/data/done',
      'group/data/rto/met',
      'group/data/run/proven',
      'group/data/backup/intact',
      'group/people/done',
      'healthy/done',
      'healthy/run/proven',
      'rto/met',
      'rpo/met',
      'run/proven',
    ]),
  );
});

test('its subjects are the report and, once each, the backups that one of its runs read to the end', () => {
  const { subject } = planStatementOf(plan(), started(), 'the report');
  expect(subject).toEqual([
    { name: 'report.json', digest: { sha256: hash('sha256', 'the report') } },
    { name: 'backup', digest: { sha256: SHA256 } },
  ]);
});

test('a plan that its report does not call proven is FAILED, whatever its runs say', () => {
  expect(of(plan(false)).failedTests).toEqual(['run/proven']);
  const simulated = plan();
  expect(of({ ...simulated, outcome: { ...simulated.outcome, simulated: true } }).result).toBe('FAILED');
});

test('a run that is not proven, given up, open, simulated or unknown makes it FAILED, in its group', () => {
  const failed = ['group/data/run/proven'];
  for (const worse of [{ proven: false }, { status: 'abandoned' as const }, { status: 'open' as const }])
    expect(of(plan(), started({ [RESTORED]: worse }))).toMatchObject({
      result: 'FAILED',
      failedTests: failed,
    });
  expect(of(plan(), started({ [RESTORED]: { simulated: true } })).failedTests).toEqual([
    'group/data/service/real',
  ]);
  expect(of(plan(), new Map([...started()].slice(1)))).toMatchObject({
    result: 'FAILED',
    failedTests: failed,
  });
});

test('a step that rests on the word of a person is a warning, but a step with a runbook is not excused', () => {
  const runs = (row: Row) => row.runs.map((run) => ({ ...run, runbook: 'plan-step' }));
  const told = started({ [TOLD]: { proven: false } });
  expect(
    of(
      withRow('tell', (row) => ({ runs: runs(row) })),
      told,
    ),
  ).toMatchObject({
    result: 'WARNED',
    warnedTests: ['group/people/run/proven'],
  });
  expect(of(plan(), told).result).toBe('FAILED');
});

test('a step that was skipped, done outside or retried is a warning; one that failed is a failure', () => {
  for (const state of ['skipped', 'done outside'] as const)
    expect(of(withRow('switch', () => ({ state })))).toMatchObject({
      result: 'WARNED',
      warnedTests: ['group/data/done'],
    });
  expect(of(withRow('switch', ({ runs }) => ({ runs: [...runs, ...runs] }))).warnedTests).toEqual([
    'group/data/done',
  ]);
  const stopped = plan();
  for (const group of stopped.groups) if (group.id === 'data') group.ended = 'stopped';
  expect(of(stopped).failedTests).toEqual(['group/data/done']);
});

test('a missed objective of the plan or of a group is a warning', () => {
  const late = plan();
  late.measured.rto = { ...late.measured.rto, result: 'missed' };
  for (const group of late.groups) if (group.id === 'people') group.rto = { result: 'given up' };
  expect(of(late)).toMatchObject({ result: 'WARNED', warnedTests: ['group/people/rto/met', 'rto/met'] });
});

test('it names the plan by its text and the run by its kind, and says when it was a rehearsal', () => {
  const rehearsal = reportOn(planEntries({ ...input, rehearsal: true }, WELL, 1200), CHILDREN, {
    ...input,
    rehearsal: true,
  });
  expect(of(rehearsal).configuration).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        uri: 'urn:lifeboat:run:01P',
        annotations: expect.objectContaining({ kind: 'rehearsal', plan: 'west', source: 'up' }),
      }),
      { name: 'plan', digest: { sha256: input.sha256 } },
    ]),
  );
});

test('the run of a plan that is not over gets no receipt', () => {
  const open = reportOn(planEntries(input, WELL), CHILDREN);
  expect(() => of(open)).toThrow('not over');
});
