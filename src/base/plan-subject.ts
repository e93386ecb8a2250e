/** No instance has a name that begins so (config/schema.ts). */
const PLANS = 'plan.';

/** The name by which the record holds what is about a plan: its runs, its evaluations. */
export function planSubject(plan: string): string {
  return `${PLANS}${plan}`;
}

/** The name of the plan that this is the subject of; undefined for an instance. */
export function planOf(subject: string): string | undefined {
  return subject.startsWith(PLANS) ? subject.slice(PLANS.length) : undefined;
}
