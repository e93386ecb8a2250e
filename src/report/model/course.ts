import type { TimeSlice } from '../../../machines/parts/runbook.ts';
import { verbTo } from '../../../machines/parts/verb-words.ts';
import type { Verb } from '../../../machines/verbs.ts';
import { isoOf } from '../../base/date.ts';
import { formatSeconds } from '../../base/format.ts';
import { instantOf } from '../../base/instant.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { type RunEntry, readRunEntry } from '../../store/run-entries.ts';
import type { Measures } from '../measure/measure.ts';
import { cutSegments, landmarksOf } from '../measure/slices.ts';
import { steadied, timelineOf } from '../measure/timeline.ts';
import { type Course, find, findAll, type Mark, type Step } from './model-rows.ts';

export interface CourseOptions {
  /** The figures of the recovery (`measure`); undefined for a runbook that recovers nothing. */
  readonly measures?: Measures | undefined;
  /** See `slicesOf`. Without it the picture has no slices. */
  readonly sliceOf?: ((state: string) => TimeSlice | undefined) | undefined;
}

/** The course of the run, moment by moment. Undefined for a journal without times. */
export function courseOf(
  entries: readonly Entry[],
  { measures, sliceOf }: CourseOptions,
): Course | undefined {
  const timeline = timelineOf(entries);
  if (timeline === undefined) return undefined;
  const steady = steadied(entries);
  const incidentMs = instantOf(fieldsOf(find(entries, 'run.started')?.body.input)['incidentAt']);
  const fromMs = Math.min(timeline.firstMs, instantOf(measures?.time.from) ?? incidentMs ?? timeline.firstMs);
  const untilMs = Math.max(timeline.lastMs, fromMs);
  const limit = measures?.objectives.rtoSeconds;
  const marks = sliceOf === undefined ? undefined : landmarksOf(timeline, sliceOf);
  const measuredFrom = instantOf(measures?.time.from) ?? fromMs;
  const span = { fromMs: measuredFrom, untilMs: instantOf(measures?.time.until) ?? untilMs };
  const isMeasured = measures !== undefined && marks !== undefined && sliceOf !== undefined;
  return {
    from: iso(fromMs),
    until: iso(untilMs),
    limitAt: limit === undefined ? undefined : iso(measuredFrom + limit * 1000),
    slices: isMeasured ? joined(cutSegments(timeline, marks, sliceOf, span)) : [],
    steps: stepsOf(steady, untilMs, sliceOf),
    tasks: tasksOf(entries, marks?.skewMs ?? 0),
    marks: [...incidentMark(incidentMs, fromMs), ...marksOf(steady)],
  };
}

/** The incident on the picture, unless it is stated to be after the start of the run. */
function incidentMark(ms: number | undefined, fromMs: number): Course['marks'] {
  return ms === undefined || ms > fromMs
    ? []
    : [{ at: iso(ms), kind: 'incident', text: 'the incident began' }];
}

function joined(segments: ReturnType<typeof cutSegments>): Course['slices'] {
  const pieces: Course['slices'] = [];
  for (const { slice, fromMs, untilMs } of segments) {
    const last = pieces.at(-1);
    if (last?.slice === slice) last.until = iso(untilMs);
    else pieces.push({ slice, from: iso(fromMs), until: iso(untilMs) });
  }
  return pieces;
}

/** The states in order; a state that ended with an answer waited for a person. */
function stepsOf(entries: readonly Entry[], untilMs: number, sliceOf: CourseOptions['sliceOf']): Step[] {
  let lastMs = 0;
  const stays = findAll(entries, 'event').map(({ entry, body: { event, to, title } }) => {
    lastMs = Math.max(lastMs, instantOf(entry.at) ?? lastMs);
    return { state: to, title: title ?? to, atMs: lastMs, type: event.type };
  });
  return stays.map(({ state, title, atMs }, index) => {
    const next = stays[index + 1];
    const endMs = Math.max(atMs, next?.atMs ?? untilMs);
    const slice = sliceOf?.(state);
    return {
      state,
      title,
      from: iso(atMs),
      until: iso(endMs),
      seconds: (endMs - atMs) / 1000,
      waits: next?.type.startsWith('operator.') ?? slice === 'human',
      slice,
    };
  });
}

const TASKS: Readonly<Partial<Record<Verb, string>>> = { waitForRestore: 'restore', waitForBackup: 'backup' };

/** Backups and restores as reported by the service, by this machine's clock. */
function tasksOf(entries: readonly Entry[], skewMs: number): Course['tasks'] {
  return (timelineOf(entries)?.performed ?? []).flatMap(({ verb, output }) => {
    const kind = TASKS[verb as Verb];
    if (kind === undefined) return [];
    const what = `${kind} ${typeof output['id'] === 'number' ? output['id'] : ''}`.trim();
    const [asked, started, done] = ['triggeredAt', 'startedAt', 'finishedAt'].map((field) =>
      instantOf(output[field]),
    );
    if (asked === undefined || done === undefined || done < asked) return [];
    const began = Math.min(done, Math.max(asked, started ?? instantOf(output['seenRunningAt']) ?? asked));
    const piece = (part: 'queue' | 'execute', from: number, until: number) =>
      until > from ? [{ what, kind: part, from: iso(from - skewMs), until: iso(until - skewMs) }] : [];
    return [...piece('queue', asked, began), ...piece('execute', began, done)];
  });
}

function iso(ms: number): string {
  return isoOf(ms);
}

/** The moments of a run: decisions, calls, doubts, trouble, and processes that continued it. */
export function marksOf(entries: readonly Entry[]): Mark[] {
  const doubted = new Set<string>();
  return entries.flatMap((entry) => {
    const known = readRunEntry(entry);
    if (known === undefined) return [];
    if (isDoubt(known)) doubted.add(known.body.intent);
    const said = markOf(known, doubted);
    return said === undefined ? [] : [{ at: entry.at, ...said }];
  });
}

/** Whether the outcome of a call is unknown. An answer that only lacks the id counts as an answer. */
function isDoubt(entry: RunEntry): entry is Extract<RunEntry, { type: 'intent.outcome' }> {
  if (entry.type !== 'intent.outcome') return false;
  return entry.body.sent === 'unknown' && entry.body.failure?.code !== 'service.no-id';
}

function markOf(entry: RunEntry, doubted: ReadonlySet<string>): Omit<Mark, 'at'> | undefined {
  switch (entry.type) {
    case 'answer': {
      const { label, event, reason } = entry.body;
      return { kind: 'decision', text: withReason(label ?? event, reason) };
    }
    case 'intent.armed':
      return { kind: 'armed', text: `sending the request to ${verbTo(entry.body.verb)}` };
    case 'intent.outcome': {
      if (!isDoubt(entry)) return undefined;
      const { failure, verb, refused } = entry.body;
      const answer =
        refused === true
          ? 'it was refused, but the service shows something that it may have caused'
          : failure?.code === 'service.old-id'
            ? 'the answer names nothing new'
            : 'the answer was lost';
      return { kind: 'doubt', text: withReason(`${verbTo(verb)}: ${answer}`, failure?.shortMessage) };
    }
    case 'intent.judged': {
      const { intent, verb, verdict } = entry.body;
      // If no answer was lost, looking for the id is part of the call; only an unclear result is mentioned.
      if (verdict === 'nothing' || (!doubted.has(intent) && verdict === 'landed')) return undefined;
      return { kind: 'doubt', text: `${verbTo(verb)}: what the service shows: ${JUDGED[verdict]}` };
    }
    case 'event': {
      const error = fieldsOf(entry.body.event['error'])['shortMessage'];
      return typeof error === 'string' ? { kind: 'trouble', text: error } : undefined;
    }
    case 'run.paused':
      return { kind: 'trouble', text: `paused for new credentials: ${entry.body.failure.shortMessage}` };
    case 'activity.overdue': {
      const { verb, seconds, limitSeconds } = entry.body;
      const text = `${verbTo(verb)}: overdue, ${formatSeconds(seconds)}, expected ${formatSeconds(limitSeconds)}`;
      return { kind: 'trouble', text };
    }
    case 'run.resumed':
      return { kind: 'resumed', text: `carried on by process ${entry.body.pid}` };
    case 'approval.asked':
      return { kind: 'approval', text: `approval asked for: ${entry.body.order}` };
    case 'approval.given':
      return { kind: 'approval', text: `approved by ${entry.body.approver}` };
    case 'approval.withdrawn':
      return { kind: 'approval', text: withReason(`withdrawn by ${entry.body.approver}`, entry.body.reason) };
    case 'approval.bypassed':
      return { kind: 'break-glass', text: withReason(`BREAK-GLASS: ${entry.body.order}`, entry.body.reason) };
    case 'approval.weakened':
      return {
        kind: 'break-glass',
        text: withReason('BREAK-GLASS: less approval than at the beginning', entry.body.reason),
      };
    default:
      return undefined;
  }
}

const JUDGED = {
  landed: 'it happened',
  absent: 'it did not happen',
  ambiguous: 'it may have happened',
} as const;

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined || reason === '' ? text : `${text}: ${reason}`;
}
