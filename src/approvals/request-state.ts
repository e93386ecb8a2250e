import { dateAt } from '../base/date.ts';
import { msOf } from '../base/instant.ts';
import type { Entry } from '../store/journal.ts';
import { incrementalFold } from '../store/projections/projection.ts';
import { type RunEntryBody, readRunEntry } from '../store/run-entries.ts';
import { parseChallenge } from './challenge.ts';

/** Clocks of one machine are set forth and back by less than this without anybody's ill will. */
const SLACK_MS = 5 * 60_000;

/** How the confirmation that a run stands at is approved, as far as its journal tells. */
export interface RequestState {
  /**
   * The newest challenge of this confirmation; undefined when none was asked yet. An earlier confirmation's
   * does not count.
   */
  readonly asked: RunEntryBody<'approval.asked'> | undefined;
  readonly withdrawn: RunEntryBody<'approval.withdrawn'> | undefined;
}

/**
 * What the journal says of the confirmation that the run stands at. What was withdrawn once stays so,
 * wherever it is asked. Pure.
 */
export function requestStateOf(entries: readonly Entry[]): RequestState {
  const { here: asked, withdrawn } = recordOf(entries);
  return { asked, withdrawn: withdrawn.findLast(({ challenge }) => challenge === asked?.challenge) };
}

/**
 * Whether the record asks for an approval of what is confirmed in a state of the machine: then one is needed
 * there until the run ends, whatever the config has come to say. Pure.
 */
export function isAskedOnRecord(
  entries: readonly Entry[],
  { state, target }: { readonly state: string; readonly target: string },
): boolean {
  return recordOf(entries).asked.some((asked) => asked.target === target && asked.state === state);
}

/**
 * The moment that counts for a request: that of the clock that stamps entries (`Journal.clock`), which is the
 * same for every machine that shares a store; but never before the newest entry, so that a clock that was set
 * back makes no expired approval good again.
 */
export function momentOf(entries: readonly Entry[], now: Date): Date {
  return dateAt(Math.max(now.getTime(), recordOf(entries).latestMs));
}

/**
 * The moment that counts for the end of what was asked last: as `momentOf`, and on the clock that it was
 * asked by where the journal knows (`clock.moved`) that this one was set back since. A clock that was set
 * ahead gains nobody time either.
 */
export function momentSinceAsked(entries: readonly Entry[], now: Date): Date {
  const { movedSeconds } = recordOf(entries);
  return momentOf(entries, dateAt(now.getTime() + Math.max(0, -movedSeconds) * 1000));
}

/**
 * Whether a challenge can be used at a moment: not before it was asked, not from its end on. What cannot be
 * read has expired.
 */
export function isExpired(text: string, at: Date): boolean {
  try {
    const { asked, expires } = parseChallenge(text);
    return at.getTime() >= msOf(expires) || at.getTime() < msOf(asked) - SLACK_MS;
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

/**
 * What the entries of a run say of approvals. A screen asks many times a second, so each entry is read once.
 */
interface ApprovalRecord {
  /** Every request, with the state of the machine that its text names. */
  readonly asked: { readonly target: string; readonly state: string | undefined }[];
  /** The newest request since the run came to the state that it is in. */
  here: RunEntryBody<'approval.asked'> | undefined;
  readonly withdrawn: RunEntryBody<'approval.withdrawn'>[];
  /** By how much the clock was moved since the newest request. */
  movedSeconds: number;
  latestMs: number;
}

const recordOf = incrementalFold<ApprovalRecord>(
  () => ({ asked: [], here: undefined, withdrawn: [], movedSeconds: 0, latestMs: 0 }),
  (record, entry) => {
    record.latestMs = Math.max(record.latestMs, msOf(entry.at) || 0);
    if (entry.type === 'event') record.here = undefined;
    if (entry.type === 'approval.asked') record.movedSeconds = 0;
    const read = CONCERNS.has(entry.type) ? readRunEntry(entry) : undefined;
    // The clock of a machine beside the database's, by which nothing here goes.
    const isUnmoved = read?.type === 'clock.moved' && read.body.entries === 'unmoved';
    if (read?.type === 'clock.moved' && !isUnmoved) record.movedSeconds += read.body.seconds;
    if (read?.type === 'approval.withdrawn') record.withdrawn.push(read.body);
    if (read?.type !== 'approval.asked') return;
    record.here = read.body;
    record.asked.push({ target: read.body.target, state: stateIn(read.body.text) });
  },
);

const CONCERNS: ReadonlySet<string> = new Set(['approval.asked', 'approval.withdrawn', 'clock.moved']);
