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

/** The record of the call is lost: nothing is known of the tasks before it. */
export const LostBaseline = z.strictObject({ lost: z.literal(true) });

/** One kind of tasks before another was requested, and the service's clock then. */
const KnownTasks = z.object({
  /** Id and trigger time; milliseconds by the service's clock, null if not reported. */
  tasks: z.array(z.tuple([z.number(), z.number().nullable()])),
  /** Not ended. */
  underWay: z.array(z.number()).default([]),
  skew: Skew.nullable(),
});

/** With `lost`, the empty list means nothing: no task counts as new because of it. */
export const TaskBaseline = z.union([
  LostBaseline.transform(() => ({ tasks: [], underWay: [], skew: null, lost: true as const })),
  KnownTasks,
]);
export type TaskBaseline = z.input<typeof KnownTasks> & { readonly lost?: true };

/** A list may lag this far behind the service's own answer. */
export const LIST_LAG_MS = 60_000;

/** Common to backups and restores (service-api.md sections 2.1 and 2.2). */
export type Task = Pick<Backup, 'id' | 'status' | 'triggered_at'>;

/**
 * `ours`: all that is reported fits. `unreported`: the deciding fact is missing, and may come while the task
 * is under way. `doubtful`: it may be ours, but something contradicts it. `unlikely`: it seems to be
 * another's, but while it exists ours is not proven absent. `other`: it is another's.
 */
export interface Fit {
  readonly is: 'ours' | 'unreported' | 'doubtful' | 'unlikely' | 'other';
  readonly why: string;
}

/**
 * For a person who judges a task. `certain`: it does what was requested, and was triggered after the request
 * by a known clock; only the same request by someone else looks like this. `likely`: nothing contradicts it.
 */
export type Certainty = 'certain' | 'likely' | 'possible' | 'unlikely';

/** After a lost answer. */
export interface Look<Row extends Task> extends Times {
  readonly baseline: TaskBaseline;
  readonly tasks: readonly Row[];
  readonly unread?: readonly UnreadRow[] | undefined;
  /** From the answer with `tasks`. */
  readonly skew: Skew | undefined;
  readonly lost?: InDoubt['lost'];
  readonly refusal?: InDoubt['refusal'];
  /** For ids that the list does not show. */
  readonly beyond?: Beyond<Row> | undefined;
}

/** Tells the tasks of one kind apart. */
export interface Telling<Row extends Task> {
  readonly what: 'backup' | 'restore';
  /** Any new task suffices: a missing or early time is no reason to ask. */
  readonly anyServes: boolean;
  readonly fit: (task: Row) => Fit;
  /** Helps a person to distinguish candidates, besides id, status and time. */
  readonly details?: (task: Row) => Readonly<Record<string, Json>>;
}

/** Not listed before. */
export interface Evaluated {
  readonly task: Task;
  readonly fit: Fit;
  readonly certainty: Certainty;
  /** Everything that it reports about its purpose fits the request. */
  readonly isAlike: boolean;
  readonly details: Readonly<Record<string, Json>>;
  /** From the request to the trigger, by the service's clock; negative if before. */
  readonly distanceMs: number | undefined;
}

/** Considered another's. */
export function isApart({ fit }: Evaluated): boolean {
  return fit.is === 'unlikely' || fit.is === 'other';
}

/** Tasks that were not listed before. */
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

/** A refused request ends with its answer: if forwarded anyway, it arrives as soon as a lost one would. */
function isTooLate(at: number | undefined, look: Look<Task>, clocks: Clocks): boolean {
  if (at === undefined || look.refusal === undefined) return false;
  const late = afterRefusalMs(sinceArming(at, clocks), look);
  return late !== undefined && late > look.inFlightMs;
}

/** From the refusal to the trigger; undefined if unknown. */
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
  /** Triggered before the newest listed one, by the clock that stamped both. */
  readonly isOlder: boolean;
  /** Its id is lower than one listed before. */
  readonly isLower: boolean;
}

/** Two facts that need no clock of ours: tasks and answers may be stamped by different clocks. */
function orderOf(
  id: number,
  at: number | undefined,
  { tasks }: TaskBaseline,
): Pick<Marks, 'isOlder' | 'isLower'> {
  const isOlder =
    at !== undefined && tasks.some(([, then]) => then !== null && at < then && !isSameInstant(at, then));
  return { isOlder, isLower: tasks.some(([before]) => id < before) };
}

/** Combines the content of a task with its time and id. */
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
  // No proof that it is another's: tasks may be stamped by another clock than answers.
  if (when === 'before')
    return { is: 'unlikely', why: 'it was triggered before the request, but not listed then' };
  if (fit.is !== 'ours') return fit;
  if (isReused) return { is: 'doubtful', why: 'its id was listed before, with another time' };
  if (anyServes || when === 'after') return fit;
  if (at === undefined) return { is: 'unreported', why: 'when it was triggered is not reported' };
  return { is: 'doubtful', why: 'the clock of the service is not known, so its time says nothing' };
}

/** By distance from the request, since only some are kept. */
export function nearestFirst(evaluated: readonly Evaluated[]): readonly Evaluated[] {
  const far = ({ distanceMs }: Evaluated) => Math.abs(distanceMs ?? Number.MAX_VALUE);
  return evaluated.toSorted((one, other) => far(one) - far(other));
}

/** For a person, and for the evidence. */
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

/** Accepted without a new task id. */
export function wasAccepted(lost: InDoubt['lost']): boolean {
  return lost?.code === 'service.no-id' || lost?.code === 'service.old-id';
}

/**
 * Nothing in the answer contradicts a new task being ours. An answer with an old id may be a cached copy of
 * an earlier one.
 */
export function wasPlainlyAccepted(lost: InDoubt['lost']): boolean {
  return lost?.code === 'service.no-id';
}

/**
 * The service itself said that such a task is already under way (409, service-api.md section 4.2 item 2).
 * This does not prove that nothing was done, since the first of two sends of a router may have arrived. A
 * proxy's own words do not count.
 */
export function isRefusal(lost: InDoubt['lost']): boolean {
  if (lost?.code !== 'service.conflict') return false;
  const { word, text } = lost.evidence;
  return typeof word === 'string' ? /^[\w.-]+$/u.test(word) : typeof text === 'string';
}

/** For ids that the list does not show: `none` if the service knows none of the next ones. */
type Beyond<Row> = 'none' | 'not asked' | readonly Row[];

/** Why a list does not prove that a task is absent. */
export type Gap<Row> =
  | { readonly is: 'lost'; readonly id: number }
  | { readonly is: 'short' }
  | { readonly is: 'unread'; readonly id: number | undefined }
  | { readonly is: 'left-out'; readonly rows: readonly Row[] };

/**
 * Undefined if the list would have shown the task. It must hold what it held before, and extend to the time
 * of the call: a service may list only its newest tasks, or only its oldest. Only a list of backups may lose
 * its oldest rows, since old backups are deleted. Whether it extends far enough is found by asking for the
 * ids that come next, because tasks may be stamped by another clock. Pure.
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

/** Listed before, and now missing without a known reason. */
function lostRow(before: Listed, ids: readonly number[], what: 'backup' | 'restore'): number | undefined {
  const now = new Set(ids);
  const inOrder = before.toSorted(
    ([id, at], [otherId, otherAt]) => (at ?? 0) - (otherAt ?? 0) || id - otherId,
  );
  const oldest = inOrder.findIndex(([id]) => now.has(id));
  const kept = what === 'backup' && oldest > 0 ? inOrder.slice(oldest) : inOrder;
  return kept.findLast(([id]) => !now.has(id))?.[0];
}

/** Ids that are asked for after the last known one. */
const NEXT_IDS = 3;
/** The limit of ids in one look. */
const MAX_IDS = 20;

/** If `judge` found that the list may be short. Works only if ids are consecutive. */
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

/** For a task since the call; undefined if ids have gaps. */
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

/** Undefined if the service knows no such task, `not asked` if its answer does not tell. */
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
