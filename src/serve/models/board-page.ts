import { counted, formatTime } from '../../base/format.ts';
import { type DrillDue, dueWords } from '../../report/drill/drill-report.ts';
import { VERDICT_WORDS } from '../../view/app/status-cells.ts';
import type { Asked, FollowUpRow, Head, PageOf, RunRow, Shared, Tone, VerdictRow } from '../page.ts';
import { type Moment, textOf, UNDRIVEN, waitsWords } from './headline.ts';
import { MOST_ROWS } from './run-page.ts';

/** From the record alone: no instance is asked. */
export interface BoardFacts extends EvaluationFacts {
  readonly runs: readonly RunRow[];
  readonly ended: readonly RunRow[];
  readonly asks: readonly Asked[];
  readonly followUps: readonly FollowUpRow[];
  readonly changes: Pick<Shared, 'changes'> & { readonly more: number };
  readonly drills: DrillDue;
}

export interface EvaluationFacts {
  readonly verdicts: readonly VerdictRow[];
  readonly unevaluated: readonly string[];
}

/** The board: what is under way, what waits for a person, what could be recovered. Pure. */
export function boardPage(facts: BoardFacts, moment: Moment): PageOf<'page-board'> {
  const { runs, ended, asks, verdicts, unevaluated, drills, changes } = facts;
  const followUps = facts.followUps.slice(0, MOST_ROWS);
  const more = { changes: changes.more, followUps: facts.followUps.length - followUps.length };
  const headline = [
    runsWords(runs),
    ...(runs.length === 0 ? [] : [waitsWords(asks)]),
    verdictWords(facts),
  ].join('; ');
  const lines = [
    ...runs.map((run) => `${run.mode} ${run.runbook} of ${run.instance} (${run.runId}): ${run.where}`),
    `drills: next due: ${dueWords(drills)}`,
  ];
  return {
    ...{ at: moment.at.toISOString(), log: moment.log },
    title: 'Recoveries',
    headline,
    tone: asks.length > 0 ? 'warn' : toneOf(facts),
    text: textOf(headline, { asks, followUps, more, lines }, moment),
    ...{ runs, ended, asks, followUps, more, changes: changes.changes },
    ...{ verdicts, unevaluated, drills },
  };
}

function runsWords(runs: readonly RunRow[]): string {
  if (runs.length === 0) return 'no run is open';
  const [first, another] = runs;
  if (first !== undefined && another === undefined)
    return `${first.mode}: ${first.runbook} of ${first.instance}: ${first.where}, since ${formatTime(first.startedAt)} UTC; ${first.driver ?? UNDRIVEN}`;
  const live = runs.filter(({ mode }) => mode === 'LIVE').length;
  const parts = [
    ...(live === 0 ? [] : [`${live} LIVE`]),
    ...(live === runs.length ? [] : [`${runs.length - live} REHEARSAL`]),
  ];
  return `${counted(runs.length, 'run')} open: ${parts.join(', ')}`;
}

export function evaluationPage(facts: EvaluationFacts, moment: Moment): PageOf<'page-evaluation'> {
  const headline = verdictWords(facts);
  const none = { asks: [], followUps: [], more: { changes: 0, followUps: 0 } };
  const lines = facts.verdicts.map(
    ({ subject, verdict, reason }) => `${subject}: ${VERDICT_WORDS[verdict]}: ${reason}`,
  );
  return {
    ...{ at: moment.at.toISOString(), log: moment.log },
    title: 'Recoverable now?',
    headline,
    tone: toneOf(facts),
    text: textOf(headline, { ...none, lines }, moment),
    ...{ verdicts: facts.verdicts, unevaluated: facts.unevaluated },
  };
}

/** `3 PROVEN, 1 NOT READY, 1 never evaluated`. */
function verdictWords({ verdicts, unevaluated }: EvaluationFacts): string {
  const counts = VERDICTS.flatMap((verdict) => {
    const count = verdicts.filter((one) => one.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${VERDICT_WORDS[verdict]}`];
  });
  const never = unevaluated.length === 0 ? [] : [`${unevaluated.length} never evaluated`];
  const all = [...counts, ...never];
  return all.length === 0 ? 'nothing is evaluated' : `on record: ${all.join(', ')}`;
}

const VERDICTS = ['not-ready', 'unknown', 'ready', 'proven', 'empty'] as const;

function toneOf({ verdicts, unevaluated }: EvaluationFacts): Tone {
  if (verdicts.some(({ verdict }) => verdict === 'not-ready')) return 'bad';
  const isDoubtful = unevaluated.length > 0 || verdicts.some(({ verdict }) => verdict === 'unknown');
  return isDoubtful ? 'warn' : verdicts.length === 0 ? 'plain' : 'good';
}

export function drillsPage(
  facts: Pick<PageOf<'page-drills'>, 'due' | 'drills' | 'rehearsals'>,
  moment: Moment,
): PageOf<'page-drills'> {
  const { due } = facts;
  const headline = `the next drill is due: ${dueWords(due)}`;
  const none = { asks: [], followUps: [], more: { changes: 0, followUps: 0 } };
  const head: Head = {
    ...{ at: moment.at.toISOString(), log: moment.log },
    title: 'Drills',
    headline,
    tone: due.isOverdue ? 'bad' : due.dueAt === undefined ? 'plain' : 'good',
    text: textOf(headline, none, moment),
  };
  return { ...head, ...facts };
}
