import { formatSeconds } from '../base/format.ts';
import { instantOf, msOf } from '../base/instant.ts';
import type { ActivityContext, Overdue, Progress } from './activity.ts';

/** The service's times of a finished task; each may be missing. */
export interface Timed {
  readonly status: string;
  readonly triggered_at?: string | undefined;
  readonly started_at?: string | undefined;
  readonly finished_at?: string | undefined;
}

/** A task waits for its turn, or for its end. */
export type Stage = 'queued' | 'running';

export interface Expectation {
  /** In a sentence: `backups`. */
  readonly what: string;
  /**
   * Tasks of the same kind and instance. Read once, in parallel to the task, and only after some time; its
   * errors are ignored, and until it resolves nothing is overdue.
   */
  readonly earlier?: (() => Promise<readonly Timed[]>) | undefined;
  /** Milliseconds. */
  readonly rtoMs?: number | undefined;
  /** Used without a history or an objective. */
  readonly defaultSeconds: number;
}

export interface Limit {
  readonly seconds: number;
  readonly basis: Overdue['basis'];
  readonly detail: string;
}

/** The shortest limit, whatever the history says: queues and networks vary. */
const MIN_BY_HISTORY = 60;
const MIN_BY_OBJECTIVE = 10;
const MAX = 86_400;
/** Only the newest tasks count, since instances grow. */
const COUNTED = 20;

/**
 * Counts from the service's times, by this machine's clock, but never from later than when the task was first
 * seen in its stage.
 */
export function watchdog(expected: Expectation, { now, begunAt }: Pick<ActivityContext, 'now' | 'begunAt'>) {
  const firstMs = now().getTime();
  const seen = new Map<Stage, number>();
  let isAsked = false;
  // Without a list to read, the limit is known at once.
  let tasks: readonly Timed[] | undefined = expected.earlier === undefined ? [] : undefined;
  const ask = async () => {
    isAsked = true;
    tasks = await expected.earlier?.().catch(() => []);
  };
  return (stage: Stage, reportedMs?: number): Overdue | undefined => {
    const nowMs = now().getTime();
    const seenMs = seen.get(stage) ?? nowMs;
    seen.set(stage, seenMs);
    const sinceMs = Math.min(seenMs, reportedMs ?? seenMs);
    if (nowMs - sinceMs <= MIN_BY_OBJECTIVE * 1_000) return undefined;
    if (tasks === undefined && !isAsked) void ask();
    // A list that does not answer must not delay the look that shows the end.
    if (tasks === undefined) return undefined;
    const leftMs =
      expected.rtoMs === undefined || begunAt === undefined
        ? undefined
        : expected.rtoMs - (firstMs - msOf(begunAt));
    return overdueSince(sinceMs, nowMs, limitFrom(tasks, stage, expected, leftMs));
  };
}

/** Each doubling counts as another limit, so that a task that never ends is reported less and less often. */
export function overdueSince(sinceMs: number, nowMs: number, limit: Limit): Overdue | undefined {
  const seconds = (nowMs - sinceMs) / 1_000;
  if (seconds <= limit.seconds) return undefined;
  const doublings = Math.floor(Math.log2(seconds / limit.seconds));
  return {
    seconds,
    overSeconds: seconds - limit.seconds,
    limitSeconds: limit.seconds * 2 ** doublings,
    basis: limit.basis,
    detail: limit.detail,
  };
}

/**
 * From the history of finished tasks: three times the median, or one and a half times the longest unless that
 * is an outlier; else what is left of the objective (`leftMs`, from the start of the wait); else the default.
 */
export function limitFrom(
  tasks: readonly Timed[],
  stage: Stage,
  { what, rtoMs = 0, defaultSeconds }: Expectation,
  leftMs: number | undefined,
): Limit {
  // The service promises no order.
  const took = tasks
    .toSorted((one, other) => (instantOf(one.finished_at) ?? 0) - (instantOf(other.finished_at) ?? 0))
    .flatMap((task) => secondsOf(task, stage))
    .slice(-COUNTED);
  const sorted = took.toSorted((one, other) => one - other);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  const shortest = sorted[0];
  const longest = sorted.at(-1);
  if (middle !== undefined && shortest !== undefined && longest !== undefined) {
    const wide = Math.max(3 * middle, Math.min(1.5 * longest, 10 * middle));
    const isWhole = stage === 'queued' && tasks.some(({ started_at }) => started_at === undefined);
    const verb = stage === 'queued' && !isWhole ? 'waited for their turn' : 'took';
    const range =
      formatSeconds(shortest) === formatSeconds(longest)
        ? formatSeconds(longest)
        : `${formatSeconds(shortest)} to ${formatSeconds(longest)}`;
    const wait = isWhole ? ', their wait included' : '';
    const detail =
      `the last ${sorted.length} finished ${what} ${verb} ${range}${wait}, ` +
      `median ${formatSeconds(middle)}`;
    const one = `the last finished one of the ${what} ${verb} ${formatSeconds(longest)}${wait}`.replace(
      ' their ',
      ' its ',
    );
    return {
      seconds: Math.min(MAX, Math.max(MIN_BY_HISTORY, wide)),
      basis: 'history',
      detail: sorted.length === 1 ? one : detail,
    };
  }
  if (leftMs !== undefined) {
    const objective = formatSeconds(rtoMs / 1_000);
    return {
      seconds: Math.max(MIN_BY_OBJECTIVE, leftMs / 1_000),
      basis: 'objective',
      detail:
        leftMs > MIN_BY_OBJECTIVE * 1_000
          ? `that much was left of the objective (RTO ${objective}); no finished ${what} show how long one takes here`
          : `the objective (RTO ${objective}) is used up; no finished ${what} show how long one takes here`,
    };
  }
  return {
    seconds: defaultSeconds,
    basis: 'default',
    detail: `no finished ${what} show how long one takes here`,
  };
}

/**
 * Empty if the service does not tell, or reports something impossible. If it does not say when a task was
 * picked up, as revision 62 does not, the whole time stands for either stage: neither was longer.
 */
function secondsOf({ status, triggered_at, started_at, finished_at }: Timed, stage: Stage): number[] {
  if (status !== 'done') return [];
  const [triggered, started, finished] = [triggered_at, started_at, finished_at].map(instantOf);
  const begin = stage === 'queued' ? triggered : (started ?? triggered);
  const end = stage === 'queued' ? (started ?? finished) : finished;
  return begin === undefined || end === undefined || end < begin ? [] : [(end - begin) / 1_000];
}

/**
 * If nothing has changed for the limit, repeats the last report as overdue. `stop` ends it; until then a
 * timer runs that keeps no process alive.
 */
export function watchProgress(
  { report, now }: Pick<ActivityContext, 'report' | 'now'>,
  limit: Limit,
): { readonly report: (progress: Progress) => void; readonly stop: () => void } {
  let last: Progress | undefined;
  let sinceMs = now().getTime();
  let timer: NodeJS.Timeout | undefined;
  const arm = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const overdue = overdueSince(sinceMs, now().getTime(), limit);
      if (last !== undefined && overdue !== undefined) report({ ...last, overdue });
      arm(overdue === undefined ? 1_000 : Math.min(overdue.limitSeconds * 1_000, MAX * 1_000));
    }, ms).unref();
  };
  arm(limit.seconds * 1_000 + 10);
  return {
    report: (progress) => {
      const isNew = JSON.stringify(progress) !== JSON.stringify(last);
      last = progress;
      if (isNew) {
        sinceMs = now().getTime();
        arm(limit.seconds * 1_000 + 10);
      }
      const overdue = isNew ? undefined : overdueSince(sinceMs, now().getTime(), limit);
      report(overdue === undefined ? progress : { ...progress, overdue });
    },
    stop: () => clearTimeout(timer),
  };
}
