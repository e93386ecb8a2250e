import { hash } from 'node:crypto';
import * as z from 'zod';
import type { Verb } from '../../machines/verbs.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { checksByVerb } from '../report/model/checks.ts';
import type { Report } from '../report/model/model.ts';
import { untilEnd } from '../report/model/model-rows.ts';
import type { Entry } from '../store/journal.ts';

/** What the statement is about, by type; `cosign verify-blob-attestation --type` takes it. */
export const TEST_RESULT = 'https://in-toto.io/attestation/test-result/v0.1';

/** The name of the subject that every receipt has. */
export const REPORT_FILE = 'report.json';

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

type Mark = 'passed' | 'warned' | 'failed';

/**
 * What a run proved, as a statement about its report and the backup that it verified. It is PASSED or WARNED
 * only if the report says that the run is closed and proven, on a service that is not simulated, and no check
 * failed in the end. `entries` are those of the run; `reportText` is the exact text of `report.json`. Throws
 * `receipt.open` (exit 3) for a run that is not over, `receipt.no-verdict` (exit 2) for one that proves
 * nothing by its kind, such as a single change.
 */
export function statementOf(report: Report, entries: readonly Entry[], reportText: string): Statement {
  assertJudged(report);
  const checks = checksByVerb(untilEnd(entries));
  const marks = new Map<string, Mark>([
    ...marksOfOutcome(report),
    ...marksOfChecks(checks),
    ...marksOfRest(report),
  ]);
  const named = (mark: Mark) => [...marks].flatMap(([test, got]) => (got === mark ? [test] : [])).sort();
  const [warned, failed] = [named('warned'), named('failed')];
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: REPORT_FILE, digest: { sha256: hash('sha256', reportText) } },
      ...backupsIn(checks).map((sha256) => ({ name: 'backup', digest: { sha256 } })),
    ],
    predicateType: TEST_RESULT,
    predicate: {
      result: failed.length > 0 ? 'FAILED' : warned.length > 0 ? 'WARNED' : 'PASSED',
      configuration: configurationOf(report),
      passedTests: named('passed'),
      warnedTests: warned,
      failedTests: failed,
    },
  };
}

function assertJudged({ run, outcome }: Report): void {
  if (outcome.status === 'open')
    throw new LifeboatError('receipt.open', 'the run is not over, so there is nothing to sign yet', {
      hints: [`finish it first: lifeboat resume ${run.id}`],
      exitCode: EXIT.waiting,
    });
  if (outcome.status === 'closed' && outcome.proven === undefined)
    throw new LifeboatError('receipt.no-verdict', 'this run has no verdict that a receipt could state', {
      hints: ['receipts are for runs of runbooks: recoveries, rehearsals, rotations, proven backups'],
      exitCode: EXIT.usage,
    });
}

function marksOfOutcome({ outcome, alarms }: Report): [string, Mark][] {
  const isProven = outcome.status === 'closed' && outcome.proven === true;
  return [
    ['run/proven', isProven ? 'passed' : 'failed'],
    ...(outcome.simulated === true ? [['service/real', 'failed'] satisfies [string, Mark]] : []),
    ...(alarms.length > 0 ? [['run/no-alarm', 'warned'] satisfies [string, Mark]] : []),
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
  for (const objective of ['rto', 'rpo'] as const) {
    const result = measured?.[objective].result;
    if (result === 'met') marks.push([`${objective}/met`, 'passed']);
    else if (result === 'missed' || result === 'given up') marks.push([`${objective}/met`, 'warned']);
  }
  if (comparison !== undefined) marks.push(['data/reconciled', comparison.proven ? 'passed' : 'failed']);
  if (cleanup.length > 0) {
    const isLeft = followUps.some(({ id, closed }) => cleanup.includes(id) && closed?.how !== 'done');
    marks.push(['cleanup/done', isLeft ? 'warned' : 'passed']);
  }
  if (outcome.followUps > 0) marks.push(['follow-ups/closed', 'warned']);
  return marks;
}

/** The SHA-256 of every backup that was opened and read to its end, as it is downloaded. */
function backupsIn(checks: ReturnType<typeof checksByVerb>): readonly string[] {
  const digests = checks.flatMap(({ verb, output, check }) =>
    verb === 'verifyBackup' && check.good ? [output['cipherSha256']] : [],
  );
  return [...new Set(digests)].flatMap((digest) => Sha256.shape.sha256.safeParse(digest).data ?? []);
}

/** In-toto asks each of these for a URI or a digest. */
function configurationOf({ run, plan, evidence }: Report): Statement['predicate']['configuration'] {
  const { id, kind, runbook, version, instance, target, startedAt, endedAt, tool } = run;
  const facts = { kind, runbook, version, instance, target, startedAt, endedAt };
  const annotations = Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const approved = plan.asked.filter(({ state }) => state === 'given');
  const head = evidence.signedHead?.join('\n');
  return [
    { name: 'run', uri: `urn:lifeboat:run:${id}`, annotations },
    ...approved.map(({ sha256 }) => ({ name: 'plan', digest: { sha256 } })),
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
