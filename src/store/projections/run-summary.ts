import * as z from 'zod';
import { instance, mode, runId, time } from '../../base/fields.ts';

/*
 * The summary of a run: what the projection keeps, what `runs` prints, and what a screen lists. Only types
 * are imported from here by what reads a journal, so that none of it loads the schema.
 */

/** What a list of runs shows of one. */
export const RunSummary = z.object({
  runId,
  runbook: z.string(),
  version: z.string().describe('of the runbook'),
  instance,
  target: instance.optional().describe('the instance that a recovery goes into'),
  mode,
  /** Missing where it is not on record. Untrusted. */
  by: z.string().optional().describe('who began it'),
  startedAt: time,
  lastAt: time,
  status: z.enum(['open', 'closed', 'abandoned']),
  /**
   * `not proven`: it came to its end, and what it did is not shown to be good; `done`: it made the one change
   * of a command, which shows nothing more.
   */
  result: z
    .enum(['proven', 'not proven', 'done', 'stopped', 'abandoned'])
    .optional()
    .describe('how it ended; missing while it is open'),
  where: z.string().describe('its progress, in words'),
  proven: z.boolean(),
});
export type RunSummary = Readonly<z.infer<typeof RunSummary>>;

/** A run in a list that also counts its follow-ups, and may have those of drills in it. */
export const ListedRun = RunSummary.extend({
  followUps: z.int().nonnegative().describe('how many are open in this run'),
  drill: z.string().optional().describe('the home of the drill that it belongs to'),
});
export type ListedRun = Readonly<z.infer<typeof ListedRun>>;

/** The run that something else is about. */
export const NamedRun = RunSummary.pick({
  runId: true,
  runbook: true,
  instance: true,
  target: true,
  mode: true,
});
export type NamedRun = Readonly<z.infer<typeof NamedRun>>;

/** How a run ended, as notifications say it: `failed` was stopped after a failure. */
export const RunEnding = z.enum(['closed', 'unproven', 'failed', 'stopped', 'abandoned']);
export type RunEnding = z.infer<typeof RunEnding>;
