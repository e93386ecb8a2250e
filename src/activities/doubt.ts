import type { Triggered } from '../../machines/parts/task-data.ts';
import { LifeboatError } from '../base/errors.ts';
import { counted } from '../base/format.ts';
import { instantOf } from '../base/instant.ts';
import type { Backup } from '../service/schemas.ts';
import type { Judgement } from './activity.ts';
import { type Clocks, clockSentence, elapsedMs, nextLook, side } from './clocks.ts';
import {
  afterRefusalMs,
  type Certainty,
  type Evaluated,
  type Gap,
  gapOf,
  isApart,
  isRefusal,
  LIST_LAG_MS,
  type Look,
  nearestFirst,
  newTasks,
  type Task,
  type Telling,
  toLine,
  wasAccepted,
} from './evaluate-tasks.ts';

const SHOWN = 20;
const UNDER_WAY: ReadonlySet<string> = new Set(['queued', 'running']);

/**
 * By the list alone: any new backup suffices, even a scheduled one, since it was made after all earlier steps
 * of the run. Pure.
 */
export function judgeBackup(look: Look<Backup>): Judgement<Triggered> {
  return judgeTask(look, { what: 'backup', anyServes: true, fit: () => ({ is: 'ours', why: 'it is new' }) });
}

/**
 * Decides a lost request for a task by the list alone. Exactly one new task, and it fits: it landed. None:
 * wait until a request can no longer be under way, then it is absent; but if the service itself refused it
 * because of a task already under way, ask a person at once, since waiting adds nothing. After a refusal a
 * task is adopted only if it was triggered at about that time, since a later one of someone else looks the
 * same. In all other cases a person decides, with every candidate and the reasons. Pure.
 */
export function judgeTask<Row extends Task>(look: Look<Row>, telling: Telling<Row>): Judgement<Triggered> {
  if (look.baseline.lost === true) return judgeLost(look, telling);
  const clocks = clocksOf(look);
  const evaluated = newTasks(look, telling, clocks);
  const fitting = nearestFirst(evaluated).filter((one) => !isApart(one));
  // Only its time contradicts it, and another clock may have stamped it: with such a twin nothing is certain.
  const twins = telling.anyServes ? [] : evaluated.filter((one) => isApart(one) && one.isAlike);
  const candidates = fitting.length === 1 ? [...fitting, ...twins] : fitting;
  const others = evaluated.filter((one) => isApart(one) && !candidates.includes(one)).map(toLine);
  const clock = clockSentence(clocks);
  const shown = { candidates: candidates.slice(0, SHOWN).map(toLine), others: others.slice(0, SHOWN), clock };
  const [only, another] = candidates;
  const isOurs = another === undefined && only?.fit.is === 'ours';
  if (only !== undefined && isOurs && !isLongAfterRefusal(only, look)) {
    return {
      verdict: 'landed',
      output: { landed: true, id: only.task.id, adopted: true },
      evidence: { candidate: toLine(only), certainty: only.certainty, others: shown.others, clock },
    };
  }
  if (another !== undefined)
    return ask(
      look,
      telling,
      'ambiguous',
      `the service shows ${candidates.length} new ${telling.what}s`,
      shown,
    );
  const next = nextLook(clocks);
  if (next !== undefined && only === undefined && isRefusal(look.lost) && blocking(look).length > 0)
    return ask(look, telling, 'refused', `the service shows no new ${telling.what}`, {
      ...shown,
      underWay: blocking(look),
    });
  const mayStillTell =
    only === undefined || (only.fit.is === 'unreported' && UNDER_WAY.has(only.task.status.toLowerCase()));
  const shows = evaluated.some(({ fit }) => fit.is !== 'other')
    ? ('something' as const)
    : ('nothing' as const);
  if (next !== undefined && mayStillTell) return { verdict: 'wait', ...next, shows };
  if (only !== undefined) {
    const why = isOurs ? 'it was triggered some time after the refusal' : only.fit.why;
    return ask(look, telling, 'ambiguous', `${telling.what} ${only.task.id} may be ours: ${why}`, shown);
  }
  return nothingFits(look, telling, evaluated, clocks);
}

/**
 * Without a record of the call, nothing is known to be new, and others may have followed its outcome. A
 * person judges every task since then; nothing is landed or absent automatically.
 */
function judgeLost<Row extends Task>(look: Look<Row>, telling: Telling<Row>): Judgement<Triggered> {
  const clocks = clocksOf(look);
  const isBefore = ({ task }: Evaluated) => {
    const at = instantOf(task.triggered_at);
    return at !== undefined && side(at, clocks) === 'before';
  };
  const evaluated = newTasks(look, telling, clocks).filter((one) => !isBefore(one));
  const next = nextLook(clocks);
  if (next !== undefined && evaluated.length === 0) return { verdict: 'wait', ...next, shows: 'nothing' };
  const [fitting, others] = [true, false].map((fits) => evaluated.filter((one) => isApart(one) !== fits));
  const candidates = nearestFirst(fitting ?? [])
    .slice(0, SHOWN)
    .map(toLine);
  return ask(
    look,
    telling,
    'ambiguous',
    `the service shows ${counted(evaluated.length, telling.what)} since it was sent`,
    {
      candidates: candidates.map((line) => ({ ...line, certainty: 'possible' as const })),
      others: nearestFirst(others ?? [])
        .slice(0, SHOWN)
        .map(toLine),
      clock: clockSentence(clocks),
    },
  );
}

/** The request is no longer under way. Absent only if nothing contradicts it. */
function nothingFits<Row extends Task>(
  look: Look<Row>,
  telling: Telling<Row>,
  evaluated: readonly Evaluated[],
  clocks: Clocks,
): Judgement<Triggered> {
  const { tasks, lost } = look;
  const { what } = telling;
  const unlikely = nearestFirst(evaluated)
    .filter(({ fit }) => fit.is === 'unlikely')
    .map(toLine);
  const waitedMs = elapsedMs(clocks);
  const clock = clockSentence(clocks);
  const others = evaluated.slice(0, SHOWN).map(toLine);
  const evidence = { listed: tasks.length, waitedMs, others, clock, underWay: blocking(look) };
  if (unlikely.length > 0) {
    const candidates = unlikely.slice(0, SHOWN);
    return ask(look, telling, 'ambiguous', `no new ${what} is surely ours, and ${unlikely.length} may be`, {
      candidates,
      clock,
    });
  }
  if (wasAccepted(lost)) return ask(look, telling, 'not-listed', `its list shows no such ${what}`, evidence);
  const gap = gapOf(look, what);
  const question = gap && askAboutGap(gap, look, telling, evidence);
  if (question !== undefined) return question;
  // Without the service's clock, the wait was measured by one that may have been set.
  const certainty: Certainty =
    clocks.skewBefore !== null && clocks.skewNow !== undefined ? 'certain' : 'likely';
  return { verdict: 'absent', evidence: { ...evidence, certainty } };
}

/** The list may have omitted the task; undefined if what it omits certainly belongs to others. */
function askAboutGap<Row extends Task>(
  gap: Gap<Row>,
  look: Look<Row>,
  telling: Telling<Row>,
  evidence: NonNullable<LifeboatError['evidence']>,
): Judgement<never> | undefined {
  const { what } = telling;
  if (gap.is === 'lost') {
    const finding = `the list no longer shows ${what} ${gap.id}, so it proves nothing`;
    return ask(look, telling, 'list-changed', finding, evidence);
  }
  if (gap.is === 'unread') {
    const row = gap.id === undefined ? 'a row' : `${what} ${gap.id}`;
    const finding = `${row} in the list of ${what}s cannot be read and may be ours`;
    return ask(look, telling, 'list-changed', finding, evidence);
  }
  if (gap.is === 'short') {
    const finding = `the list of ${what}s shows none, but it may leave out the newest`;
    return ask(look, telling, 'list-short', finding, evidence);
  }
  const shown = newTasks({ ...look, tasks: gap.rows }, telling, clocksOf(look)).filter(
    ({ fit }) => fit.is !== 'other',
  );
  if (shown.length === 0) return undefined;
  const ids = shown.map(({ task }) => task.id).join(', ');
  return ask(look, telling, 'ambiguous', `the service has ${what} ${ids}, which its list leaves out`, {
    ...evidence,
    candidates: nearestFirst(shown).map(toLine),
  });
}

function ask(
  look: Look<Task>,
  { what }: Pick<Telling<never>, 'what'>,
  word: 'ambiguous' | 'not-listed' | 'list-changed' | 'list-short' | 'refused',
  finding: string,
  evidence: LifeboatError['evidence'],
): Judgement<never> {
  const failure = new LifeboatError(`doubt.${word}`, `${answerOf(look, what)}, and ${finding}`, {
    hints: [
      word === 'ambiguous'
        ? 'adopt one of them, or look again; nothing is sent until you decide'
        : 'look again, or ask the operator of the service; nothing is sent until you decide',
      String(evidence?.['clock'] ?? ''),
    ].filter((hint) => hint !== ''),
    evidence,
  });
  return { verdict: 'ambiguous', failure: failure.toFailure() };
}

/** Not every answer that leaves a doubt was lost. */
function answerOf(look: Look<Task>, what: string): string {
  const { lost, refusal, baseline } = look;
  if (baseline.lost === true) return 'the record of the call is lost';
  if (lost?.code === 'service.old-id') return lost.shortMessage;
  if (wasAccepted(lost)) return `the service accepted it and named no ${what}`;
  if (lost !== undefined && refusal !== undefined) return `it was refused: ${lost.shortMessage}`;
  if (lost === undefined || !isRefusal(lost)) return 'the answer was lost';
  const ids = blocking(look);
  const busy = ids.length === 0 ? '' : `; under way: ${what} ${ids.join(', ')}`;
  return `the service refused it: ${lost.shortMessage}${busy}`;
}

/** So late that it may be another request. */
function isLongAfterRefusal({ distanceMs }: Evaluated, look: Look<Task>): boolean {
  return look.refusal !== undefined && (afterRefusalMs(distanceMs, look) ?? 0) > LIST_LAG_MS;
}

/** Tasks that were under way before the request. */
function blocking({ baseline }: Look<Task>): number[] {
  return (baseline.underWay ?? []).slice(0, SHOWN);
}

/** An accepted request is no longer under way: only the list may lag behind. */
function clocksOf(look: Look<Task>): Clocks {
  const { armedAtMs, firstArmedAtMs, lostAtMs, nowMs, inFlightMs, baseline, skew, lost } = look;
  const patienceMs = wasAccepted(lost) ? Math.min(inFlightMs, LIST_LAG_MS) : inFlightMs;
  const times = { armedAtMs, firstArmedAtMs, lostAtMs, nowMs };
  return { ...times, inFlightMs: patienceMs, skewBefore: baseline.skew, skewNow: skew };
}
