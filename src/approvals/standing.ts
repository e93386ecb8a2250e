import type { Entry } from '../journal/journal.ts';
import { type RunEntryBody, readRunEntry } from '../journal/run-entries.ts';
import { parseChallenge } from './challenge.ts';

/** Clocks of one machine are set forth and back by less than this without anybody's ill will. */
const SLACK_MS = 5 * 60_000;

/** How the confirmation that a run stands at is approved, as far as its journal tells. */
export interface Standing {
  /** The newest challenge of this confirmation; undefined when none was asked yet. An earlier confirmation's does not count. */
  readonly asked: RunEntryBody<'approval.asked'> | undefined;
  readonly withdrawn: RunEntryBody<'approval.withdrawn'> | undefined;
}

/** What the journal says of the confirmation that the run stands at. Pure. */
export function standingOf(entries: readonly Entry[]): Standing {
  const arrived = entries.findLastIndex(({ type }) => type === 'event');
  const here = entries.slice(arrived + 1).flatMap((entry) => readRunEntry(entry) ?? []);
  const asked = here.findLast((entry) => entry.type === 'approval.asked')?.body;
  const withdrawn = here.findLast(
    (entry) => entry.type === 'approval.withdrawn' && entry.body.challenge === asked?.challenge,
  )?.body;
  return { asked, withdrawn } as Standing;
}

/**
 * The moment that counts for expiry: the clock's, but never before the newest entry of the journal, so that a clock that was set back makes
 * no expired approval good again.
 */
export function momentOf(entries: readonly Entry[], now: Date): Date {
  const latest = entries.reduce((newest, { at }) => Math.max(newest, Date.parse(at) || 0), 0);
  return new Date(Math.max(now.getTime(), latest));
}

/** Whether a challenge can be used at a moment: not before it was asked, not from its end on. What cannot be read has expired. */
export function isExpired(text: string, at: Date): boolean {
  try {
    const { asked, expires } = parseChallenge(text);
    return at.getTime() >= Date.parse(expires) || at.getTime() < Date.parse(asked) - SLACK_MS;
  } catch {
    return true;
  }
}
