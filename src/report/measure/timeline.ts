import { isoOf } from '../../base/date.ts';
import { instantOf } from '../../base/instant.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { incrementalFold } from '../../store/projections/projection.ts';
import { type RunEntryBody, readRunEntry } from '../../store/run-entries.ts';

/** Since when the run has been in a state. Milliseconds since 1970, never decreasing. */
interface Stay {
  readonly state: string;
  readonly atMs: number;
}

/** One successful performance of a verb. Times are those of the journal. */
interface Performed {
  readonly verb: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: Readonly<Record<string, unknown>>;
  readonly begunMs: number;
  readonly endedMs: number;
}

/** An event about one follow-up, such as an answer. */
interface Mention {
  readonly id: string;
  readonly atMs: number;
}

/** The times in a run's entries, read once, by a clock without adjustments (`steadied`). */
export interface Timeline {
  readonly firstMs: number;
  readonly lastMs: number;
  /** The first such entry; entries after the end are ignored. */
  readonly started: RunEntryBody<'run.started'> | undefined;
  readonly closed: RunEntryBody<'run.closed'> | undefined;
  /** When the run was closed or abandoned. */
  readonly endedMs: number | undefined;
  readonly stays: readonly Stay[];
  readonly performed: readonly Performed[];
  readonly armed: readonly { readonly verb: string; readonly atMs: number }[];
  readonly mentions: readonly Mention[];
  /** An entry predates the one before, and counts at that one's time: the clock was set back unobserved. */
  readonly clockSetBack: boolean;
  /** Each adjustment during the run of the clock that stamps entries, negative for back. Milliseconds. */
  readonly clockMovesMs: readonly number[];
  /** The sum of these adjustments. Milliseconds. */
  readonly clockMovedMs: number;
}

/**
 * Reads the entries of a run, oldest first; undefined without any. Unknown entries and bodies only count as
 * time. A growing array is read once (`incrementalFold`): the lists grow with it.
 */
export function timelineOf(written: readonly Entry[]): Timeline | undefined {
  const { timeline } = read(written);
  return timeline && { ...timeline };
}

type Mutable<T> = {
  -readonly [Field in keyof T]: T[Field] extends readonly (infer One)[] ? One[] : T[Field];
};

interface Reading {
  isBegun: boolean;
  timeline: Mutable<Timeline> | undefined;
  readonly begun: Map<string, Omit<Performed, 'output' | 'endedMs'>>;
}

const read = incrementalFold<Reading>(
  () => ({ isBegun: false, timeline: undefined, begun: new Map() }),
  next,
);

function next(reading: Reading, entry: Entry): void {
  if (!reading.isBegun) reading.timeline = emptyFrom(entry);
  reading.isBegun = true;
  const { timeline, begun } = reading;
  if (timeline === undefined) return;
  const known = readRunEntry(entry);
  if (known?.type === 'clock.moved' && known.body.entries === undefined) {
    timeline.clockMovesMs.push(known.body.seconds * 1000);
    timeline.clockMovedMs += known.body.seconds * 1000;
  }
  const written = instantOf(entry.at);
  const atMs = written === undefined ? timeline.lastMs : Math.trunc(written - timeline.clockMovedMs);
  if (atMs < timeline.lastMs) timeline.clockSetBack = true;
  else timeline.lastMs = atMs;
  const { lastMs } = timeline;
  if (known?.type === 'run.started') timeline.started ??= known.body;
  if (known?.type === 'run.closed') timeline.closed ??= known.body;
  if (known?.type === 'intent.armed') timeline.armed.push({ verb: known.body.verb, atMs: lastMs });
  if (known?.type === 'run.closed' || known?.type === 'run.abandoned') timeline.endedMs ??= lastMs;
  if (known?.type === 'activity.begun') {
    const { activity, verb, input } = known.body;
    begun.set(activity, { verb, input: fieldsOf(input), begunMs: lastMs });
  }
  if (known?.type !== 'event') return;
  const { event, to } = known.body;
  timeline.stays.push({ state: to, atMs: lastMs });
  const activity = /^xstate\.done\.actor\.(.+)$/u.exec(event.type)?.[1];
  const start = activity === undefined ? undefined : begun.get(activity);
  if (start !== undefined)
    timeline.performed.push({ ...start, output: fieldsOf(event['output']), endedMs: lastMs });
  if (typeof event['id'] === 'string') timeline.mentions.push({ id: event['id'], atMs: lastMs });
}

function emptyFrom(first: Entry): Mutable<Timeline> | undefined {
  const firstMs = instantOf(steadied([first])[0]?.at);
  if (firstMs === undefined) return undefined;
  const lists = { stays: [], performed: [], armed: [], mentions: [], clockMovesMs: [] };
  const none = { started: undefined, closed: undefined, endedMs: undefined };
  return { firstMs, lastMs: firstMs, ...none, clockSetBack: false, clockMovedMs: 0, ...lists };
}

/** The entries with observed adjustments of the clock (`clock.moved`) undone. Unreadable times stay. */
export function steadied(entries: readonly Entry[]): readonly Entry[] {
  let movedMs = 0;
  return entries.map((entry) => {
    const known = entry.type === 'clock.moved' ? readRunEntry(entry) : undefined;
    if (known?.type === 'clock.moved' && known.body.entries === undefined)
      movedMs += known.body.seconds * 1000;
    const atMs = movedMs === 0 ? undefined : instantOf(entry.at);
    return atMs === undefined ? entry : { ...entry, at: isoOf(atMs - movedMs) };
  });
}
