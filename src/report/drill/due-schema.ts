import * as z from 'zod';
import type { DeepReadonly } from '../../base/deep-readonly.ts';
import { seconds, time } from '../../base/fields.ts';
import type { DrillRecord } from './drill-report.ts';

const LastDrill = z.object({
  id: z.string(),
  scope: z.string(),
  outcome: z.string(),
  at: time,
  ageSeconds: seconds,
});
export interface LastDrill extends Readonly<z.infer<typeof LastDrill>> {
  readonly outcome: DrillRecord['outcome'];
}

/** When the next drill is due. */
export const DrillDue = z.object({
  lastProven: LastDrill.optional(),
  last: LastDrill.optional().describe('the newest that is over, whatever came of it'),
  everySeconds: seconds.optional().describe('as the config asks; without it none is ever due'),
  dueAt: time.optional(),
  isOverdue: z.boolean(),
  fromFuture: z
    .array(z.string())
    .describe('drills of a time still to come, which count for nothing: a clock was wrong'),
});
export interface DrillDue extends DeepReadonly<z.infer<typeof DrillDue>> {
  readonly lastProven?: LastDrill | undefined;
  readonly last?: LastDrill | undefined;
}
