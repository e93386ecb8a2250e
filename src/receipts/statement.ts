import { hash } from 'node:crypto';
import * as z from 'zod';
import type { Verb } from '../../machines/verbs.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { REPORT_FILE, TEST_RESULT } from '../base/receipt-files.ts';
import { checksByVerb } from '../report/model/checks.ts';
import type { Report } from '../report/model/model.ts';
import { untilEnd } from '../report/model/model-rows.ts';
import type { Entry } from '../store/journal.ts';

const Sha256 = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/u) });

/** An in-toto Statement v1 with a test result; unknown fields are kept out of what is read. */
export const Statement = z.object({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: z.array(z.object({ name: z.string(), digest: Sha256 })).min(1),
  predicateType: z.literal(TEST_RESULT),
  predicate: z.object({
    result: z.enum(['PASSED', 'WARNED', 'FAILED']),
    configuration: z.array(
      z.object({
        name: z.string(),
        uri: z.string().optional(),
        digest: Sha256.optional(),
        annotations: z.record(z.string(), z.string()).optional(),
      }),
    ),
    passedTests: z.array(z.string()),
    warnedTests: z.array(z.string()),
    failedTests: z.array(z.string()),
  }),
});
export type Statement = z.infer<typeof Statement>;

/** The names of the tests that checks of a run give. The last check by a name decides. */
const TESTS: Readonly<Partial<Record<Verb, readonly string[]>>> = {
  verifyBackup: ['backup/intact'],
  negativeTest: ['key/others-refused'],
  readBackKey: ['key/stored'],
  escrowKey: ['key/escrowed'],
  waitForBackup: ['backup/done'],
  waitForRestore: ['restore/done'],
  waitForInstance: ['instance/ready'],
};

export type Mark = 'passed' | 'warned' | 'failed';

/**
 * A statement about a run's report and the backup that it verified: PASSED or WARNED only if the run is
 * closed and proven, on a service that is not simulated, and no check failed in the end. `reportText`:
 * exactly `report.json`. Throws `receipt.open` (exit 3) for a run that is not over, `receipt.no-verdict`
 * (exit 2) for a kind of run that proves nothing, such as a single change.
 */
export function statementOf(report: Report, entries: readonly Entry[], reportText: string): Statement {
  assertJudged(report);
  return statementWith({
    reportText,
    backups: backupsIn(entries),
    marks: marksOf(report, entries),
    configuration: configurationOf(report),
  });
}

/** A statement about a report and backups (SHA-256). Its result is the worst mark of a test. */
export function statementWith({
  reportText,
  backups,
  marks,
  configuration,
}: {
  readonly reportText: string;
  readonly backups: readonly string[];
  readonly marks: ReadonlyMap<string, Mark>;
  readonly configuration: Statement['predicate']['configuration'];
}): Statement {
  const named = (mark: Mark) => [...marks].flatMap(([test, got]) => (got === mark ? [test] : [])).sort();
  const [warned, failed] = [named('warned'), named('failed')];
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: REPORT_FILE, digest: { sha256: hash('sha256', reportText) } },
      ...[...new Set(backups)].map((sha256, at, { length }) => ({
        name: length === 1 ? 'backup' : `backup-${at + 1}`,
        digest: { sha256 },
      })),
    ],
    predicateType: TEST_RESULT,
    predicate: {
      result: failed.length > 0 ? 'FAILED' : warned.length > 0 ? 'WARNED' : 'PASSED',
      configuration,
      passedTests: named('passed'),
      warnedTests: warned,
      failedTests: failed,
    },
  };
}

export function marksOf(report: Report, entries: readonly Entry[]): ReadonlyMap<string, Mark> {
  const checks = checksByVerb(untilEnd(entries));
  return new Map([...marksOfOutcome(report), ...marksOfChecks(checks), ...marksOfRest(report)]);
}

/** Throws `receipt.open` (exit 3) for a run that is not over. */
export function assertOver({
  run,
  outcome,
}: {
  readonly run: { readonly id: string };
  readonly outcome: Pick<Report['outcome'], 'status'>;
}): void {
  if (outcome.status !== 'open') return;
  throw new LifeboatError('receipt.open', 'the run is not over, so there is nothing to sign yet', {
    hints: [`finish it first: lifeboat resume ${run.id}`],
    exitCode: EXIT.waiting,
  });
}

function assertJudged(report: Report): void {
  assertOver(report);
  if (report.outcome.status !== 'closed' || report.outcome.proven !== undefined) return;
  throw new LifeboatError('receipt.no-verdict', 'this run has no verdict that a receipt could state', {
    hints: ['receipts are for runs of runbooks: recoveries, rehearsals, rotations, proven backups'],
    exitCode: EXIT.usage,
  });
}

export function marksOfOutcome({
  outcome,
  alarms,
}: {
  readonly outcome: Omit<Report['outcome'], 'followUps'>;
  readonly alarms: Report['alarms'];
}): readonly (readonly [string, Mark])[] {
  const isProven = outcome.status === 'closed' && outcome.proven === true;
  return [
    ['run/proven', isProven ? 'passed' : 'failed'],
    ...(outcome.simulated === true ? [['service/real', 'failed'] as const] : []),
    ...(alarms.length > 0 ? [['run/no-alarm', 'warned'] as const] : []),
  ];
}

/** A check that failed and was made again with success is a warning: the run went on after a failure. */
function marksOfChecks(checks: ReturnType<typeof checksByVerb>): [string, Mark][] {
  const results = new Map<string, Mark>();
  for (const { verb, output, check } of checks)
    for (const test of [...(TESTS[verb] ?? []), ...keyTestOf(verb, output)]) {
      const isFirst = !results.has(test) || results.get(test) === 'passed';
      results.set(test, check.good ? (isFirst ? 'passed' : 'warned') : 'failed');
    }
  return [...results];
}

/** A key fits if it has opened a backup. */
function keyTestOf(verb: Verb, output: Readonly<Record<string, unknown>>): readonly string[] {
  return verb === 'verifyBackup' && typeof output['opens'] === 'string' ? ['key/fits'] : [];
}

/** A missed objective and work that is left do not undo what the run proved. */
function marksOfRest({ measured, comparison, outcome, cleanup, followUps }: Report): [string, Mark][] {
  const marks: [string, Mark][] = [];
  marks.push(...marksOfObjectives(measured ?? {}));
  if (comparison !== undefined) marks.push(['data/reconciled', comparison.proven ? 'passed' : 'failed']);
  if (cleanup.length > 0) {
    const isLeft = followUps.some(({ id, closed }) => cleanup.includes(id) && closed?.how !== 'done');
    marks.push(['cleanup/done', isLeft ? 'warned' : 'passed']);
  }
  if (outcome.followUps > 0) marks.push(['follow-ups/closed', 'warned']);
  return marks;
}

/** A missed objective is a warning; one that was not decided is no test. */
export function marksOfObjectives(
  objectives: Readonly<Partial<Record<'rto' | 'rpo', { readonly result: string } | undefined>>>,
): [string, Mark][] {
  return (['rto', 'rpo'] as const).flatMap((name): [string, Mark][] => {
    const result = objectives[name]?.result;
    if (result === 'met') return [[`${name}/met`, 'passed']];
    return result === 'missed' || result === 'given up' ? [[`${name}/met`, 'warned']] : [];
  });
}

/** SHA-256, as downloaded, of every backup that was opened and read to its end. */
export function backupsIn(entries: readonly Entry[]): readonly string[] {
  const digests = checksByVerb(untilEnd(entries)).flatMap(({ verb, output, check }) =>
    verb === 'verifyBackup' && check.good ? [output['cipherSha256']] : [],
  );
  return digests.flatMap((digest) => Sha256.shape.sha256.safeParse(digest).data ?? []);
}

function configurationOf({ run, plan, evidence }: Report): Statement['predicate']['configuration'] {
  const { id, kind, runbook, version, instance, target, startedAt, endedAt, tool } = run;
  const facts = { kind, runbook, version, instance, target, startedAt, endedAt };
  const plans = plan.asked.filter(({ state }) => state === 'given').map(({ sha256 }) => sha256);
  return configurationWith({ id, facts, plans, evidence, tool });
}

/** Names a run with its facts, its plans (SHA-256), the head of the log, and what made it. */
export function configurationWith({
  id,
  facts,
  plans,
  evidence,
  tool,
}: {
  readonly id: string;
  readonly facts: Readonly<Record<string, string | undefined>>;
  readonly plans: readonly string[];
  readonly evidence: Pick<Report['evidence'], 'signedHead'>;
  readonly tool: Report['run']['tool'];
}): Statement['predicate']['configuration'] {
  const annotations = Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const head = evidence.signedHead?.join('\n');
  // In-toto asks each of these for a URI or a digest.
  return [
    { name: 'run', uri: `urn:lifeboat:run:${id}`, annotations },
    ...plans.map((sha256) => ({ name: 'plan', digest: { sha256 } })),
    ...(head === undefined ? [] : [{ name: 'checkpoint', digest: { sha256: hash('sha256', `${head}\n`) } }]),
    ...(tool === undefined
      ? []
      : [
          {
            name: tool.name,
            uri: `pkg:generic/${tool.name}@${tool.version}`,
            annotations: { version: tool.version },
          },
        ]),
  ];
}
