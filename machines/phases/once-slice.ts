import { z } from 'zod';
import { Failure } from '../../src/base/failure.ts';
import { BackupFacts, RestoreFacts } from '../parts/task-data.ts';

/** A task that a run asks for: how often (the number names the current intent), and what became of it. */
export const OnceSlice = z.object({
  intents: z.number(),
  /** Sends proven not to have arrived, one after the other. */
  absences: z.number(),
  /** What came back to the last of these sends, and what the service's list showed then. */
  absence: z.object({ lost: Failure.optional(), evidence: z.json().optional() }).optional(),
  landed: z.object({ id: z.number(), adopted: z.boolean() }).optional(),
  backup: BackupFacts.optional(),
  restore: RestoreFacts.optional(),
  /** What the operator said when it was done outside of this run; the service's word is missing then. */
  outside: z.string().optional(),
});
export type OnceSlice = z.infer<typeof OnceSlice>;

/** The slices that keep such a task. */
export type TaskName = 'safeguard' | 'backup' | 'restore' | 'fresh' | 'act';
