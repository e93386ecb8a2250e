import type { Entry } from '../store/journal.ts';
import { type RunEntryBody, readRunEntry } from '../store/run-entries.ts';
import { parseChallenge } from './challenge.ts';

/** Clocks of one machine are set forth and back by less than this without anybody's ill will. */
const SLACK_MS = 5 * 60_000;

/** How the confirmation that a run stands at is approved, as far as its journal tells. */
export interface Standing {
  /** The newest challenge of this confirmation; undefined when none was asked yet. An earlier confirmation's does not count. */
  readonly asked: RunEntryBody<'approval.asked'> | undefined;
  readonly withdrawn: RunEntryBody<'approval.withdrawn'> | undefined;
}

/** What the journal says of the confirmation that the run stands at. What was withdrawn once stays so, wherever it is asked. Pure. */
export function standingOf(entries: readonly Entry[]): Standing {
  const arrived = entries.findLastIndex(({ type }) => type === 'event');
  const asked = bodiesOf(entries.slice(arrived + 1), 'approval.asked').at(-1);
  const withdrawn = bodiesOf(entries, 'approval.withdrawn').findLast(
    ({ challenge }) => challenge === asked?.challenge,
  );
  return { asked, withdrawn };
}

/**
 * Whether the record asks for an approval of what is confirmed in a state of the machine: then one is needed there until the run ends, whatever
 * the config has come to say. Pure.
 */
export function isAskedOnRecord(
  entries: readonly Entry[],
  { state, target }: { readonly state: string; readonly target: string },
): boolean {
  return bodiesOf(entries, 'approval.asked').some(
    (asked) => asked.target === target && stateIn(asked.text) === state,
  );
}

/**
 * The moment that counts for a request: the clock's, but never before the newest entry of the journal, so that a clock that was set back makes
 * no expired approval good again.
 */
export function momentOf(entries: readonly Entry[], now: Date): Date {
  const latest = entries.reduce((newest, { at }) => Math.max(newest, Date.parse(at) || 0), 0);
  return new Date(Math.max(now.getTime(), latest));
}

/**
 * The moment that counts for the end of what was asked last: as `momentOf`, and on the clock that it was asked by where the journal knows
 * (`clock.moved`) that this one was set back since. A clock that was set ahead gains nobody time either.
 */
export function momentSinceAsked(entries: readonly Entry[], now: Date): Date {
  const asked = entries.findLastIndex(({ type }) => type === 'approval.asked');
  const moved = bodiesOf(entries.slice(asked + 1), 'clock.moved').reduce(
    (sum, { seconds }) => sum + seconds,
    0,
  );
  return momentOf(entries, new Date(now.getTime() + Math.max(0, -moved) * 1000));
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

function stateIn(text: string): string | undefined {
  try {
    return parseChallenge(text).state;
  } catch {
    return undefined;
  }
}

type Spoken = 'approval.asked' | 'approval.withdrawn' | 'clock.moved';

function bodiesOf<T extends Spoken>(entries: readonly Entry[], type: T): RunEntryBody<T>[] {
  return entries.flatMap((entry) => {
    const read = entry.type === type ? readRunEntry(entry) : undefined;
    return read === undefined ? [] : [read.body as RunEntryBody<T>];
  });
}
