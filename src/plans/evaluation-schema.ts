import * as z from 'zod';
import { CHECK_IDS, type CheckId, PLAN_CHECK_IDS } from '../base/check-id.ts';
import type { DeepReadonly } from '../base/deep-readonly.ts';
import { seconds, time } from '../base/fields.ts';

/* Screens import only types from here, so that they do not load the schema. */

/**
 * `proven`: a restore or a rehearsal brought its data back, nothing changed since, and that is not too long
 * ago. `ready`: every check is green, and it was never restored, or too long ago. `not-ready`: a check is
 * red. `unknown`: something could not be asked within its period. `empty`: a target that holds nothing of its
 * own.
 */
export const InstanceVerdict = z.enum(['proven', 'ready', 'not-ready', 'unknown', 'empty']);
export type InstanceVerdict = z.infer<typeof InstanceVerdict>;

const CheckState = z.enum(['green', 'red', 'unknown', 'not-applicable']);
export type CheckState = z.infer<typeof CheckState>;

const Waiver = z.object({
  reason: z.string(),
  until: time.describe('from then on the check counts again'),
  owner: z.string().optional(),
});
export type Waiver = Readonly<z.infer<typeof Waiver>>;

const checked = {
  state: CheckState,
  code: z.string().describe('stable and dotted, made for programs'),
  reason: z.string().describe('one printable line, lower case, no stop'),
  askedAt: time.optional().describe('when it was asked last; absent if it never was'),
  ageSeconds: seconds.optional().describe('since then'),
  periodSeconds: seconds.optional().describe('after this it is not green any more unless it is asked again'),
};

const Check = z.object({
  id: z.enum(CHECK_IDS),
  ...checked,
  waiver: Waiver.optional().describe('it counts for nothing in the verdict until the end of the waiver'),
});
export interface Check extends DeepReadonly<z.infer<typeof Check>> {
  readonly id: CheckId;
}

export const Evaluation = z.object({
  verdict: InstanceVerdict,
  since: time
    .optional()
    .describe('since when the record has this verdict; absent if it has another, or none'),
  reason: z.string().describe('one printable line: the first check that fails, or what proves it'),
  checks: z.array(Check),
});
export interface Evaluation extends DeepReadonly<z.infer<typeof Evaluation>> {
  readonly checks: readonly Check[];
}

const PlanCheck = z.object({ id: z.enum(PLAN_CHECK_IDS), ...checked });
export type PlanCheck = DeepReadonly<z.infer<typeof PlanCheck>>;

/** By earlier runs. */
export const PlanForecast = z.object({
  seconds: seconds.describe('at least this long, if steps have no known time'),
  path: z.array(z.string()).describe('the groups that decide how long it takes'),
  steps: z.int().nonnegative(),
  unknown: z.int().nonnegative().describe('how many of them have no known time'),
  rtoSeconds: seconds.optional(),
});

const count = z.int().nonnegative();

/** The worst of its instances, and its own checks. */
export const PlanEvaluation = z.object({
  plan: z.string(),
  verdict: InstanceVerdict.exclude(['empty']),
  since: time
    .optional()
    .describe('since when the record has this verdict; absent if it has another, or none'),
  reason: z.string().describe('one printable line: the first check that fails, or what proves it'),
  counts: z
    .object({ proven: count, ready: count, 'not-ready': count, unknown: count, empty: count })
    .describe('its instances by verdict'),
  checks: z.array(PlanCheck),
  instances: z.array(z.object({ instance: z.string(), verdict: InstanceVerdict, reason: z.string() })),
  forecast: PlanForecast.optional().describe('absent where the plan cannot be run'),
});
export type PlanEvaluation = DeepReadonly<z.infer<typeof PlanEvaluation>>;
