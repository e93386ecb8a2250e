import * as z from 'zod';
import { instance, mode, runId, time } from '../../base/fields.ts';

/*
 * The summary of a run: for the projection, `runs` and screens. Readers of a journal import only types from
 * here, so that none of them loads the schema.
 */

export const RunSummary = z.object({
  runId,
  runbook: z.string(),
  version: z.string().describe('of the runbook'),
  instance,
  target: instance.optional().describe('the instance that a recovery goes into'),
  mode,
  /** Missing if not recorded. Untrusted. */
  by: z.string().optional().describe('who began it'),
  startedAt: time,
  lastAt: time,
  status: z.enum(['open', 'closed', 'abandoned']),
  /** `not proven`: it ended, and its work is not shown to be good; `done`: a command's one change. */
  result: z
    .enum(['proven', 'not proven', 'done', 'stopped', 'abandoned'])
    .optional()
    .describe('how it ended; missing while it is open'),
  where: z.string().describe('its progress, in words'),
  proven: z.boolean(),
});
export type RunSummary = Readonly<z.infer<typeof RunSummary>>;

/** Also counts its follow-ups; may be of a drill in the list. */
export const ListedRun = RunSummary.extend({
  followUps: z.int().nonnegative().describe('how many are open in this run'),
  drill: z.string().optional().describe('the home of the drill that it belongs to'),
});
export type ListedRun = Readonly<z.infer<typeof ListedRun>>;

export const NamedRun = RunSummary.pick({
  runId: true,
  runbook: true,
  instance: true,
  target: true,
  mode: true,
});
export type NamedRun = Readonly<z.infer<typeof NamedRun>>;

/** For notifications: `failed` was stopped after a failure. */
export const RunEnding = z.enum(['closed', 'unproven', 'failed', 'stopped', 'abandoned']);
export type RunEnding = z.infer<typeof RunEnding>;
