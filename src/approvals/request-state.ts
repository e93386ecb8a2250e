import { dateAt } from '../base/date.ts';
import { msOf } from '../base/instant.ts';
import type { Entry } from '../store/journal.ts';
import { incrementalFold } from '../store/projections/projection.ts';
import { type RunEntryBody, readRunEntry } from '../store/run-entries.ts';
import { parseChallenge } from './challenge.ts';

/** Clocks are legitimately adjusted by less than this. */
const SLACK_MS = 5 * 60_000;

export interface RequestState {
  /** The newest challenge of this confirmation; those of earlier ones do not count. */
  readonly asked: RunEntryBody<'approval.asked'> | undefined;
  readonly withdrawn: RunEntryBody<'approval.withdrawn'> | undefined;
}

/** A withdrawn challenge stays withdrawn, even if it is requested again. Pure. */
export function requestStateOf(entries: readonly Entry[]): RequestState {
  const { here: asked, withdrawn } = recordOf(entries);
  return { asked, withdrawn: withdrawn.findLast(({ challenge }) => challenge === asked?.challenge) };
}

/**
 * Whether the record requires an approval in this state of the machine: it is then needed there until the run
 * ends, whatever the config says now. Pure.
 */
export function isAskedOnRecord(
  entries: readonly Entry[],
  { state, target }: { readonly state: string; readonly target: string },
): boolean {
  return recordOf(entries).asked.some((asked) => asked.target === target && asked.state === state);
}

/** Only the newest of many requests are tried. */
const MAX_BEFORE = 8;

/** The texts of the run's requests that this one has replaced, newest first. Pure. */
export function textsBefore(
  entries: readonly Entry[],
  { challenge }: Pick<RunEntryBody<'approval.asked'>, 'challenge'>,
): readonly string[] {
  const texts = entries.flatMap((entry) => {
    const read = entry.type === 'approval.asked' ? readRunEntry(entry) : undefined;
    return read?.type === 'approval.asked' && read.body.challenge !== challenge ? [read.body.text] : [];
  });
  return texts.slice(-MAX_BEFORE).reverse();
}

/**
 * The time that counts for a request: by the clock that stamps entries (`Journal.clock`), shared by all
 * machines of a store; never before the newest entry, so that setting a clock back revives no expired
 * approval.
 */
export function momentOf(entries: readonly Entry[], now: Date): Date {
  return dateAt(Math.max(now.getTime(), recordOf(entries).latestMs));
}

/**
 * As `momentOf`, for the last request's expiry; but if the journal knows that the clock was set back since
 * (`clock.moved`), by the clock before that. Setting a clock ahead gains no time either.
 */
export function momentSinceAsked(entries: readonly Entry[], now: Date): Date {
  const { movedSeconds } = recordOf(entries);
  return momentOf(entries, dateAt(now.getTime() + Math.max(0, -movedSeconds) * 1000));
}

/** Whether a challenge is unusable at a moment: before its request, from its expiry, or if unreadable. */
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

/** What a run's entries say about approvals. A screen asks often, so each entry is read once. */
interface ApprovalRecord {
  /** With the machine's state named in its text. */
  readonly asked: { readonly target: string; readonly state: string | undefined }[];
  /** The newest request since the run came to its present state. */
  here: RunEntryBody<'approval.asked'> | undefined;
  readonly withdrawn: RunEntryBody<'approval.withdrawn'>[];
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
    // A machine's own clock beside the database's, which is the one that counts.
    const isUnmoved = read?.type === 'clock.moved' && read.body.entries === 'unmoved';
    if (read?.type === 'clock.moved' && !isUnmoved) record.movedSeconds += read.body.seconds;
    if (read?.type === 'approval.withdrawn') record.withdrawn.push(read.body);
    if (read?.type !== 'approval.asked') return;
    record.here = read.body;
    record.asked.push({ target: read.body.target, state: stateIn(read.body.text) });
  },
);

const CONCERNS: ReadonlySet<string> = new Set(['approval.asked', 'approval.withdrawn', 'clock.moved']);
