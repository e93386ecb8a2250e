import * as z from 'zod';
import { failureOf } from '../base/errors.ts';
import { formatSeconds } from '../base/format.ts';
import { instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { Answer, ServiceClient } from '../service/client.ts';
import type { UnreadRow } from '../service/rows.ts';
import type { Backup } from '../service/schemas.ts';
import type { Json } from '../store/journal.ts';
import type { InDoubt, Judgement } from './activity.ts';
import { type Clocks, isSameInstant, Skew, side, sinceArming, type Times } from './clocks.ts';

/** Stands in for the baseline of a call whose record is lost: nothing is known of what was there before. */
export const LostBaseline = z.strictObject({ lost: z.literal(true) });

/** The tasks of one kind before another was requested, and the service's clock then. */
const KnownTasks = z.object({
  /** Id and trigger time of every task; milliseconds by the service's clock, null if not reported. */
  tasks: z.array(z.tuple([z.number(), z.number().nullable()])),
  /** Which of them had not ended. */
  underWay: z.array(z.number()).default([]),
  skew: Skew.nullable(),
});

/** With `lost`, the empty list means nothing: no task counts as new because of it. */
export const TaskBaseline = z.union([
  LostBaseline.transform(() => ({ tasks: [], underWay: [], skew: null, lost: true as const })),
  KnownTasks,
]);
export type TaskBaseline = z.input<typeof KnownTasks> & { readonly lost?: true };

/** How far a list may lag behind the service's own answer. */
export const LIST_LAG_MS = 60_000;

/** What backups and restores have in common (service-api.md sections 2.1 and 2.2). */
export type Task = Pick<Backup, 'id' | 'status' | 'triggered_at'>;

/**
 * How a new task relates to the request. `ours`: all that is reported fits. `unreported`: the deciding fact
 * is missing, and may come while the task is under way. `doubtful`: it may be ours, but something contradicts
 * it. `unlikely`: it seems to be another's, but while it exists ours is not proven absent. `other`: it is
 * another's.
 */
export interface Fit {
  readonly is: 'ours' | 'unreported' | 'doubtful' | 'unlikely' | 'other';
  readonly why: string;
}

/**
 * How certain it is that a task is ours, for a person who judges it. `certain`: it does what was requested,
 * and was triggered after the request by a known clock; only the same request by someone else looks like
 * this. `likely`: nothing contradicts it.
 */
export type Certainty = 'certain' | 'likely' | 'possible' | 'unlikely';

/** A look at the service's list after a lost answer. */
export interface Look<Row extends Task> extends Times {
  readonly baseline: TaskBaseline;
  readonly tasks: readonly Row[];
  readonly unread?: readonly UnreadRow[] | undefined;
  /** The service's clock, from the answer with `tasks`. */
  readonly skew: Skew | undefined;
  readonly lost?: InDoubt['lost'];
  readonly refusal?: InDoubt['refusal'];
  /** The service's answer about ids that the list does not show. */
  readonly beyond?: Beyond<Row> | undefined;
}

/** How tasks of one kind are told apart. */
export interface Telling<Row extends Task> {
  readonly what: 'backup' | 'restore';
  /** True if any new task suffices: then a missing or early time is no reason to ask. */
  readonly anyServes: boolean;
  readonly fit: (task: Row) => Fit;
  /** What a person needs to distinguish candidates, besides id, status and time. */
  readonly details?: (task: Row) => Readonly<Record<string, Json>>;
}

/** A judged task that was not listed before. */
export interface Evaluated {
  readonly task: Task;
  readonly fit: Fit;
  readonly certainty: Certainty;
  /** Whether everything it reports about its purpose fits the request. */
  readonly isAlike: boolean;
  readonly details: Readonly<Record<string, Json>>;
  /** How long after the request it was triggered, by the service's clock; negative if before. */
  readonly distanceMs: number | undefined;
}

/** Whether it is considered another's. */
export function isApart({ fit }: Evaluated): boolean {
  return fit.is === 'unlikely' || fit.is === 'other';
}

/** Every task that was not listed before, with its relation to the request. */
export function newTasks<Row extends Task>(
  look: Look<Row>,
  telling: Telling<Row>,
  clocks: Clocks,
): Evaluated[] {
  const before = Map.groupBy(look.baseline.tasks, ([id]) => id);
  const seen = new Set<string>();
  return look.tasks.flatMap((task) => {
    const at = instantOf(task.triggered_at);
    const key = `${task.id} ${at}`;
    if (seen.has(key)) return [];
    seen.add(key);
    const namesakes = before.get(task.id);
    if (namesakes?.some(([, then]) => then === null || at === undefined || isSameInstant(then, at)))
      return [];
    const content = isTooLate(at, look, clocks) ? TOO_LATE : telling.fit(task);
    const order = orderOf(task.id, at, look.baseline);
    const fit = evaluate(content, { at, isReused: namesakes !== undefined, ...order }, telling, clocks);
    const isTimely = at !== undefined && side(at, clocks) === 'after';
    const certainty = grade(fit, content, isTimely, telling);
    const distanceMs = at === undefined ? undefined : sinceArming(at, clocks);
    return [
      {
        task,
        fit,
        certainty,
        isAlike: content.is === 'ours',
        details: telling.details?.(task) ?? {},
        distanceMs,
      },
    ];
  });
}

const TOO_LATE: Fit = {
  is: 'other',
  why: 'it was triggered when the refused request could no longer be under way',
};

/**
 * A refused request ends with its answer: if it was forwarded nevertheless, it arrives within the time in
 * which a lost one would.
 */
function isTooLate(at: number | undefined, look: Look<Task>, clocks: Clocks): boolean {
  if (at === undefined || look.refusal === undefined) return false;
  const late = afterRefusalMs(sinceArming(at, clocks), look);
  return late !== undefined && late > look.inFlightMs;
}

/** Milliseconds from the refusal to the trigger of a task; undefined if unknown. */
export function afterRefusalMs(distanceMs: number | undefined, look: Look<Task>): number | undefined {
  const { armedAtMs, firstArmedAtMs = armedAtMs, lostAtMs = armedAtMs } = look;
  return distanceMs === undefined ? undefined : distanceMs - (lostAtMs - firstArmedAtMs);
}

function grade(
  fit: Fit,
  content: Fit,
  isTimely: boolean,
  { anyServes }: Pick<Telling<never>, 'anyServes'>,
): Certainty {
  if (fit.is === 'unlikely' || fit.is === 'other') return 'unlikely';
  if (content.is !== 'ours') return 'possible';
  // A backup does not say who requested it: a scheduled one at that moment looks the same.
  if (anyServes) return isTimely ? 'likely' : 'possible';
  if (fit.is === 'ours') return isTimely ? 'certain' : 'likely';
  return isTimely ? 'possible' : 'likely';
}

interface Marks {
  readonly at: number | undefined;
  readonly isReused: boolean;
  /** By the clock that stamped both, it was triggered before the newest listed one. */
  readonly isOlder: boolean;
  /** Its id is lower than that of one listed before. */
  readonly isLower: boolean;
}

/**
 * How a task compares to those listed before, by two facts that need no clock of ours: the clock that stamps
 * tasks may differ from that of the answers.
 */
function orderOf(
  id: number,
  at: number | undefined,
  { tasks }: TaskBaseline,
): Pick<Marks, 'isOlder' | 'isLower'> {
  const isOlder =
    at !== undefined && tasks.some(([, then]) => then !== null && at < then && !isSameInstant(at, then));
  return { isOlder, isLower: tasks.some(([before]) => id < before) };
}

/** Combines what the content of a task says with its time and id. */
function evaluate(
  fit: Fit,
  { at, isReused, isOlder, isLower }: Marks,
  { anyServes }: Pick<Telling<never>, 'anyServes'>,
  clocks: Clocks,
): Fit {
  if (fit.is === 'other') return fit;
  const when = at === undefined ? 'unknown' : side(at, clocks);
  if (isOlder && anyServes) {
    return {
      is: isLower ? 'other' : 'unlikely',
      why: 'it was triggered before others that were listed already, but not listed then',
    };
  }
  // A list of the newest tasks shows an older one again after another was deleted.
  if (at === undefined && isLower && !isReused)
    return { is: 'unlikely', why: 'its id is lower than one that was listed already, but not listed then' };
  // Never proof that it is another's: tasks may be stamped by another clock than answers.
  if (when === 'before')
    return { is: 'unlikely', why: 'it was triggered before the request, but not listed then' };
  if (fit.is !== 'ours') return fit;
  if (isReused) return { is: 'doubtful', why: 'its id was listed before, with another time' };
  if (anyServes || when === 'after') return fit;
  if (at === undefined) return { is: 'unreported', why: 'when it was triggered is not reported' };
  return { is: 'doubtful', why: 'the clock of the service is not known, so its time says nothing' };
}

/** The tasks triggered nearest to the request first, since only some are kept. */
export function nearestFirst(evaluated: readonly Evaluated[]): readonly Evaluated[] {
  const far = ({ distanceMs }: Evaluated) => Math.abs(distanceMs ?? Number.MAX_VALUE);
  return evaluated.toSorted((one, other) => far(one) - far(other));
}

/** A task as shown to a person, and kept as evidence. */
export function toLine({ task, fit, certainty, details, distanceMs }: Evaluated) {
  return {
    id: task.id,
    status: show(task.status, 40),
    triggeredAt: task.triggered_at === undefined ? null : show(task.triggered_at, 40),
    ...details,
    certainty,
    why: fit.why,
    ...(distanceMs === undefined
      ? {}
      : { secondsFromRequest: distanceMs / 1_000, fromRequest: distanceWords(distanceMs) }),
  };
}

/** Both clocks are known to about a second, and the service may truncate its times to whole ones. */
function distanceWords(distanceMs: number): string {
  const seconds = Math.round(Math.abs(distanceMs) / 1_000);
  if (seconds <= 1) return 'at the moment of the request';
  return `${formatSeconds(seconds)} ${distanceMs < 0 ? 'before' : 'after'} the request`;
}

/** Whether the service accepted the request without returning a new task id. */
export function wasAccepted(lost: InDoubt['lost']): boolean {
  return lost?.code === 'service.no-id' || lost?.code === 'service.old-id';
}

/**
 * Whether it accepted the request and returned nothing that contradicts a new task being ours. An answer with
 * an old id may be a cached copy of an earlier one.
 */
export function wasPlainlyAccepted(lost: InDoubt['lost']): boolean {
  return lost?.code === 'service.no-id';
}

/**
 * Whether the service itself said that such a task is already under way (409, service-api.md section 4.2 item
 * 2). This does not prove that nothing was done, since the first of two sends of a router may have arrived. A
 * proxy's own words do not count.
 */
export function isRefusal(lost: InDoubt['lost']): boolean {
  if (lost?.code !== 'service.conflict') return false;
  const { word, text } = lost.evidence;
  return typeof word === 'string' ? /^[\w.-]+$/u.test(word) : typeof text === 'string';
}

/** The service's answer about ids that its list does not show: `none` if it knows none of the next ones. */
type Beyond<Row> = 'none' | 'not asked' | readonly Row[];

/** Why a list does not prove that a task is absent; undefined if it would have shown the task. */
export type Gap<Row> =
  | { readonly is: 'lost'; readonly id: number }
  | { readonly is: 'short' }
  | { readonly is: 'unread'; readonly id: number | undefined }
  | { readonly is: 'left-out'; readonly rows: readonly Row[] };

/**
 * Whether a list would have shown a requested task. It must hold what it held before, and extend to the time
 * of the call: a service may list only its newest tasks, or only its oldest. Only a list of backups may lose
 * its oldest rows, since old backups are deleted. Whether it extends far enough is determined by asking for
 * the ids that come next: times are unreliable, since tasks may be stamped by another clock. Pure.
 */
export function gapOf<Row extends Task>(
  { baseline, tasks, refusal, beyond = 'not asked', unread = [] }: Look<Row>,
  what: 'backup' | 'restore',
): Gap<Row> | undefined {
  const ids = [...tasks, ...unread].flatMap(({ id }) => id ?? []);
  const lost = lostRow(baseline.tasks, ids, what);
  if (lost !== undefined) return { is: 'lost', id: lost };
  // It may be the requested task.
  const odd = unread.find(({ id }) => !baseline.tasks.some(([before]) => before === id));
  if (odd !== undefined) return { is: 'unread', id: odd.id };
  if (typeof beyond !== 'string') return { is: 'left-out', rows: beyond };
  // An answer already said that nothing was done, so the list alone need not prove it.
  if (beyond === 'none' || refusal === 'unchecked') return undefined;
  return baseline.tasks.length === 0 && tasks.length === 0 ? undefined : { is: 'short' };
}

type Listed = readonly (readonly [id: number, atMs: number | null])[];

/** A task that was listed before and is now missing without a known reason. */
function lostRow(before: Listed, ids: readonly number[], what: 'backup' | 'restore'): number | undefined {
  const now = new Set(ids);
  const inOrder = before.toSorted(
    ([id, at], [otherId, otherAt]) => (at ?? 0) - (otherAt ?? 0) || id - otherId,
  );
  const oldest = inOrder.findIndex(([id]) => now.has(id));
  const kept = what === 'backup' && oldest > 0 ? inOrder.slice(oldest) : inOrder;
  return kept.findLast(([id]) => !now.has(id))?.[0];
}

/** How many of the ids after the last one are requested. */
const NEXT_IDS = 3;
/** The maximum number of ids requested in one look. */
const MAX_IDS = 20;

/**
 * Asks the service for the tasks after those of its list, if `judge` found that the list may be short. This
 * works only if ids are consecutive.
 */
export async function lookingBeyond<Row extends Task, Output>(
  service: Pick<ServiceClient, 'backup' | 'restore' | 'limits'>,
  what: 'backup' | 'restore',
  look: Look<Row>,
  { signal }: { readonly signal: AbortSignal },
  judge: (look: Look<Row>) => Judgement<Output>,
): Promise<Judgement<Output>> {
  const judged = judge(look);
  const isShort = judged.verdict === 'ambiguous' && judged.failure.code === 'doubt.list-short';
  // V0 has a single list for everything it reports about tasks.
  if (!isShort || service.limits !== undefined) return judged;
  const next = nextIds(
    look.baseline.tasks.map(([id]) => id),
    look.tasks.map(({ id }) => id),
  );
  if (next === undefined) return judged;
  const read = async (id: number) => (await service[what](id, signal)) as unknown as Answer<Row>;
  // A service that knows no task by its id would not know ours either.
  if ((await known(() => read(next.newest))) === undefined) return judged;
  const found: Row[] = [];
  let unknownSince = next.newest;
  for (let id = next.first; id <= unknownSince + NEXT_IDS; id += 1) {
    if (next.listed.has(id)) continue;
    if (id - next.first > MAX_IDS) return judged;
    const task = await known(() => read(id));
    if (task === 'not asked') return judged;
    if (task === undefined) continue;
    found.push(task);
    unknownSince = Math.max(unknownSince, id);
  }
  return judge({ ...look, beyond: found.length === 0 ? 'none' : found });
}

/** The first ids that a task since the call may have; undefined if ids have gaps. */
function nextIds(before: readonly number[], now: readonly number[]) {
  const listed = new Set(now);
  const ids = [...new Set([...before, ...now])].toSorted((one, other) => one - other);
  const newest = ids.at(-1);
  if (newest === undefined) return undefined;
  const inRow = ids.length === 1 || before.length === 0 ? [0, ...ids] : ids;
  if (inRow.some((id, index) => index > 0 && id - (inRow[index - 1] ?? 0) > 2)) return undefined;
  return {
    newest,
    first: before.length === 0 ? 1 : before.reduce((one, other) => Math.max(one, other)) + 1,
    listed,
  };
}

/** A task by its id; undefined if the service knows none, `not asked` if its answer does not tell. */
async function known<Row>(read: () => Promise<Answer<Row>>): Promise<Row | undefined | 'not asked'> {
  try {
    return (await read()).value;
  } catch (thrown) {
    const { code } = failureOf(thrown);
    if (code === 'service.not-found') return undefined;
    if (code === 'service.forbidden' || code === 'service.unsupported') return 'not asked';
    throw thrown;
  }
}
