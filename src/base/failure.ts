import * as z from 'zod';
import { lazily } from './lazily.ts';

/**
 * A failure as data: it is journalled, shown, and folded again after a crash, so it is never an Error. `code`
 * is stable and dotted (`service.timeout`, `keys.locked`); `shortMessage` is one line, lower case, no full
 * stop; `hints` say what is safe to do next; `evidence` holds facts for the audit (never secrets).
 */
export const Failure = lazily(() =>
  z.object({
    code: z.string(),
    shortMessage: z.string(),
    hints: z.array(z.string()).default([]),
    evidence: z.record(z.string(), z.json()).default({}),
  }),
);
export type Failure = z.infer<ReturnType<typeof Failure>>;

/** The failure in an error event; anything else becomes `activity.broken`, not a crash. */
export function failureFrom(error: unknown): Failure {
  const parsed = Failure().safeParse(error);
  if (parsed.success) return parsed.data;
  return {
    code: 'activity.broken',
    shortMessage: 'a step ended in an unexpected way',
    hints: ['nothing is assumed to have happened: look at the service before you retry'],
    evidence: {},
  };
}
