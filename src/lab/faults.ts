import { z } from 'zod';
import { LifeboatError } from '../errors.ts';

const when = z.enum(['before', 'after']);

/** What goes wrong. `before` and `after` mean the work: after it, the service has done what it was asked for. */
const Effect = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('delay'),
    ms: z.int().nonnegative(),
    when: when.default('before'),
  }),
  /** The connection ends without an answer. */
  z.strictObject({ kind: z.literal('drop'), when }),
  /** A router answers in the service's place. */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(400).max(599),
    when,
    body: z.enum(['json', 'html', 'empty']).default('html'),
  }),
  /** The work is done and its answer spoiled on the way; `truncated` ends the connection half way. */
  z.strictObject({
    kind: z.literal('garble'),
    body: z.enum(['html', 'truncated', 'empty']),
  }),
  /** The task that the call starts fails, or is never picked up (until the faults are cleared). */
  z.strictObject({
    kind: z.literal('task'),
    fate: z.enum(['failed', 'queued']),
  }),
  z.strictObject({
    kind: z.literal('slow'),
    bytesPerSecond: z.int().positive(),
  }),
]);
export type Effect = z.infer<typeof Effect>;

/** One line of the fault table. Fields that are left out match everything. */
export const Fault = z.strictObject({
  method: z.enum(['GET', 'POST', 'PATCH']).optional(),
  /** The endpoint's path below the instance, as a pattern: `/`, `/backups`, `/backups/:id/download`. */
  path: z.string().optional(),
  /** Name or guid. */
  instance: z.string().optional(),
  /** How many calls it hits. */
  times: z.union([z.int().positive(), z.literal('always')]).default(1),
  effect: Effect,
});
export type Fault = z.input<typeof Fault>;

export interface FaultTarget {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  /** Which of the effects mean something here. */
  readonly startsTask?: boolean;
  readonly streams?: boolean;
}

/** The faults that are still to happen. */
export class FaultTable {
  readonly #targets: readonly FaultTarget[];
  #faults: z.output<typeof Fault>[] = [];

  constructor(targets: readonly FaultTarget[]) {
    this.#targets = targets;
  }

  get open(): readonly z.output<typeof Fault>[] {
    return this.#faults;
  }

  /** Adds a fault. Rejects one that could never happen with `lab.fault`: a test that injects nothing proves nothing. */
  add(input: unknown): void {
    const parsed = Fault.safeParse(input);
    if (!parsed.success) throw impossible(z.prettifyError(parsed.error).replaceAll('\n', ' '));
    const fault = parsed.data;
    if (!this.#targets.some((target) => fits(fault, target))) {
      const known = this.#targets.map(({ method, path }) => `${method} ${path}`).join(', ');
      throw impossible(`no endpoint matches; there are ${known}`);
    }
    this.#faults.push({ ...fault });
  }

  /** The effects for one call, each used up by one. */
  take(target: FaultTarget, instance: { readonly name: string; readonly guid: string }): readonly Effect[] {
    const hit = this.#faults.filter(
      (fault) =>
        fits(fault, target) &&
        (fault.instance === undefined || [instance.name, instance.guid].includes(fault.instance)),
    );
    for (const fault of hit) if (fault.times !== 'always') fault.times -= 1;
    this.#faults = this.#faults.filter((fault) => fault.times !== 0);
    return hit.map((fault) => fault.effect);
  }

  clear(): void {
    this.#faults = [];
  }
}

function fits(fault: z.output<typeof Fault>, target: FaultTarget): boolean {
  if (fault.method !== undefined && fault.method !== target.method) return false;
  if (fault.path !== undefined && fault.path !== target.path) return false;
  if (fault.effect.kind === 'task') return target.startsTask === true;
  if (fault.effect.kind === 'slow') return target.streams === true;
  return true;
}

function impossible(why: string): LifeboatError {
  return new LifeboatError('lab.fault', `this fault cannot happen: ${why}`, {
    hints: ['a fault has method, path, instance, times and effect; only effect is required'],
  });
}
