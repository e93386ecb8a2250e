import { z } from 'zod';
import { Effect } from './effect.ts';

/** One line of the fault table. Fields that are left out match everything. */
export const Fault = z.strictObject({
  method: z.enum(['GET', 'POST', 'PATCH']).optional(),
  /** The endpoint's path below the instance, as a pattern: `/`, `/backups`, `/backups/:id/download`. */
  path: z.string().optional(),
  /** Name or guid. */
  instance: z.string().optional(),
  /** How many calls that match are let through first. */
  after: z.int().nonnegative().default(0),
  /** How many calls it hits. */
  times: z.union([z.int().positive(), z.literal('always')]).default(1),
  /** Of the calls that it could hit it hits this share; which of them follows from the seed alone. */
  probability: z.number().gt(0).max(1).default(1),
  seed: z.int().nonnegative().default(1),
  effect: Effect,
});
/** A fault as it is written: only `effect` is required. */
export type Fault = z.input<typeof Fault>;
/** A fault with nothing left open. */
export type FullFault = z.output<typeof Fault>;
