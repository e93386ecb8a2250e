/** No instance has a name that begins so (config/schema.ts). */
const PLANS = 'plan.';

/** The record's name for a plan, for its runs and evaluations. */
export function planSubject(plan: string): string {
  return `${PLANS}${plan}`;
}

/** The plan's name; undefined for an instance. */
export function planOf(subject: string): string | undefined {
  return subject.startsWith(PLANS) ? subject.slice(PLANS.length) : undefined;
}
