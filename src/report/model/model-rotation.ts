import { z } from 'zod';

const Facts = z.array(z.object({ label: z.string(), value: z.string(), code: z.boolean().optional() }));

/** What the change of a key is audited by, group by group; the journal says nothing of an empty group. */
export const Rotation = z.object({
  oldKey: Facts,
  newKey: Facts,
  storage: Facts,
  dualControl: Facts,
  call: Facts,
  proof: Facts,
  olderBackups: Facts,
  disposition: Facts,
  substitution: Facts,
});
export type Rotation = z.infer<typeof Rotation>;
