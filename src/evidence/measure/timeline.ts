import { fieldsOf } from '../../store/fields.ts';
import type { Entry } from '../../store/journal.ts';
import { readRunEntry } from '../../store/run-entries.ts';
import { instantOf } from './instant.ts';
import { steadied } from './steadied.ts';

/** A state of the machine, and since when the run has been in it. Milliseconds since 1970, never falling. */
interface Stay {
  readonly state: string;
  readonly atMs: number;
}

/** One performance of a verb that has ended well. Times are those of the journal. */
interface Performed {
  readonly verb: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: Readonly<Record<string, unknown>>;
  readonly begunMs: number;
  readonly endedMs: number;
}

/** An answer or other event that is about one obligation. */
interface Mention {
  readonly id: string;
  readonly atMs: number;
}

/** What a run's entries say about when things happened, read once. All times are those of a clock that nobody moved (`steadied`). */
export interface Timeline {
  readonly firstMs: number;
  readonly lastMs: number;
  /** When the run was closed or abandoned. */
  readonly endedMs: number | undefined;
  readonly stays: readonly Stay[];
  readonly performed: readonly Performed[];
  readonly armed: readonly { readonly verb: string; readonly atMs: number }[];
  readonly mentions: readonly Mention[];
  /** Whether an entry is older than the one before it all the same: the clock was set while nobody watched. Its time is that of the one before. */
  readonly clockSetBack: boolean;
  /** By how much the clock was moved during the run, each time; less than zero for back. Milliseconds. */
  readonly clockMovesMs: readonly number[];
  /** By how much it is ahead of where it would be after all of them. Milliseconds. */
  readonly clockMovedMs: number;
}

/** Reads the entries of a run, oldest first. Unknown entries and bodies only count as time. Undefined for no entries. */
export function timelineOf(written: readonly Entry[]): Timeline | undefined {
  const { entries, moves: clockMovesMs, movedMs: clockMovedMs } = steadied(written);
  const firstMs = instantOf(entries[0]?.at);
  if (firstMs === undefined) return undefined;
  let lastMs = firstMs;
  let endedMs: number | undefined;
  let clockSetBack = false;
  const stays: Stay[] = [];
  const performed: Performed[] = [];
  const armed: { verb: string; atMs: number }[] = [];
  const mentions: Mention[] = [];
  const begun = new Map<string, Omit<Performed, 'output' | 'endedMs'>>();
  for (const entry of entries) {
    const atMs = instantOf(entry.at) ?? lastMs;
    if (atMs < lastMs) clockSetBack = true;
    else lastMs = atMs;
    const known = readRunEntry(entry);
    if (known?.type === 'intent.armed') armed.push({ verb: known.body.verb, atMs: lastMs });
    if (known?.type === 'run.closed' || known?.type === 'run.abandoned') endedMs ??= lastMs;
    if (known?.type === 'activity.begun') {
      const { activity, verb, input } = known.body;
      begun.set(activity, { verb, input: fieldsOf(input), begunMs: lastMs });
    }
    if (known?.type !== 'event') continue;
    const { event, to } = known.body;
    stays.push({ state: to, atMs: lastMs });
    const activity = /^xstate\.done\.actor\.(.+)$/u.exec(event.type)?.[1];
    const start = activity === undefined ? undefined : begun.get(activity);
    if (start !== undefined) performed.push({ ...start, output: fieldsOf(event['output']), endedMs: lastMs });
    if (typeof event['id'] === 'string') mentions.push({ id: event['id'], atMs: lastMs });
  }
  const clock = { clockSetBack, clockMovesMs, clockMovedMs };
  return { firstMs, lastMs, endedMs, stays, performed, armed, mentions, ...clock };
}
