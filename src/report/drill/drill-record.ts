import { z } from 'zod';

/** One chapter of a drill as its record keeps it. Times in seconds. */
const DrillChapter = z.object({
  runbook: z.string(),
  title: z.string(),
  instance: z.string(),
  runIds: z.array(z.string()),
  /** `broken`: its run did not close. `unplayed`: the drill had ended before. */
  outcome: z.enum(['proven', 'not-proven', 'broken', 'unplayed']),
  seconds: z.number(),
  checks: z.array(z.object({ what: z.string(), holds: z.boolean() })),
  tables: z.array(z.object({ name: z.string(), rows: z.number(), equal: z.boolean() })),
  rtoSeconds: z.number().optional(),
  rpoSeconds: z.number().optional(),
  objectives: z.object({ rtoSeconds: z.number().optional(), rpoSeconds: z.number().optional() }),
});
export type DrillChapter = z.infer<typeof DrillChapter>;

/**
 * What a drill leaves of itself in its folder, `drill.json`: what schedules, trends and clean-ups go by. The
 * evidence is the journal beside it. Times RFC 3339 UTC.
 */
export const DrillRecord = z.object({
  schema: z.literal('lifeboat.drill/1'),
  /** The name of its folder. */
  id: z.string(),
  /**
   * What was rehearsed: `full` for all runbooks, or one of them, and the scenario behind a comma. Only like
   * is compared with like.
   */
  scope: z.string(),
  revision: z.enum(['61', '62']),
  version: z.string(),
  begunAt: z.string(),
  endedAt: z.string().optional(),
  /** `running`: it is under way, or its process died. `left`: somebody ended it. */
  outcome: z.enum(['running', 'proven', 'not-proven', 'failed', 'left']),
  /** Why it failed, one line. */
  failure: z.string().optional(),
  chapters: z.array(DrillChapter),
});
export type DrillRecord = z.infer<typeof DrillRecord>;
