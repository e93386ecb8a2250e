import { z } from 'zod';
import { maybe, text } from '../schemas.ts';

/*
 * What the routes of a lab answer, as far as it is shown. Whatever else an answer has is ignored, so that a
 * newer lab can be looked at.
 */

/** A fault that is still open. Fields that are missing match everything. */
export const LabFault = z.object({
  method: maybe(text),
  path: maybe(text),
  instance: maybe(text),
  /** How many calls that match are let through first. */
  after: maybe(z.number()),
  /** How many calls it still hits. */
  times: maybe(z.union([z.number(), z.literal('always')])),
  /** Of the calls that it could hit it hits this share. */
  probability: maybe(z.number()),
  effect: z.record(z.string(), z.unknown()),
});
export type LabFault = z.infer<typeof LabFault>;

/** `GET /lab`. */
export const LabOverview = z.object({
  engine: maybe(text),
  revision: maybe(z.number()),
  scenario: maybe(text),
  faults: z.array(LabFault),
  instances: z.array(z.object({ name: text, state: text, backups: maybe(z.number()) })),
});

/** `GET /lab/calls`: changes that the service carried out, the oldest first. */
export const LabCalls = z.array(
  z.object({ at: text, endpoint: text, instance: text, detail: maybe(z.record(z.string(), z.unknown())) }),
);

/** `GET /lab/scenario`, and the answer to one that begins. */
export const LabScenarios = z.object({
  playing: maybe(text),
  scenarios: z.array(z.object({ name: text, summary: text })),
});

/** `GET /lab/clock`, and the answer to a change of it. Milliseconds. */
export const LabClock = z.object({
  now: text,
  rate: z.number(),
  skewMs: z.number(),
  aheadMs: z.number(),
});

/** `GET /lab/settings`. */
export const LabSettings = z.object({ routerMs: z.number(), updateBlocking: z.boolean() });

/** The answer to a disaster, or to its end. */
export const LabDisaster = z.object({ name: text, state: text });

/** The answer to the deletion of an instance. */
export const LabDeleted = z.object({ name: text, state: text });

/** The answer where no more is said than what is open now. */
export const LabFaults = z.object({ faults: z.array(LabFault) });

/** The answer to new tokens: the file that holds the new one. */
export const LabTokens = z.object({ file: text });
