import type { TimeSlice } from '../../../machines/parts/runbook.ts';
import type { Verb } from '../../../machines/verbs.ts';
import { instantOf } from '../../base/instant.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { landmarksOf } from '../measure/landmarks.ts';
import type { Measures } from '../measure/measure.ts';
import { cutSegments } from '../measure/slices.ts';
import { steadied } from '../measure/steadied.ts';
import { timelineOf } from '../measure/timeline.ts';
import { find, findAll } from './found.ts';
import { marksOf } from './marks.ts';
import type { Course, Step } from './model-rows.ts';

export interface CourseOptions {
  /** The recovery in figures (`measure`); none for a runbook that recovers nothing. */
  readonly measures?: Measures | undefined;
  /** See `slicesOf`. Without it the picture has no slices. */
  readonly sliceOf?: ((state: string) => TimeSlice | undefined) | undefined;
}

/** How the run went, moment by moment. Undefined for a journal without a time. */
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
    ...(limit === undefined ? {} : { limitAt: iso(measuredFrom + limit * 1000) }),
    slices: isMeasured ? joined(cutSegments(timeline, marks, sliceOf, span)) : [],
    steps: stepsOf(steady, untilMs, sliceOf),
    tasks: tasksOf(entries, marks?.skewMs ?? 0),
    marks: [...incidentMark(incidentMs, fromMs), ...marksOf(steady)],
  };
}

/** Where the incident lies on the picture: one that was said to come after the start of the run does not. */
function incidentMark(ms: number | undefined, fromMs: number): Course['marks'] {
  return ms === undefined || ms > fromMs
    ? []
    : [{ at: iso(ms), kind: 'incident', text: 'the incident began' }];
}

/** Neighbours of one slice are one piece. */
function joined(segments: ReturnType<typeof cutSegments>): Course['slices'] {
  const pieces: Course['slices'] = [];
  for (const { slice, fromMs, untilMs } of segments) {
    const last = pieces.at(-1);
    if (last?.slice === slice) last.until = iso(untilMs);
    else pieces.push({ slice, from: iso(fromMs), until: iso(untilMs) });
  }
  return pieces;
}

/** The states in their order; one that an answer ended is one that waited for a person. */
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
      ...{ state, title, from: iso(atMs), until: iso(endMs), seconds: (endMs - atMs) / 1000 },
      waits: next?.type.startsWith('operator.') ?? slice === 'human',
      ...(slice === undefined ? {} : { slice }),
    };
  });
}

const TASKS: Readonly<Partial<Record<Verb, string>>> = { waitForRestore: 'restore', waitForBackup: 'backup' };

/** Backups and restores as the service reported them, by this machine's clock. */
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
  return new Date(ms).toISOString();
}
