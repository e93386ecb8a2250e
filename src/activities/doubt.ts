import { z } from 'zod';
import type { Triggered } from '../../machines/parts/verbs.ts';
import { LifeboatError } from '../errors.ts';
import { formatSeconds } from '../format.ts';
import type { Json } from '../journal/journal.ts';
import type { Backup } from '../service/schemas.ts';
import { show } from '../text.ts';
import type { InDoubt, Judgement } from './activity.ts';
import {
  type Clocks,
  clockSentence,
  elapsedMs,
  instantOf,
  isSameInstant,
  nextLook,
  Skew,
  side,
  sinceArming,
} from './clocks.ts';

/** The tasks of one kind before another was asked for, and the clock of the service then. */
export const TaskBaseline = z.object({
  /** Id and trigger time of every task that was listed. Milliseconds since 1970 by the service's clock, null when not told. */
  tasks: z.array(z.tuple([z.number(), z.number().nullable()])),
  skew: Skew.nullable(),
});
export type TaskBaseline = z.infer<typeof TaskBaseline>;

/** What backups and restores have in common (service-api.md sections 2.1 and 2.2). */
export type Task = Pick<Backup, 'id' | 'status' | 'triggered_at'>;

/**
 * What a new task is to the request. `ours`: all that is told fits. `untold`: what would tell is missing, and may come while
 * the task is under way. `doubtful`: it may be ours, and something speaks against it. `unlikely`: it seems to be another's, but
 * while it is there ours is not proven absent. `other`: it is another's.
 */
export interface Fit {
  readonly is: 'ours' | 'untold' | 'doubtful' | 'unlikely' | 'other';
  readonly why: string;
}

/**
 * How sure it is that a task is ours, for a person who weighs it. `certain`: what it does is what was asked for, and it was triggered after
 * the request by a clock that is known; only the very same request of somebody else looks so. `likely`: nothing speaks against it.
 */
export type Certainty = 'certain' | 'likely' | 'possible' | 'unlikely';

/** A look at the service's list after a lost answer. Times of this machine, in milliseconds since 1970. */
export interface Look<Row extends Task> {
  readonly baseline: TaskBaseline;
  readonly armedAtMs: number;
  readonly nowMs: number;
  readonly settleMs: number;
  readonly tasks: readonly Row[];
  /** The service's clock by the answer that holds `tasks`. */
  readonly skew: Skew | undefined;
  readonly lost?: InDoubt['lost'];
}

/** How tasks of one kind are told apart. */
export interface Telling<Row extends Task> {
  readonly what: 'backup' | 'restore';
  /** True when any fresh task serves as well as ours: a time that is missing or too early is then no reason to ask. */
  readonly anyServes: boolean;
  readonly fit: (task: Row) => Fit;
  /** What a person needs to tell candidates apart, besides id, status and time. */
  readonly details?: (task: Row) => Readonly<Record<string, Json>>;
}

const SHOWN = 20;
/** So far a list may be behind the service's own answer. */
const LIST_LAG_MS = 60_000;
const UNDER_WAY: ReadonlySet<string> = new Set(['queued', 'running']);

/**
 * Decides what became of a lost request for a backup, from the service's list alone: any fresh one serves, even a scheduled one,
 * since it was made after everything that the run had done before. Pure.
 */
export function judgeBackup(look: Look<Backup>): Judgement<Triggered> {
  return judgeTask(look, { what: 'backup', anyServes: true, fit: () => ({ is: 'ours', why: 'it is new' }) });
}

/**
 * Decides what became of a lost request for a task, from the service's list alone. Exactly one new task, and it fits: it landed. None:
 * wait until a request can no longer be under way, then it is absent. Everything else is for a person, with every candidate
 * and the reasons in hand. Pure.
 */
export function judgeTask<Row extends Task>(look: Look<Row>, telling: Telling<Row>): Judgement<Triggered> {
  const clocks = clocksOf(look);
  const weighed = newTasks(look, telling, clocks);
  const candidates = nearestFirst(weighed).filter(({ fit }) => fit.is !== 'unlikely' && fit.is !== 'other');
  const others = weighed.filter(({ fit }) => fit.is === 'unlikely' || fit.is === 'other').map(toLine);
  const clock = clockSentence(clocks);
  const shown = { candidates: candidates.slice(0, SHOWN).map(toLine), others: others.slice(0, SHOWN), clock };
  const [only, another] = candidates;
  if (only !== undefined && another === undefined && only.fit.is === 'ours') {
    return {
      verdict: 'landed',
      output: { landed: true, id: only.task.id, adopted: true },
      evidence: { candidate: toLine(only), certainty: only.certainty, others: shown.others, clock },
    };
  }
  if (another !== undefined)
    return ask('ambiguous', `the service shows ${candidates.length} new ${telling.what}s`, shown);
  const next = nextLook(clocks);
  const mayStillTell =
    only === undefined || (only.fit.is === 'untold' && UNDER_WAY.has(only.task.status.toLowerCase()));
  if (next !== undefined && mayStillTell) return { verdict: 'wait', ...next };
  if (only !== undefined)
    return ask('ambiguous', `${telling.what} ${only.task.id} may be ours: ${only.fit.why}`, shown);
  return nothingFits(look, telling.what, weighed, clocks);
}

interface Weighed {
  readonly task: Task;
  readonly fit: Fit;
  readonly certainty: Certainty;
  readonly details: Readonly<Record<string, Json>>;
  /** How long after the request it was triggered, by the clock of the service; less than zero for before. */
  readonly distanceMs: number | undefined;
}

/** Every task that was not listed before, and what it is to the request. */
function newTasks<Row extends Task>(look: Look<Row>, telling: Telling<Row>, clocks: Clocks): Weighed[] {
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
    const content = telling.fit(task);
    const fit = weigh(content, { at, isReused: namesakes !== undefined }, telling, clocks);
    const isTimely = at !== undefined && side(at, clocks) === 'after';
    const certainty = grade(fit, content, isTimely, telling);
    const distanceMs = at === undefined ? undefined : sinceArming(at, clocks);
    return [{ task, fit, certainty, details: telling.details?.(task) ?? {}, distanceMs }];
  });
}

function grade(
  fit: Fit,
  content: Fit,
  isTimely: boolean,
  { anyServes }: Pick<Telling<never>, 'anyServes'>,
): Certainty {
  if (fit.is === 'unlikely' || fit.is === 'other') return 'unlikely';
  if (content.is !== 'ours') return 'possible';
  // A backup says nothing of who asked for it: a scheduled one at that moment looks the same.
  if (anyServes) return isTimely ? 'likely' : 'possible';
  if (fit.is === 'ours') return isTimely ? 'certain' : 'likely';
  return isTimely ? 'possible' : 'likely';
}

/** What the time and the id of a task say, on top of what its content says. */
function weigh(
  fit: Fit,
  { at, isReused }: { readonly at: number | undefined; readonly isReused: boolean },
  { anyServes }: Pick<Telling<never>, 'anyServes'>,
  clocks: Clocks,
): Fit {
  if (fit.is === 'other') return fit;
  const when = at === undefined ? 'unknown' : side(at, clocks);
  if (when === 'before') {
    return {
      is: anyServes ? 'other' : 'unlikely',
      why: 'it was triggered before the request, but not listed then',
    };
  }
  if (fit.is !== 'ours') return fit;
  if (isReused) return { is: 'doubtful', why: 'its id was listed before, with another time' };
  if (anyServes || when === 'after') return fit;
  if (at === undefined) return { is: 'untold', why: 'when it was triggered is not told' };
  return { is: 'doubtful', why: 'the clock of the service is not known, so its time says nothing' };
}

/** No candidate, and the request can no longer be under way. Absent only when nothing at all speaks against it. */
function nothingFits(
  { baseline, tasks, lost }: Look<Task>,
  what: string,
  weighed: readonly Weighed[],
  clocks: Clocks,
): Judgement<Triggered> {
  const unlikely = nearestFirst(weighed)
    .filter(({ fit }) => fit.is === 'unlikely')
    .map(toLine);
  const waitedMs = elapsedMs(clocks);
  const clock = clockSentence(clocks);
  const evidence = { listed: tasks.length, waitedMs, others: weighed.slice(0, SHOWN).map(toLine), clock };
  if (unlikely.length > 0) {
    const candidates = unlikely.slice(0, SHOWN);
    return ask('ambiguous', `no new ${what} is surely ours, and ${unlikely.length} may be`, {
      candidates,
      clock,
    });
  }
  if (wasAccepted(lost))
    return ask('not-listed', `the service accepted the request, but lists no such ${what}`, evidence);
  const newest = baseline.tasks
    .toSorted(([id, at], [otherId, otherAt]) => (at ?? 0) - (otherAt ?? 0) || id - otherId)
    .at(-1);
  if (newest !== undefined && !tasks.some(({ id }) => id === newest[0]))
    return ask(
      'list-changed',
      `the list no longer shows ${what} ${newest[0]}, so it proves nothing`,
      evidence,
    );
  // Without a clock of the service the waiting was measured by one that may have been set.
  const certainty: Certainty =
    clocks.skewBefore !== null && clocks.skewNow !== undefined ? 'certain' : 'likely';
  return { verdict: 'absent', evidence: { ...evidence, certainty } };
}

function ask(
  word: 'ambiguous' | 'not-listed' | 'list-changed',
  finding: string,
  evidence: LifeboatError['evidence'],
): Judgement<never> {
  const failure = new LifeboatError(`doubt.${word}`, `the answer was lost, and ${finding}`, {
    hints: [
      word === 'ambiguous'
        ? 'adopt one of them, or look again; nothing is sent until you decide'
        : 'look again, or ask whoever runs the service; nothing is sent until you decide',
      String(evidence?.['clock'] ?? ''),
    ].filter((hint) => hint !== ''),
    evidence,
  });
  return { verdict: 'ambiguous', failure: failure.toFailure() };
}

/** A request that was accepted is under way no longer: only the list may still be behind. */
function clocksOf({ armedAtMs, nowMs, settleMs, baseline, skew, lost }: Look<Task>): Clocks {
  const patienceMs = wasAccepted(lost) ? Math.min(settleMs, LIST_LAG_MS) : settleMs;
  return { armedAtMs, nowMs, settleMs: patienceMs, skewBefore: baseline.skew, skewNow: skew };
}

function wasAccepted(lost: InDoubt['lost']): boolean {
  return lost?.code === 'service.no-id';
}

/** What comes first is looked at first, and only so many are kept: the task that was triggered nearest to the request. */
function nearestFirst(weighed: readonly Weighed[]): readonly Weighed[] {
  const far = ({ distanceMs }: Weighed) => Math.abs(distanceMs ?? Number.MAX_VALUE);
  return weighed.toSorted((one, other) => far(one) - far(other));
}

function toLine({ task, fit, certainty, details, distanceMs }: Weighed) {
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

/** Both clocks are known to about a second, and the service may cut its times to whole ones. */
function distanceWords(distanceMs: number): string {
  const seconds = Math.round(Math.abs(distanceMs) / 1_000);
  if (seconds <= 1) return 'at the moment of the request';
  return `${formatSeconds(seconds)} ${distanceMs < 0 ? 'before' : 'after'} the request`;
}
