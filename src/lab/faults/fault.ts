import * as z from 'zod';

/** Ten years in milliseconds: a header may have no form for a later date. */
const MAX_SKEW = 3650 * 86_400_000;

const when = z.enum(['before', 'after']);

/**
 * What goes wrong. `before` and `after` refer to the work: after it, the service has done what was asked.
 * Every effect is visible to the client of each call that it hits; none depends on luck.
 */
export const Effect = z.discriminatedUnion('kind', [
  /** The call takes this much longer. `after`: the work is done at once and its answer is late. */
  z.strictObject({ kind: z.literal('delay'), ms: z.int().nonnegative(), when: when.default('before') }),
  /** The connection is reset (RST) after the head of the request; nothing has been processed. */
  z.strictObject({ kind: z.literal('refuse') }),
  /** The connection ends without an answer. */
  z.strictObject({ kind: z.literal('drop'), when }),
  /** A router, or the service in trouble, sends this answer instead of the right one. */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(400).max(599),
    when,
    body: z.enum(['json', 'html', 'empty']).default('html'),
    /** Seconds in a `Retry-After` header (RFC 9110, 10.2.3). */
    retryAfter: z.int().nonnegative().optional(),
  }),
  /** The call is sent on to the same path at another origin. */
  z.strictObject({
    kind: z.literal('redirect'),
    to: z.url({ protocol: /^https?$/ }),
    status: z.literal([301, 302, 303, 307, 308]).default(302),
    when: when.default('before'),
  }),
  /** The work is done and its answer spoiled on the way: see `SPOILS`. */
  z.strictObject({
    kind: z.literal('garble'),
    body: z.enum([
      'html',
      'truncated',
      'empty',
      'text',
      'no-content',
      'strings',
      'objects',
      'nulls',
      'enums',
    ]),
  }),
  /** The task that the call starts fails, or is never picked up (until the faults are cleared). */
  z.strictObject({ kind: z.literal('task'), outcome: z.enum(['failed', 'queued']) }),
  /** A download runs at this speed. */
  z.strictObject({ kind: z.literal('slow'), bytesPerSecond: z.int().positive() }),
  /**
   * The connection ends this long after the request, as at a platform router's limit (section 8). A faster
   * answer is held back: of a download all but the last byte arrives, of anything else nothing. The work is
   * done.
   */
  z.strictObject({ kind: z.literal('abort'), ms: z.int().nonnegative() }),
  /** The `Date` header is off by this much. */
  z.strictObject({
    kind: z.literal('date'),
    skewMs: z
      .int()
      .min(-MAX_SKEW)
      .max(MAX_SKEW)
      .refine((ms) => ms !== 0, 'must not be 0'),
  }),
  /** A backup of the same instance is started by someone else in the moment before this call starts one. */
  z.strictObject({ kind: z.literal('colleague') }),
]);
export type Effect = z.infer<typeof Effect>;

export function effectOf<Kind extends Effect['kind']>(
  effects: readonly Effect[],
  kind: Kind,
): Extract<Effect, { kind: Kind }> | undefined {
  return effects.find((effect): effect is Extract<Effect, { kind: Kind }> => effect.kind === kind);
}

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
  /** The share of matching calls that it hits, chosen by the seed alone. */
  probability: z.number().gt(0).max(1).default(1),
  seed: z.int().nonnegative().default(1),
  effect: Effect,
});
/** A fault as it is written: only `effect` is required. */
export type Fault = z.input<typeof Fault>;
/** A fault with all defaults filled in. */
export type FullFault = z.output<typeof Fault>;
