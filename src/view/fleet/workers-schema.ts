import * as z from 'zod';
import type { DeepReadonly } from '../../base/deep-readonly.ts';
import { runId, seconds, time } from '../../base/fields.ts';

const WorkerStatus = z.object({
  host: z.string(),
  pid: z.int(),
  label: z.string(),
  since: time.describe('since when it works'),
  seen: time.describe('when it was last heard of'),
  state: z
    .enum(['live', 'stopped', 'gone'])
    .describe('`gone`: it was not heard of for too long, and did not say that it stops'),
  holds: z.int().optional().describe('runs that it holds; missing where the record could not be read'),
});

export const QueueHolds = z.object({
  ready: z.int().describe('wake-ups that may be delivered now'),
  later: z.int().describe('wake-ups for a later time'),
  active: z.int().describe('runs being looked at'),
  oldest: time
    .optional()
    .describe('since when the oldest of those that may be delivered waits; missing if none does'),
});

export type QueueHolds = z.infer<typeof QueueHolds>;

const Depth = QueueHolds.extend({ oldestSeconds: seconds.optional() });

const Trouble = z.object({
  of: z.enum(['queue', 'runs']),
  code: z.string(),
  why: z.string(),
});

export const WorkersStatus = z.object({
  items: z.array(WorkerStatus).describe('newest first'),
  queue: Depth.optional().describe('missing where it could not be asked'),
  runs: z
    .object({
      left: z.int().describe('open runs left to the workers, of which the newest 200 are looked at'),
      unheld: z.array(runId).describe('those of them that may go on and that nobody holds'),
    })
    .optional()
    .describe('missing where the record could not be read'),
  troubles: z.array(Trouble).describe('why something is missing'),
});
export type WorkersStatus = DeepReadonly<z.infer<typeof WorkersStatus>>;
export type WorkerStatus = WorkersStatus['items'][number];
