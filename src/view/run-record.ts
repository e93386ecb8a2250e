import { stepOf } from '../../machines/parts/states.ts';
import { formatTime } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { Entry, Holder } from '../store/journal.ts';
import { incrementalFold } from '../store/projections/projection.ts';
import { promisedBy, readRunEntry } from '../store/run-entries.ts';
import { entrySentences } from '../store/sentence.ts';
import type { LogLine } from './run-view.ts';

/** Read from the entries. A screen asks many times a second, so each entry is read once. */
export interface RunRecord {
  /** The first entry. */
  readonly started: Entry | undefined;
  readonly promised: ReturnType<typeof promisedBy>;
  /** Each state once, by its last visit. */
  readonly states: ReadonlySet<string>;
  /** Milliseconds in states that were left. */
  readonly spent: ReadonlyMap<string, number>;
  readonly here: { readonly state: string; readonly since: number } | undefined;
  /** Milliseconds of it without a driving process, by the record. */
  readonly away: ReadonlyMap<string, number>;
  /** The first transition; until then the run was in its first step. */
  readonly movedAt: number | undefined;
  /** The newest lines; more than are shown. */
  readonly log: readonly LogLine[];
  /** In order. */
  readonly approvals: readonly Entry[];
  readonly abandoned: Entry | undefined;
}

/** Lines that can be viewed. */
export const LOG_LINES = 2_000;
const NOISE: ReadonlySet<string> = new Set(['activity.begun', 'intent.prepared']);

/** Reads only new entries. */
export const recordOf: (entries: readonly Entry[]) => RunRecord = incrementalFold<Draft>(
  () => ({
    started: undefined,
    promised: { from: undefined },
    states: new Set(),
    spent: new Map(),
    here: undefined,
    away: new Map(),
    lastAt: 0,
    movedAt: undefined,
    say: entrySentences(),
    log: [],
    approvals: [],
    abandoned: undefined,
  }),
  (record, entry) => {
    if (record.started === undefined) {
      record.started = entry;
      record.promised = promisedBy(entry);
    }
    // The entry that ends a step belongs to it, though it names the next one.
    const step = record.here === undefined ? {} : { step: stepOf(record.here.state) };
    if (entry.type === 'event') {
      const state = String((entry.body as { readonly to?: string }).to);
      record.states.delete(state);
      record.states.add(state);
      moveTo(record, state, msOf(entry.at));
    }
    if (entry.type === 'run.resumed' && record.here !== undefined) {
      const { state } = record.here;
      const gap = Math.max(0, msOf(entry.at) - record.lastAt);
      record.away.set(state, (record.away.get(state) ?? 0) + gap);
    }
    record.lastAt = msOf(entry.at);
    if (entry.type === 'run.abandoned') record.abandoned ??= entry;
    if (entry.type.startsWith('approval.')) record.approvals.push(entry);
    const said = record.say(entry);
    if (NOISE.has(entry.type)) return;
    record.log.push({ at: formatTime(entry.at).slice(11), ...said, ...step });
    // Trimmed seldom, so that the cost of an entry does not grow with the run.
    if (record.log.length > 2 * LOG_LINES) record.log.splice(0, LOG_LINES);
  },
);

interface Draft {
  started: Entry | undefined;
  promised: RunRecord['promised'];
  readonly states: Set<string>;
  readonly spent: Map<string, number>;
  here: RunRecord['here'];
  readonly away: Map<string, number>;
  lastAt: number;
  movedAt: RunRecord['movedAt'];
  readonly say: ReturnType<typeof entrySentences>;
  readonly log: LogLine[];
  readonly approvals: Entry[];
  abandoned: RunRecord['abandoned'];
}

/** Up to now; undefined if the run was in none of the states. */
export function timeIn(
  { spent, here }: Pick<RunRecord, 'spent' | 'here'>,
  now: Date,
  fits: (state: string) => boolean,
): number | undefined {
  const left = [...spent].filter(([state]) => fits(state)).map(([, ms]) => ms);
  const parts = here !== undefined && fits(here.state) ? [...left, now.getTime() - here.since] : left;
  return parts.length === 0 ? undefined : parts.reduce((sum, ms) => sum + Math.max(0, ms), 0);
}

function moveTo(record: Draft, state: string, at: number): void {
  const { here, spent } = record;
  if (here?.state === state) return;
  if (here !== undefined) spent.set(here.state, (spent.get(here.state) ?? 0) + Math.max(0, at - here.since));
  record.here = { state, since: at };
  record.movedAt ??= at;
}

/** Printable. */
export interface WatchedView {
  /** The driver, or that there is none, in one sentence without a full stop. */
  readonly driver: string;
  /** No process drives it, and it has not ended: it can be taken over. */
  readonly isFree: boolean;
}

/** `ada (process 4711 on box) since 2026-01-02 03:04:05 UTC`. */
export function holderWords({ by, pid, host, since, isHere }: Holder): string {
  const process = isHere ? 'this process' : `process ${pid} on ${show(host, 60)}`;
  const who = by === undefined ? process : `${show(by, 60)} (${process})`;
  return `${who} since ${formatTime(since)} UTC`;
}

/** By the store, or by the run's entries if the store names no driver. */
export function driverOf(entries: readonly Entry[], holder: Holder | undefined, runId: string): string {
  if (holder !== undefined) return `driven by ${holderWords(holder)}`;
  const resume = `resume it with: lifeboat resume ${show(runId)}`;
  const left = entries.findLast(({ type }) => type === 'run.detached' || type === 'run.resumed');
  const known = left && readRunEntry(left);
  if (left === undefined || known?.type !== 'run.detached') return `no process drives it now; ${resume}`;
  return `${show(left.by, 60)} left it at ${formatTime(left.at)} UTC (${show(known.body.why, 120)}); ${resume}`;
}
