import * as z from 'zod';
import type { Entry } from '../../store/journal.ts';
import {
  isEnd,
  type RunEntryBody,
  type RunEntryType,
  readRunEntry,
  WrittenClosure,
  WrittenFollowUp,
} from '../../store/run-entries.ts';

export const Person = z.object({
  name: z.string(),
  roles: z.array(z.string()),
  /** The evidence for the person, in words. */
  proof: z.string(),
});
export type Person = z.infer<typeof Person>;

/** A named value. `code` marks values that are compared exactly: ids, hashes, fingerprints. */
export const Fact = z.object({ label: z.string(), value: z.string(), code: z.boolean().optional() });
export type Fact = z.infer<typeof Fact>;

export const Check = z.object({
  at: z.string(),
  what: z.string(),
  verdict: z.string(),
  good: z.boolean(),
  details: z.array(Fact),
});
export type Check = z.infer<typeof Check>;

export const FollowUpRow = WrittenFollowUp().extend({
  owner: z.string(),
  /** Until it was closed, or until the record's last entry. */
  openSeconds: z.number().optional(),
  closed: WrittenClosure().omit({ evidence: true }).optional(),
  proofs: z.array(z.object({ label: z.string(), value: z.string() })),
});
export type FollowUpRow = z.infer<typeof FollowUpRow>;

export const Decision = z.object({ at: z.string(), by: z.string(), what: z.string(), reason: z.string() });
export type Decision = z.infer<typeof Decision>;

export const Approval = z.object({
  challenge: z.string(),
  order: z.string(),
  target: z.string(),
  plan: z.string(),
  requester: z.string(),
  askedAt: z.string().optional(),
  expiresAt: z.string(),
  /** `replaced`: a later request replaced it. `expired`: it expired before anything else was written. */
  state: z.enum(['asked', 'given', 'withdrawn', 'bypassed', 'replaced', 'expired']),
  approver: z.string().optional(),
  at: z.string().optional(),
  method: z.string().optional(),
  key: z.string().optional(),
  allowedSigners: z.string().optional(),
  reason: z.string().optional(),
});
export type Approval = z.infer<typeof Approval>;

/** Who could approve the run: the policy at its beginning, and later changes. */
export const MayApprove = z.object({
  /** Empty if it is not recorded, or nothing was needed. */
  begun: z.array(z.object({ label: z.string(), value: z.string() })),
  /** The time of `begun`; later than the start if an earlier version began the run. */
  asOf: z.string().optional(),
  people: z.array(z.object({ names: z.string(), key: z.string() })),
  /** They could not approve it. */
  drivers: z.array(
    z
      .object({ at: z.string(), name: z.string(), login: z.string(), uid: z.string(), host: z.string() })
      .extend({
        config: z.string(),
      }),
  ),
  changes: z.array(
    z.object({ at: z.string(), by: z.string(), what: z.string(), was: z.string(), is: z.string() }),
  ),
});
export type MayApprove = z.infer<typeof MayApprove>;

export const Deviation = z.object({
  kind: z.enum(['break-glass', 'step', 'by hand', 'skipped', 'retried', 'resumed']),
  what: z.string(),
  reason: z.string(),
});
export type Deviation = z.infer<typeof Deviation>;

/** A problem. Its cause and corrective actions are for people to write in. */
export const Issue = z.object({
  at: z.string(),
  what: z.string(),
  rootCause: z.null(),
  correctiveAction: z.null(),
  owner: z.null(),
  due: z.null(),
  status: z.null(),
});
export type Issue = z.infer<typeof Issue>;

/** A call that changed something, or may have. */
export const Change = z.object({
  at: z.string(),
  step: z.string(),
  intent: z.string().optional(),
  subject: z.string(),
  answer: z.string(),
  found: z.string(),
});
export type Change = z.infer<typeof Change>;

export const Line = z.object({ at: z.string(), seq: z.number(), by: z.string(), text: z.string() });
export type Line = z.infer<typeof Line>;

const Slice = z.enum(['decide', 'queue', 'execute', 'human', 'rebind']);

/** A state of the run. Times never decrease, even if the clock went back. */
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

/** A task as reported by the service, by this machine's clock. */
const Task = z.object({
  what: z.string(),
  kind: z.enum(['queue', 'execute']),
  from: z.string(),
  until: z.string(),
});
export type Task = z.infer<typeof Task>;

export const Course = z.object({
  /** The incident if known and earlier, else the start. */
  from: z.string(),
  until: z.string(),
  limitAt: z.string().optional(),
  slices: z.array(z.object({ slice: Slice, from: z.string(), until: z.string() })),
  steps: z.array(Step),
  tasks: z.array(Task),
  marks: z.array(Mark),
});
export type Course = z.infer<typeof Course>;

const Facts = z.array(Fact);

/** The audit data of a key change, by group; the journal has nothing about an empty group. */
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

interface Found<T extends RunEntryType> {
  readonly entry: Entry;
  readonly body: RunEntryBody<T>;
}

/** All readable entries of a type. */
export function findAll<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T>[] {
  return entries.flatMap((entry) => {
    const known = entry.type === type ? readRunEntry(entry) : undefined;
    return known === undefined ? [] : [{ entry, body: known.body as RunEntryBody<T> }];
  });
}

export function find<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T> | undefined {
  return findAll(entries, type)[0];
}

/** The entries up to the one that ended the run, or all of an open run: later entries do not change it. */
export function untilEnd(entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex((entry) => isEnd(entry) && readRunEntry(entry) !== undefined);
  return end === -1 ? entries : entries.slice(0, end + 1);
}

export function findLast<T extends RunEntryType>(entries: readonly Entry[], type: T): Found<T> | undefined {
  return findAll(entries, type).at(-1);
}
