import * as z from 'zod';
import { CHECK_IDS } from '../base/check-id.ts';
import { isoOf } from '../base/date.ts';
import { Duration } from '../base/duration.ts';
import { instantOf } from '../base/instant.ts';

/** How often instances are evaluated. Milliseconds. */
export const EvaluateConfig = z.strictObject({
  every: Duration.refine((ms) => ms > 0, 'an interval is longer than zero').describe('such as 30m'),
});

/** An end: a date, which is the beginning of that day (UTC), or a time. RFC 3339 after parsing. */
export const End = z
  .string()
  .refine((text) => endOf(text) !== undefined, 'an end is a date such as 2026-12-31, or a time in RFC 3339')
  .transform((text) => isoOf(endOf(text) ?? 0));

const Waiver = z.strictObject({
  instance: z.string().describe('the instance, by its name in this file'),
  check: z.enum(CHECK_IDS).describe('the check, as `lifeboat plans evaluate -i NAME` names it'),
  reason: z.string().min(1).max(200).describe('why, for the record'),
  until: End.describe('from the beginning of this day (UTC), or from this time on, the check counts again'),
  owner: z.string().min(1).max(80).optional().describe('who is to see to it'),
});

export const WaiversConfig = z
  .array(Waiver)
  .default([])
  .describe('checks of an evaluation that count for nothing until an end: {instance, check, reason, until}');

function endOf(text: string): number | undefined {
  return instantOf(/^\d{4}-\d\d-\d\d$/u.test(text) ? `${text}T00:00:00Z` : text);
}

type Context = Pick<z.RefinementCtx, 'addIssue'>;

/** A target that is no instance of the config could not be looked at. */
export function assertTargetsNamed(
  instances: Readonly<Record<string, { readonly target?: string | undefined }>>,
  { addIssue }: Context,
): void {
  for (const [name, { target }] of Object.entries(instances)) {
    if (target === undefined || (target !== name && Object.hasOwn(instances, target))) continue;
    const message = target === name ? 'it cannot be its own target' : 'no instance has this name';
    addIssue({ code: 'custom', path: [name, 'target'], message });
  }
}

/** A waiver of no instance would be overlooked. */
export function assertWaiversNamed(
  {
    instances,
    waivers,
  }: {
    readonly instances: Readonly<Record<string, unknown>>;
    readonly waivers: readonly { readonly instance: string }[];
  },
  { addIssue }: Context,
): void {
  for (const [at, { instance }] of waivers.entries())
    if (!Object.hasOwn(instances, instance))
      addIssue({ code: 'custom', path: ['waivers', at, 'instance'], message: 'no instance has this name' });
}
