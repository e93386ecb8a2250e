import * as z from 'zod';
import { instance, mode, runId, seconds, sha256, time } from '../../base/fields.ts';
import { PlanForecast } from '../../plans/evaluation-schema.ts';
import { list, schema } from './result.ts';

const place = z.object({
  line: z.int().describe('from 1'),
  column: z.int().describe('from 1'),
  message: z.string(),
});

const left = z.object({
  step: z.string(),
  runId,
  asks: z.string().optional().describe('what it asks a person'),
});

const lane = z.object({ instance, target: instance.optional() });

const checkedStep = z.object({
  id: z.string(),
  kind: z.enum(['runbook', 'check', 'manual', 'approve', 'command', 'notify', 'wait']),
  what: z.string(),
  calls: z.array(z.string()).describe('of each instance, those that change something'),
  overwrites: z.array(instance).describe('the instances whose data it replaces'),
});

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
  schedules: list(
    'schedules',
    'what workers do at a time of the clock',
    z.object({
      name: z.string(),
      cron: z.string(),
      zone: z.string(),
      does: z.enum(['evaluate', 'rehearse', 'rotate-due', 'notify']),
      plan: z.string().optional(),
      lastRan: time.optional().describe('when it was due that it last ran for'),
      next: z.array(time).describe('its next five times'),
    }),
  ),
  workers: schema('workers', 'the workers of the team, and what waits for them', {
    items: z.array(
      z.object({
        host: z.string(),
        pid: z.int(),
        state: z.enum(['live', 'stopped', 'gone']),
        holds: z.int().nonnegative().describe('how many runs it has'),
        label: z.string().optional(),
        since: time,
        seen: time.describe('when it was last heard of'),
      }),
    ),
    waiting: z.object({
      ready: z.int().nonnegative().optional().describe('wake-ups to be delivered; missing without a queue'),
      later: z.int().nonnegative().optional().describe('wake-ups for a later time'),
      oldest: time.optional().describe('since when the oldest of them waits'),
      nobody: z.int().nonnegative().describe('runs that may go on, and that nobody has'),
    }),
  }),
  'plan-run': schema('plan-run', 'where each instance of the run of a plan stands, by the record', {
    runId,
    plan: z.string(),
    mode,
    status: z.enum(['open', 'closed', 'abandoned']),
    where: z.string(),
    asks: z.string().optional().describe('what the plan itself asks a person'),
    answers: z.array(z.string()).optional().describe('the commands that answer that'),
    leftBecause: z
      .string()
      .optional()
      .describe('why the last process left it, while no process has taken it up since'),
    groups: z.array(
      z.object({
        id: z.string(),
        state: z.enum(['waiting', 'running', 'held', 'stopping', 'done', 'stopped', 'notRun']),
        why: z.string().optional().describe('why it is held'),
        answers: z.array(z.string()).optional().describe('the commands that answer that'),
      }),
    ),
    lanes: z.array(
      z.object({
        group: z.string(),
        instance: z.string().describe('`-` in a group without instances'),
        target: instance.optional(),
        state: z
          .enum([
            ...(['later', 'ready', 'at-work', 'waiting', 'failing', 'failed', 'out', 'done'] as const),
            ...(['stopped', 'not-run'] as const),
          ])
          .describe('stopped and not-run: its group is over, before that step, or before its wave'),
        step: z.string().optional(),
        runId: runId.optional().describe('the run of that step'),
        where: z.string().optional(),
        asks: z.string().optional().describe('what it asks a person'),
        answers: z.array(z.string()).optional().describe('the commands that answer it'),
        cause: z.string().optional().describe('why that step failed'),
        left: z
          .array(left)
          .optional()
          .describe('its runs that the plan has left; `lifeboat resume` goes on with each'),
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
    open: left.optional().describe('the run of the step, which offers no end and has to be answered'),
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
        steps: z.array(checkedStep),
        seconds: seconds.optional().describe('by earlier runs; missing if nothing shows it'),
      }),
    ),
    healthy: z.array(checkedStep).describe('the checks with which the recovery time ends'),
    finally: z.array(checkedStep).describe('done at the end, also after a stop'),
    forecast: PlanForecast,
    findings: z.array(place).describe('weaknesses of a plan that can be run'),
  }),
} as const;
