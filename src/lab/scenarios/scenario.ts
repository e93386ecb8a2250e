import { z } from 'zod';
import { Duration, Offset } from '../../base/duration.ts';
import { Fault } from '../faults/fault.ts';

/** How long after the scenario began, in real time. */
const after = Duration.default(0);
/** Name or guid. */
const instance = z.string().min(1);

/** Something that happens by itself. */
const Step = z.discriminatedUnion('do', [
  /** The instance is gone: its database is killed, and a router answers 502 in its place. */
  z.strictObject({ do: z.literal('lose'), after, instance }),
  z.strictObject({ do: z.literal('bring-back'), after, instance }),
  /** From now on this goes wrong. */
  z.strictObject({ do: z.literal('fault'), after, fault: Fault }),
  /** Nothing goes wrong any more; tasks held in the queue go on. */
  z.strictObject({ do: z.literal('clear'), after }),
  /** Tasks held in the queue go on; faults stay. */
  z.strictObject({ do: z.literal('release'), after }),
  /** The full token in use is refused from now on; the token file holds a new one. */
  z.strictObject({ do: z.literal('expire-token'), after }),
  /** Somebody else gives the instance a key that nobody else learns. */
  z.strictObject({ do: z.literal('rotate-key'), after, instance }),
  /** Somebody else starts a backup. */
  z.strictObject({ do: z.literal('backup'), after, instance }),
  /**
   * The metrics tell of a persistent disk that is filled to so many percent; 80 open the parachute (section
   * 2.8).
   */
  z.strictObject({ do: z.literal('fill-disk'), after, instance, percent: z.number().min(0).max(100) }),
  /** The service's time jumps ahead. */
  z.strictObject({ do: z.literal('advance'), after, by: Duration }),
  /** The service's clock is wrong by so much. */
  z.strictObject({ do: z.literal('skew'), after, by: Offset }),
]);
export type Step = z.output<typeof Step>;

/** At least a second: a lab that does nothing else would never come to rest. */
const Period = Duration.refine((ms) => ms >= 1_000, 'must be 1s or more');

const Settings = z.strictObject({
  /** Tasks that the Backup Manager works on at once. */
  workers: z.int().positive().optional(),
  /** How long a worker waits before each task's work. */
  taskDelay: Duration.optional(),
  /**
   * How much of the service's time passes between scheduled backups of each instance that is not excluded
   * from them.
   */
  backupEvery: Period.optional(),
  /** How much of it passes between the lab's own maintenance of each instance that allows it. */
  maintenanceEvery: Period.optional(),
  /** What the service's clock is wrong by; less than nothing is behind. */
  clockSkew: Offset.optional(),
  /** How fast the service's time passes: 1 or more. */
  clockRate: z.number().min(1).max(100_000).optional(),
});

/** What goes wrong in a lab, and when. */
export const Scenario = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/u, 'must be lower-case words joined by -'),
  /** One sentence: what a team learns from it. */
  summary: z.string().min(1),
  settings: Settings.default({}),
  /** From the beginning on. */
  faults: z.array(Fault).default([]),
  timeline: z.array(Step).default([]),
});
/** A scenario with nothing left open; durations in milliseconds. */
export type Scenario = z.output<typeof Scenario>;
/** A scenario as it is written. */
export type ScenarioInput = z.input<typeof Scenario>;
