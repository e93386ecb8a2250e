import * as z from 'zod';
import { Closure, FollowUp } from '../../../machines/parts/follow-up.ts';
import { custodyState, fingerprint, instance, runId, seconds, sha256, time } from '../../base/fields.ts';
import { DrillDue } from '../../report/drill/drill-report.ts';
import { ListedRun, RunSummary } from '../../store/projections/run-summary.ts';
import { Compared } from '../../store/recovery-facts.ts';
import { WrittenFollowUp } from '../../store/run-entries.ts';
import { PlannedStep } from '../../view/plan-schema.ts';
import { list, schema } from './result.ts';

const fact = z.object({
  label: z.string(),
  value: z.union([z.string(), z.number()]),
  unit: z.enum(['bytes', 'time', 'seconds', 'days']).optional(),
  tone: z.enum(['good', 'warn', 'bad']).optional(),
});

const failure = z.object({
  code: z.string(),
  shortMessage: z.string(),
  hints: z.array(z.string()),
  evidence: z.record(z.string(), z.json()),
});

export const runs = {
  runs: list('runs', 'runs, oldest first', ListedRun),
  entry: schema('entry', 'an entry of the journal; one line each', {
    index: z.int().nonnegative().describe('its leaf in the log, from 0'),
    stream: z.string().describe('run/ID, instance/NAME, notify/outbox, keys/holders or store/log'),
    seq: z.int().positive().describe('its number in the stream, from 1'),
    at: time,
    by: z.string(),
    type: z.string(),
    body: z.json(),
    hash: sha256,
  }),
  'dry-run': schema('dry-run', 'what a run would do', {
    ...RunSummary.pick({ runbook: true, version: true, instance: true, target: true }).shape,
    steps: z.array(PlannedStep),
    approvals: z
      .array(z.object({ state: z.string(), title: z.string(), on: instance, risk: z.string() }))
      .describe('what a second person has to approve'),
    usual: z
      .object({ seconds: z.number().nonnegative(), runs: z.int().positive() })
      .optional()
      .describe('how long it took in that many earlier runs, without the time for answers'),
    found: z.object({
      state: z.string(),
      facts: z.array(fact),
      inTheWay: failure.optional(),
      asks: z.string().optional().describe('what you are asked before more can be seen'),
    }),
  }),
  abandoned: schema('abandoned', 'a run that was abandoned', {
    runId,
    instance,
    openFollowUps: z.int().nonnegative(),
    inDoubt: z
      .array(z.object({ instance, call: z.string(), armedAt: time }))
      .describe('calls that may have been done'),
  }),
  followups: schema('followups', 'the work that recoveries leave', {
    items: z.array(
      WrittenFollowUp()
        .pick({ id: true, kind: true, what: true, subject: true })
        .extend({
          owner: z.string(),
          instance,
          runId: runId.optional().describe('missing: its run is over, and it is kept with the instance'),
          runbook: z.string().optional(),
          ageSeconds: seconds.optional().describe('how long it has been open, or was until it was closed'),
          leftSeconds: seconds.optional().describe('until it is due; negative when that has passed'),
          commands: z.array(z.string()).describe('to copy'),
          runsBy: FollowUp().shape.doable.describe(
            'how `followups run` does it; again: its command was begun before, so `--again` is needed; missing: by hand',
          ),
          closed: z.string().optional().describe('how it was done, or why it was skipped'),
        }),
    ),
    endings: z
      .array(z.object({ instance, fingerprint, due: time }))
      .describe('keys that are scheduled to be destroyed, and from when on'),
  }),
  followup: schema('followup', 'a follow-up that was closed', {
    id: z.string(),
    instance,
    what: z.string(),
    how: Closure().shape.how.extract(['hand', 'skipped']),
    text: z.string().describe('the proof or the reason'),
    at: time,
  }),
  drill: schema('drill', 'a drill; the last line that it prints', {
    proven: z.boolean(),
    report: z.string().describe('a path'),
    journal: z.string().describe('a path'),
    due: DrillDue.describe('when the next one is due'),
    chapters: z.array(
      z.object({
        runbook: z.string(),
        title: z.string(),
        instance,
        runIds: z.array(runId),
        proven: z.boolean(),
        verdict: z.enum(['restored', 'readable', 'unchanged']),
        checks: Compared.shape.checks,
        tables: Compared.shape.tables,
        measures: z.object({
          rtoSeconds: seconds.optional(),
          rpoSeconds: seconds.optional().describe('as the report of the run has it'),
          rtoHow: z.string().optional(),
          rpoHow: z.string().optional(),
          rowsLostSeconds: seconds.optional().describe('the age of what is missing, measured on rows'),
          rowsLostHow: z.string().optional(),
        }),
        facts: z.record(z.string(), z.json()),
        files: z.array(z.object({ name: z.string(), sha256 })),
      }),
    ),
  }),
  keys: schema('keys', 'the keys that are held or on record', {
    keptIn: z.string().describe('the key store, in words'),
    unread: z
      .string()
      .optional()
      .describe('why the journal cannot be read: then only keys that are held are listed'),
    items: z.array(
      z.object({
        instance,
        fingerprint,
        held: z.boolean(),
        state: z.string(),
        setAt: time.optional(),
        endedAt: time.optional(),
        provenAt: time.optional(),
        custody: custodyState,
        backups: z.int().nonnegative().describe('how many backups that were listed last need it'),
        verified: z
          .int()
          .nonnegative()
          .describe('of these backups, those that were read to their end with it'),
        fitted: z.int().nonnegative().describe('of these backups, those whose first block it fits: no proof'),
        openers: z.int().nonnegative().describe('how many people could open a sealed copy of it'),
        places: z.array(z.string()).describe('where its sealed copies are, by the names of the config'),
        endsAt: time.optional().describe('when it is to be destroyed'),
      }),
    ),
    unknown: z
      .array(z.object({ instance, backups: z.array(z.int()) }))
      .describe('backups under keys that somebody else has set'),
  }),
  key: schema('key', 'a key or a token that was stored, or looked for', {
    instance,
    kind: z.enum(['key', 'token']),
    fingerprint: fingerprint.optional(),
    held: z.boolean().describe('whether the key store has it now'),
    stored: z.boolean().describe('whether this command stored it'),
    onRecord: z.boolean().optional().describe('whether the ledger has the key; not while a run holds it'),
    keptIn: z.string().describe('the key store, in words'),
  }),
};
