import * as z from 'zod';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import { instance } from '../base/fields.ts';

/*
 * A run without trouble, for a dry run. Screens import only types from here, so that they do not load the
 * schema.
 */

const PlannedCallView = z.object({
  method: z.enum(['GET', 'POST', 'PATCH']),
  on: instance,
  path: z.string().describe('below the address of the instance'),
  what: z.string(),
  changes: z.boolean(),
  /** Its answer stays unknown. */
  absent: z.literal(true).optional().describe('the instance does not have this call: it is not made'),
  needs: z.string().optional().describe('what has to hold before it is made'),
  forever: z.string().optional().describe('what cannot be undone once it is made'),
});
export type PlannedCallView = Readonly<z.infer<typeof PlannedCallView>>;

/** One state. Printable. */
export const PlannedStep = z.object({
  state: z.string(),
  step: z.string().describe('the phase that it belongs to'),
  title: z.string(),
  calls: z.array(PlannedCallView),
  does: z.array(z.string()).describe('what happens outside the service'),
  /** At the service or outside. */
  changes: z.boolean(),
  /** The operator has to type a name first. */
  destructive: z.boolean(),
  asks: z.string().optional().describe('what you are asked'),
  wayBack: z.string().optional(),
});
export type PlannedStep = DeepReadonly<z.infer<typeof PlannedStep>>;
