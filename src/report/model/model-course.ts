import { z } from 'zod';

const Slice = z.enum(['decide', 'queue', 'execute', 'human', 'rebind']);

/** A state in which the run stood. Times never fall, even where the clock did. */
const Step = z.object({
  state: z.string(),
  title: z.string(),
  from: z.string(),
  until: z.string(),
  seconds: z.number(),
  /** Whether it waited for a person. */
  waits: z.boolean(),
  slice: Slice.optional(),
});
export type Step = z.infer<typeof Step>;

const Mark = z.object({
  at: z.string(),
  kind: z.enum(['incident', 'decision', 'armed', 'doubt', 'trouble', 'resumed', 'approval', 'break-glass']),
  text: z.string(),
});
export type Mark = z.infer<typeof Mark>;

/** A task as the service reported it, by this machine's clock. */
const Task = z.object({
  what: z.string(),
  kind: z.enum(['queue', 'execute']),
  from: z.string(),
  until: z.string(),
});
export type Task = z.infer<typeof Task>;

/** How the run went, moment by moment: what the picture of it shows. */
export const Course = z.object({
  /** The incident where it is known and came before, else the start. */
  from: z.string(),
  until: z.string(),
  /** When the limit of the recovery time is reached. */
  limitAt: z.string().optional(),
  slices: z.array(z.object({ slice: Slice, from: z.string(), until: z.string() })),
  steps: z.array(Step),
  tasks: z.array(Task),
  marks: z.array(Mark),
});
export type Course = z.infer<typeof Course>;
