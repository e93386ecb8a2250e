import * as z from 'zod';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import { fingerprint, instance, runId, sha256, time } from '../base/fields.ts';
import { InstanceVerdict } from '../plans/evaluation-schema.ts';
import { DrillRecord } from '../report/drill/drill-report.ts';
import { Objective } from '../report/estate.ts';
import { Finding } from '../store/projections/evaluations.ts';
import { RunSummary } from '../store/projections/run-summary.ts';

/* The index of an evidence pack, `index.json`. Times RFC 3339 UTC. */

const file = z.string().describe('a file of the pack, relative to its index');
const subject = z.string().describe('an instance, or plan.NAME; empty for the installation as a whole');

const Receipt = z.object({
  result: z.enum(['PASSED', 'WARNED', 'FAILED']),
  sha256: sha256.describe('of the receipt, as the journal has it'),
  at: time,
});

const Run = z.object({
  ...RunSummary.pick({
    ...{ runId: true, runbook: true, instance: true, target: true, mode: true, by: true },
    ...{ startedAt: true, status: true, result: true },
  }).shape,
  kind: z
    .enum(['rehearsal', 'rotation', 'recovery', 'plan', 'other'])
    .describe('rehearsal: nothing of it was for real, whatever the runbook; recovery: it replaced data'),
  endedAt: time.optional().describe('missing while it is open'),
  planRun: runId.optional().describe('the run of a plan that started it'),
  drill: z.string().optional().describe('the drill that it belongs to'),
  rto: Objective.optional(),
  rpo: Objective.optional(),
  deviations: z.int().nonnegative(),
  report: file.optional().describe('as HTML; report.json is beside it. Missing: it could not be made'),
  journal: file
    .optional()
    .describe('its entries in the signed bundle; missing where nothing is signed, see `limits`'),
  receipts: z.array(Receipt).describe('the receipts on record; their files are where they were written to'),
  receipt: file.optional().describe('the folder of the receipt that was made with this pack'),
});
export type EvidenceRun = DeepReadonly<z.infer<typeof Run>>;

const Drill = z.object({
  ...DrillRecord.pick({ id: true, scope: true, begunAt: true, endedAt: true, outcome: true }).shape,
  chapters: z.int().nonnegative(),
  proven: z.int().nonnegative().describe('chapters that were proven'),
  verdict: z.string().optional().describe('on its journal; missing where it left none'),
  report: file,
});

const Recorded = z.object({
  subject,
  at: time,
  verdict: InstanceVerdict,
  reason: z.string(),
  findings: z.array(z.string()).describe('the checks that were not green'),
});
export type RecordedEvaluation = DeepReadonly<z.infer<typeof Recorded>>;

const Found = Finding.extend({
  subject,
  closedAt: time.optional().describe('the evaluation without it; missing while it is open'),
});
export type RecordedFinding = DeepReadonly<z.infer<typeof Found>>;

const Gap = z.object({
  what: z
    .enum([
      ...(['record', 'drill', 'rehearsal', 'plan-run', 'evaluation'] as const),
      ...(['rotation', 'backup-proof', 'escrow-proof'] as const),
    ])
    .describe('record: nothing at all is on record'),
  subject,
  asked: z.string().describe('what the config asks, one printable line'),
  from: time.describe('from then on nothing covers it'),
  to: time,
  isOpen: z.boolean().describe('whether it reaches the end of the period, or the moment of the pack'),
  isCertain: z
    .boolean()
    .describe('false: it may have been done, since one that found nothing new leaves an entry once a week'),
  who: z.string().optional().describe('who should have'),
  waiver: z
    .object({ reason: z.string(), until: time, covers: z.enum(['all', 'part']) })
    .optional()
    .describe('of the config as it is now'),
});
export type Gap = DeepReadonly<z.infer<typeof Gap>>;

const Instance = z.object({
  subject,
  isConfigured: z.boolean(),
  evaluated: Recorded.pick({ at: true, verdict: true, reason: true })
    .optional()
    .describe('the newest evaluation on record at the end of the period'),
  proven: z
    .object({ backup: z.int(), at: time })
    .optional()
    .describe('the backup that was last read to its end by the end of the period'),
  key: z
    .object({ fingerprint, since: time.optional(), dueAt: time.optional() })
    .optional()
    .describe('in force at the end of the period, by the record'),
  runs: z.int().nonnegative(),
  gaps: z.int().nonnegative().describe('without those that a waiver covers as a whole'),
});
export type EvidenceSubject = DeepReadonly<z.infer<typeof Instance>>;

export const Evidence = z.object({
  schema: z.literal('lifeboat.evidence/1'),
  generatedAt: time,
  madeBy: z.string().describe('name and version of the program'),
  period: z.object({
    from: time,
    to: time.describe('the first moment after it'),
    knownUntil: time.describe('its end, or the moment of the pack'),
  }),
  scope: z
    .object({ instances: z.array(instance), plans: z.array(z.string()) })
    .optional()
    .describe('what was asked for; missing: everything'),
  record: z.object({
    verdict: z.enum(['intact', 'consistent', 'not-intact']),
    words: z.string(),
    entries: z.int().nonnegative(),
    anchor: z.string().optional(),
    begunAt: time.optional().describe('its first entry'),
    problems: z.array(z.string()),
  }),
  subjects: z.array(Instance).describe('instances, then plans'),
  missing: z.array(Gap).describe('oldest first'),
  drills: z.array(Drill),
  runs: z.array(Run).describe('runs that were under way in the period, oldest first'),
  evaluations: z.array(Recorded),
  findings: z.array(Found).describe('those that were open in the period'),
  waivers: z.array(
    z.object({
      ...{ instance, check: z.string(), reason: z.string(), until: time },
      owner: z.string().optional(),
    }),
  ),
  limits: z.array(z.string()).describe('what this pack cannot show, and why'),
});
export type Evidence = DeepReadonly<z.infer<typeof Evidence>>;
