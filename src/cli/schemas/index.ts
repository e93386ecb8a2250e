import * as z from 'zod';
import { EXIT } from '../../base/errors.ts';
import { bytes, fingerprint, instance, runId, seconds, sha256, time } from '../../base/fields.ts';
import { schemaId } from '../../base/schema-id.ts';
import { Evidence } from '../../evidence/evidence-schema.ts';
import { Evaluation, PlanEvaluation } from '../../plans/evaluation-schema.ts';
import { CheckedReceipt } from '../../receipts/check-receipts.ts';
import { EvaluationStatement } from '../../receipts/evaluation-statement.ts';
import { Statement } from '../../receipts/statement.ts';
import { Comparison } from '../../report/comparison.ts';
import { DrillDue } from '../../report/drill/drill-report.ts';
import { Estate } from '../../report/estate.ts';
import { Report } from '../../report/model/model.ts';
import { PlanReport } from '../../report/plan/plan-report.ts';
import { Backup, BackupsConfig, InstanceOverview, PitrRange, Restore } from '../../service/schemas.ts';
import { BackupListing } from '../../service/v0.ts';
import { Finding } from '../../store/projections/evaluations.ts';
import { NamedRun, RunEnding } from '../../store/projections/run-summary.ts';
import { InstanceStatus } from '../../view/fleet/status-schema.ts';
import { WorkersStatus } from '../../view/fleet/workers-schema.ts';
import { custody } from './custody.ts';
import { pages } from './pages.ts';
import { plans } from './plans.ts';
import { list, schema } from './result.ts';
import { runs } from './runs.ts';
import { stores } from './stores.ts';

const question = z.object({
  kind: z.enum(['choice', 'typed-name', 'secret', 'time', 'text', 'followUps']),
  prompt: z.string(),
  expected: z.string().optional().describe('what has to be typed, such as for --confirm'),
  earliest: time.optional(),
  latest: time.optional(),
  options: z.array(
    z.object({
      event: z.string().describe('stable, made for programs'),
      label: z.string(),
      recommended: z.boolean().optional().describe('true: what --yes answers'),
      disabled: z.string().optional().describe('why it cannot be chosen now'),
    }),
  ),
});

const check = z.object({
  what: z.string(),
  state: z.enum(['ok', 'warn', 'bad']),
  found: z.string(),
  hints: z.array(z.string()),
  credentials: z.boolean().optional().describe('true: bad because of the credentials alone'),
});

const general = {
  error: schema('error', 'an error, or why a run waits, as the last line of standard error', {
    code: z.string().describe('stable, made for programs'),
    message: z.string(),
    problems: z
      .array(
        z.object({
          path: z.string(),
          line: z.int().describe('from 1'),
          column: z.int().describe('from 1'),
          key: z.string().describe('such as instances.orders.url; empty for the file as a whole'),
          message: z.string(),
        }),
      )
      .optional()
      .describe('all that is wrong with a file; the first of them is the message'),
    hints: z.array(z.string()).describe('what is safe to do next'),
    runId: runId.optional().describe('of the run that waits'),
    question: question.optional().describe('what the run that waits asks'),
    cause: z.string().optional().describe('the original text of an unexpected error'),
    exit: z.union(Object.values(EXIT).map((code) => z.literal(code))).describe('the exit code'),
  }),
  version: schema('version', 'this lifeboat and what it runs on', {
    version: z.string(),
    node: z.string(),
    platform: z.string().describe('system and processor, such as linux-x64'),
    revisions: z.array(z.string()).describe('the revisions of the service that it speaks'),
  }),
  schemas: list(
    'schemas',
    'the schemas of what lifeboat prints',
    z.object({ name: z.string(), about: z.string() }),
  ),
  doctor: list('doctor', 'what `doctor` looked at', check),
  init: schema('init', 'the config that `init` wrote, or would', {
    written: z.boolean(),
    path: z.string().describe('where the config is, or would be'),
    replaced: z.boolean().describe('whether another file was there'),
    instances: z.array(
      z.object({
        name: z.string(),
        url: z.string(),
        revision: z.string().describe('61, 62, v0, or auto where nobody answered'),
      }),
    ),
    keyStore: z.enum(['os', 'vault', 'memory', 'none']).describe('where keys can be kept now'),
    checks: z.array(check),
    config: z.string().optional().describe('the config, with --print'),
  }),
  scenarios: list(
    'scenarios',
    'what can go wrong in a lab',
    z.object({ name: z.string(), summary: z.string() }),
  ),
  prune: schema('prune', 'what was removed, and what could not be', {
    bytes: bytes.describe('of all items together'),
    items: z.array(
      z.object({
        kind: z.enum(['drill', 'download', 'home']),
        path: z.string(),
        what: z.string(),
        at: time.describe('when it was last used'),
        bytes,
        problem: z.string().optional().describe('why it is still there'),
      }),
    ),
  }),
};

const delivery = {
  target: z.string().describe('as lifeboat.yaml names it'),
  outcome: z.enum(['delivered', 'failed']),
  status: z.int().optional().describe('of HTTP'),
  why: z.string().optional().describe('a code, such as timeout, ECONNREFUSED or exit 3'),
};

const notify = {
  notification: schema('notification', 'what a target of `notify` gets', {
    id: z.string().describe('the same at each attempt: ignore one that you have had'),
    event: z.enum([
      'question',
      'rto',
      'ended',
      'drill-due',
      'drill-failed',
      'rotation-due',
      'evaluation-due',
      'plan',
      'test',
    ]),
    since: time.describe('since when this has been so, RFC 3339'),
    text: z.string().describe('one sentence for people'),
    command: z.string().describe('what goes on with it, to copy'),
    run: runId.optional().describe('missing where it is about no run, as the next fields are'),
    ...NamedRun.omit({ runId: true }).partial().shape,
    title: z.string().optional().describe('of the question'),
    outcome: RunEnding.optional().describe('how the run ended'),
    objective: z.object({ rtoSeconds: seconds, elapsedSeconds: seconds }).optional(),
    drill: z.string().optional().describe('the id of the drill that failed'),
  }),
  'notify-send': list(
    'notify-send',
    'the attempts that `notify send` made',
    z.object({ ...delivery, id: z.string(), event: z.string() }),
  ),
  'notify-test': list(
    'notify-test',
    'what each target said to a test notification',
    z.object({ ...delivery, said: z.string().optional().describe('the beginning of its answer') }),
  ),
};

const status = {
  status: schema('status', 'each instance, and whether it could be recovered now', {
    at: time,
    items: z.array(InstanceStatus),
    plans: z.array(PlanEvaluation).describe('the plan files, evaluated; empty where instances were named'),
    drills: DrillDue,
    workers: WorkersStatus.optional().describe(
      'the workers of the team; missing where the store is no database of a team, or instances were named',
    ),
  }),
  evaluations: schema('evaluations', 'each instance, evaluated, with every check', {
    at: time,
    items: z.array(
      z.object({
        instance,
        ...Evaluation.shape,
        findings: z.array(Finding).describe('one for each check that is not green'),
        changed: z.boolean().describe('whether the record said otherwise before'),
      }),
    ),
    plans: z
      .array(
        z.object({
          ...PlanEvaluation.shape,
          findings: z.array(Finding).describe('one for each check of the plan that is not green'),
          changed: z.boolean().describe('whether the record said otherwise before'),
        }),
      )
      .describe('the plans that were evaluated'),
    drills: DrillDue,
  }),
} as const;

const verdict = z.enum(['intact', 'consistent', 'not-intact']);
const principals = z.array(z.string()).describe('who signed, as the file of allowed signers names them');
const order = z.string().describe('what is to be done, as a sentence');

const proof = {
  verify: schema('verify', 'the verdict on a backup file', {
    ok: z.boolean(),
    verdict: z.enum(['intact', 'readable']).optional(),
    problem: z.string().optional(),
    message: z.string().optional().describe('what exactly was found'),
    looksLike: z.string().optional(),
    tried: z.array(fingerprint).optional().describe('the keys, none of which opens it'),
    key: fingerprint.optional().describe('the key that opens it; `given` for one from a file'),
    profile: z.enum(['md5', 'sha256', 'pbkdf2']).optional().describe('how the key is derived'),
    content: z.enum(['tar', 'gzip', 'data']).optional(),
    entries: z.int().nonnegative().optional().describe('of the tar'),
    cipherBytes: bytes.optional(),
    cipherSha256: sha256.optional(),
    contentBytes: bytes.optional(),
    contentSha256: sha256.optional(),
    seconds: seconds.optional(),
  }),
  audit: schema('audit', 'what an audit of the journal, or of a bundle, found', {
    verdict,
    words: z.string().describe('the verdict as a sentence'),
    entries: z.int().nonnegative(),
    streams: z.int().nonnegative(),
    anchor: z.string().optional().describe('of the log as it was found'),
    pins: z
      .array(z.object({ place: z.string(), size: z.int().nonnegative(), at: time }))
      .describe('checkpoints under a trusted key'),
    run: z
      .object({
        stream: z.string(),
        leaves: z.array(z.array(z.int().nonnegative())).describe('ranges [first, last], from 0'),
      })
      .optional(),
    receipts: z.array(CheckedReceipt).describe('those on record, and those of --receipts'),
    findings: z.array(
      z.object({
        severity: z.enum(['problem', 'limit', 'note']),
        stream: z.string().optional(),
        seq: z.int().optional(),
        code: z.string(),
        shortMessage: z.string(),
      }),
    ),
  }),
  export: schema('export', 'a bundle that was written', { runId, path: z.string(), bytes, sha256 }),
  anchor: schema('anchor', 'the head of the store, for a ticket', { anchor: z.string() }),
  'audit-key': schema('audit-key', 'the public key of this installation', {
    installation: z.string(),
    publicKey: z.string().describe('PEM'),
    sha256: sha256.describe('of the key in DER'),
  }),
  receipt: schema('receipt', 'a signed receipt that was written', {
    runId,
    path: z.string().describe('the folder'),
    result: Statement.shape.predicate.shape.result,
    sha256: sha256.describe('of the bundle, as the journal has it'),
  }),
  evidence: { about: 'the index of an evidence pack', type: Evidence },
  'evidence-pack': schema('evidence-pack', 'an evidence pack that was written', {
    path: z.string().describe('the folder or the tar'),
    verdict: verdict.describe('on the record; also that of a drill if one is not intact'),
    runs: z.int().nonnegative(),
    drills: z.int().nonnegative(),
    missing: z.int().nonnegative().describe('gaps that no waiver covers as a whole'),
    files: z.int().nonnegative(),
    bytes: bytes.describe('of all files together'),
  }),
  'evaluation-receipt': schema('evaluation-receipt', 'a signed receipt of evaluations that was written', {
    evaluation: z.string().describe('the instance, or plan.NAME; * for all that are on record'),
    path: z.string().describe('the folder'),
    properties: EvaluationStatement.shape.predicate.shape.properties.describe('what holds by each of them'),
    sha256: sha256.describe('of the bundle, as the journal has it'),
  }),
  loss: schema('loss', 'a loss that was accepted', {
    lost: z.boolean().describe('false: nothing is lost, and nothing was written'),
    inDoubt: z.array(instance).describe('instances with a call that may have been done'),
  }),
  report: { about: 'the record of a run', type: Report },
  comparison: { about: 'two runs side by side', type: Comparison },
  'plan-report': { about: "the record of a plan's run", type: PlanReport },
  estate: { about: 'all instances over a period', type: Estate },
  approvals: list(
    'approvals',
    'requests for the approval of a second person',
    z.object({
      runId,
      challenge: z.string(),
      order,
      target: instance,
      requester: z.string(),
      expiresAt: time,
      file: z.string().describe('what is to be signed; empty for a request that cannot be'),
      command: z.string().describe('what signs it'),
      state: z.enum(['needed', 'given', 'expired', 'withdrawn', 'refused']),
      by: z.string().optional().describe('who approved it, or why nobody has'),
      key: z.string().optional(),
    }),
  ),
  approval: schema('approval', 'an approval that was accepted', {
    runId,
    order,
    principals,
    key: z.string(),
  }),
  withdrawal: schema('withdrawal', 'a request or an approval that was withdrawn', {
    runId,
    order,
    reason: z.string(),
  }),
  signature: schema('signature', 'a signature that was written', {
    path: z.string(),
    runId,
    target: instance,
    order,
  }),
  signer: schema('signer', 'the line for the allowed signers of the other side', { line: z.string() }),
};

/** The service's answer is in `answer`, under its own names. */
function answered<const Name extends string, Answer extends z.ZodType>(
  name: Name,
  about: string,
  answer: Answer,
) {
  return schema(name, about, { instance, answer: answer.describe('as the service reported it') });
}

const service = {
  backups: answered(
    'backups',
    'the backups of an instance; V0 lists restores with them',
    z.union([z.array(Backup), BackupListing()]),
  ),
  backup: answered('backup', 'one backup', z.union([Backup, BackupListing().shape.backups.element])),
  restores: answered(
    'restores',
    'the restores of an instance; V0 lists backups with them',
    z.union([z.array(Restore), BackupListing()]),
  ),
  restore: answered('restore', 'one restore', z.union([Restore, BackupListing().shape.restores.element])),
  'backup-config': answered('backup-config', 'the backup configuration of an instance', BackupsConfig),
  instance: answered('instance', 'the overview of an instance', InstanceOverview),
  metrics: answered('metrics', 'the measurements of an instance', z.json()),
  pitr: answered('pitr', 'the range that an instance can be restored to', PitrRange),
  change: schema('change', 'a change that the service accepted', {
    instance,
    run: runId.optional().describe('the run that made it'),
    id: z.int().nonnegative().optional().describe('of the backup or restore that it became'),
    backupGuid: z.string().optional().describe('what a recovery into another instance needs'),
    fingerprint: fingerprint.optional().describe('of the new key'),
    settings: z
      .object({
        minBackupCount: z.int().optional(),
        retentionDays: z.int().optional(),
        excludedFromAutoBackup: z.boolean().optional(),
        updatesAllowed: z.boolean().optional(),
        type: z.string().optional(),
      })
      .optional()
      .describe('as they are now'),
    answer: z.json().optional().describe('as the service reported it; missing where it reported nothing'),
  }),
  download: schema('download', 'a backup that was saved', {
    path: z.string(),
    bytes,
    sha256,
    requests: z.int().positive(),
    verdict: z.enum(['whole', 'other-size', 'size-unknown', 'not-encrypted']),
    beginning: z.enum(['encrypted', 'gzip']),
    listed: bytes.optional().describe('the size that the service lists'),
    announced: bytes.optional().describe('the length that its answer announced'),
    warnings: z.array(z.string()),
    seconds,
  }),
  calls: list(
    'calls',
    'calls that are in doubt',
    z.object({
      instance,
      intent: z.string(),
      verb: z.string(),
      armedAt: time.describe('from then on it may have been sent'),
      input: z.json(),
      candidates: z.json().optional().describe('what it may have become'),
      run: runId.optional().describe('the run that sent it; missing: a single command of an earlier version'),
      isOpen: z.boolean().optional().describe('whether that run is open, and asks about it when resumed'),
    }),
  ),
  call: schema('call', 'what became of a call that was in doubt', {
    instance,
    intent: z.string(),
    verb: z.string(),
    landed: z.boolean().describe('false: it became nothing'),
    became: z.int().nonnegative().optional().describe('its task; missing: it has no id, or became nothing'),
    reason: z.string().describe('how that is known'),
  }),
};

/** The output of `-o json` and `-o yaml` by name (`lifeboat.NAME/1`): source of types and JSON Schemas. */
export const SCHEMAS = {
  ...general,
  ...runs,
  ...pages,
  ...proof,
  ...service,
  ...status,
  ...custody,
  ...stores,
  ...notify,
  ...plans,
} as const;
export type SchemaName = keyof typeof SCHEMAS;

/** A schema as JSON Schema, draft 2020-12. Fields that it does not name may be added later. */
export function jsonSchemaOf(name: SchemaName): Readonly<Record<string, unknown>> {
  const { about, type } = SCHEMAS[name];
  const { $schema, ...rest } = z.toJSONSchema(type, { io: 'input' });
  return { $schema, $id: schemaId(name), title: about, ...rest };
}

/** The schemas that describe files that people write, not output. */
export const OF_FILES = {
  config: 'lifeboat.yaml itself, for editors',
  plan: 'a recovery plan, for editors',
} as const;

export type FileSchemaName = keyof typeof OF_FILES;

export function listSchemas(): { readonly name: SchemaName | FileSchemaName; readonly about: string }[] {
  const printed = (Object.keys(SCHEMAS) as SchemaName[]).map((name) => ({
    name,
    about: SCHEMAS[name].about,
  }));
  const files = (Object.keys(OF_FILES) as FileSchemaName[]).map((name) => ({ name, about: OF_FILES[name] }));
  return [...printed, ...files].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
