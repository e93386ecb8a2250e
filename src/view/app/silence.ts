import type { InstanceStatus } from '../fleet/status-schema.ts';
import { briefly } from '../follow-up-words.ts';
import type { Fleet } from './sources.ts';

/** When each instance answered, and since when those are asked that have not answered yet. */
export type Asking = Pick<Fleet, 'answeredAt' | 'askedAt'>;

/** What is known of an instance may not be so any more: it owes an answer, or nobody has asked it lately. */
export interface Silence {
  /** Seconds since it was asked; undefined where it is not being asked. */
  readonly asked: number | undefined;
  /** Seconds since it answered. */
  readonly answered: number;
}

/** Seconds after which a question that is not answered is told: most answers take less than one. */
const PROMPT = 5;
/** Seconds after which an answer is no word about now. A large fleet is asked about once a minute. */
const LASTS = 90;

/**
 * Whether an instance that has answered before is silent now. Of one that is down its answer is known: it
 * gave none.
 */
export function silenceOf(
  { name, down }: Pick<InstanceStatus, 'name' | 'down'>,
  { answeredAt, askedAt }: Asking,
  now: Date,
): Silence | undefined {
  const at = answeredAt?.get(name);
  if (at === undefined || down !== undefined) return undefined;
  const since = (then: Date) => (now.getTime() - then.getTime()) / 1000;
  const asking = askedAt?.get(name);
  const asked = asking && since(asking);
  const answered = since(at);
  return (asked ?? 0) >= PROMPT || answered >= LASTS ? { asked, answered } : undefined;
}

/** `asked 7s ago, not answered; its last answer is 22s old`. */
export function silenceWords({ asked, answered }: Silence): string {
  const last = `its last answer is ${briefly(answered)} old`;
  return asked === undefined ? last : `asked ${briefly(asked)} ago, not answered; ${last}`;
}
