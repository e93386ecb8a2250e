import * as z from 'zod';
import { instance, mode, runId, seconds, sha256 } from '../../base/fields.ts';
import { PlanForecast } from '../../plans/evaluation-schema.ts';
import { list, schema } from './result.ts';

const place = z.object({
  line: z.int().describe('from 1'),
  column: z.int().describe('from 1'),
  message: z.string(),
});

const lane = z.object({ instance, target: instance.optional() });

/** What concerns recovery plans. */
export const plans = {
  plans: list(
    'plans',
    'the plan files beside lifeboat.yaml',
    z.object({
      plan: z.string(),
      about: z.string().optional(),
      instances: z
        .int()
        .nonnegative()
        .optional()
        .describe('missing for a file that cannot be read as a plan'),
      groups: z.int().nonnegative().optional(),
      problem: z.string().optional(),
    }),
  ),
  'plan-run': schema('plan-run', 'where each instance of the run of a plan stands, by the record', {
    runId,
    plan: z.string(),
    mode,
    status: z.enum(['open', 'closed', 'abandoned']),
    where: z.string(),
    groups: z.array(
      z.object({
        id: z.string(),
        state: z.enum(['waiting', 'running', 'held', 'stopping', 'done', 'stopped', 'notRun']),
      }),
    ),
    lanes: z.array(
      z.object({
        group: z.string(),
        instance: z.string().describe('`-` in a group without instances'),
        target: instance.optional(),
        state: z.enum(['later', 'ready', 'at-work', 'waiting', 'failing', 'failed', 'out', 'done']),
        step: z.string().optional(),
        runId: runId.optional().describe('the run of that step'),
        where: z.string().optional(),
        asks: z.string().optional().describe('what it asks a person'),
        cause: z.string().optional().describe('why that step failed'),
      }),
    ),
  }),
  'plan-fallback': schema('plan-fallback', "what is left of a plan's run, as files", {
    runId: z.string(),
    folder: z.string(),
    checklist: z.string().describe('its name in the folder'),
    scripts: z.array(z.object({ group: z.string(), lane: z.string(), step: z.string(), file: z.string() })),
  }),
  'plan-file': schema('plan-file', 'a plan file that was written', { plan: z.string(), path: z.string() }),
  'plan-decision': schema('plan-decision', 'a decision about the run of a plan, which is on record', {
    runId,
    decision: z.string().describe('in words'),
    changed: z.boolean().describe('false where it was so already'),
  }),
  'plan-check': schema('plan-check', 'what a run of a plan would do', {
    plan: z.string(),
    sha256,
    groups: z.array(
      z.object({
        id: z.string(),
        after: z.array(z.string()),
        waves: z
          .array(z.array(lane))
          .describe('the instances that begin together; empty for a group without any'),
        stopAt: z.int().positive().optional().describe('how many failed instances stop it'),
        maxConcurrency: z.int().positive(),
        steps: z.array(
          z.object({
            id: z.string(),
            kind: z.enum(['runbook', 'check', 'manual', 'approve', 'command', 'notify', 'wait']),
            what: z.string(),
            calls: z.array(z.string()).describe('of each instance, those that change something'),
            overwrites: z.array(instance).describe('the instances whose data it replaces'),
          }),
        ),
        seconds: seconds.optional().describe('by earlier runs; missing if nothing shows it'),
      }),
    ),
    forecast: PlanForecast,
    findings: z.array(place).describe('weaknesses of a plan that can be run'),
  }),
} as const;
