import { isoOf } from '../base/date.ts';
import { msOf } from '../base/instant.ts';
import type { NotifyEvent } from '../config/schema.ts';
import type { Notice } from '../notify/notice.ts';
import type { Journal, JournalReader } from '../store/journal.ts';
import { findPosted, type Posted, readEnded, readGivenUp } from '../store/projections/outbox.ts';
import type { NamedRun } from '../store/projections/run-summary.ts';
import { progressOfOpenRuns, type RunProgress, runs, summariesOf } from '../store/projections/runs.ts';
import { SHARE_TO_WARN } from '../view/run-view.ts';

/** A question answered sooner is not notified. Milliseconds. */
const QUESTION_STANDS_MS = 30_000;
/** Ends in a round; the rest follows after their delivery. */
const MAX_ENDED = 200;

type Reading = Pick<Journal, 'clock'> & Pick<JournalReader, 'read' | 'rows'>;

export interface Asked {
  /** Only what happened after this leaf. */
  readonly from: number;
  readonly events: ReadonlySet<NotifyEvent>;
  readonly all: boolean;
}

/**
 * The current notices of a store's runs, oldest first: questions open for half a minute, or left by their
 * process; recoveries that have taken 80 % of their objective and go on; ends. Read-only.
 */
export async function noticesOfRuns(journal: Reading, asked: Asked): Promise<readonly Notice[]> {
  const { events } = asked;
  const now = (await journal.clock())();
  const found = [
    ...(events.has('ended') ? await endsOf(journal, asked) : []),
    ...(events.has('question') || events.has('rto') ? await ofOpenRuns(journal, asked, now) : []),
  ];
  return (await Promise.all(found)).flat();
}

async function endsOf(journal: Reading, { from, all }: Asked) {
  const waiting = await readEnded(journal, MAX_ENDED);
  const givenUp = all ? await readGivenUp(journal, MAX_ENDED) : [];
  const ended = [...givenUp, ...waiting].filter(({ index }) => index > from).toReversed();
  return ended.map((posted) => endOf(journal, posted));
}

async function ofOpenRuns(journal: Reading, { from, events }: Asked, now: Date) {
  const open = await progressOfOpenRuns(journal);
  return open.flatMap((run) => [
    ...(events.has('question') && (run.reached?.index ?? -1) > from ? [questionOf(run, now)] : []),
    ...(events.has('rto') && run.begunIndex > from ? [dangerOf(journal, run, now)] : []),
  ]);
}

async function questionOf(run: RunProgress, now: Date): Promise<readonly Notice[]> {
  const { reached, isLeft, isPaused, runId } = run;
  if (reached === undefined || !(isLeft || now.getTime() - msOf(reached.at) >= QUESTION_STANDS_MS)) return [];
  if (!isPaused && !(await isQuestion(run, reached.state))) return [];
  const waits = 'it needs new credentials';
  const title = isPaused ? waits : (run.title ?? reached.state);
  const { seq, index, at } = reached;
  return [{ id: `question/${runId}/${seq}`, event: 'question', index, since: at, run: noticed(run), title }];
}

/** For a runbook that this version lacks, no question is known. */
async function isQuestion({ runbook, version }: RunProgress, state: string): Promise<boolean> {
  const { runbookOf } = await import('../../machines/index.ts');
  const { hasTagAt } = await import('../../machines/parts/states.ts');
  const found = runbookOf(runbook, version);
  return found !== undefined && hasTagAt(found.machine, state, 'question');
}

async function dangerOf(journal: Reading, run: RunProgress, now: Date): Promise<readonly Notice[]> {
  const { runId, rtoSeconds, begunIndex: index } = run;
  if (rtoSeconds === undefined || elapsedAtMost(run, now) <= rtoSeconds * SHARE_TO_WARN) return [];
  const id = `rto/${runId}`;
  if ((await findPosted(journal, id))?.closes === 'delivered') return [];
  const { runbookOf } = await import('../../machines/index.ts');
  const { viewObjectives } = await import('../view/view-objectives.ts');
  const { followUpsOfRun } = await import('./open-follow-ups.ts');
  const runbook = runbookOf(run.runbook, run.version);
  if (runbook === undefined) return [];
  const entries = await journal.read(`run/${runId}`);
  const followUps = await followUpsOfRun(journal, { ...run, where: '' });
  const time = viewObjectives(runbook, entries, followUps, now).find(({ name }) => name === 'RTO');
  if (time?.running !== true || time.value === undefined || time.value <= rtoSeconds * SHARE_TO_WARN)
    return [];
  const since = isoOf(now.getTime() - time.value * 1000);
  const elapsedSeconds = Math.round(time.value);
  return [{ id, event: 'rto', index, since, run: noticed(run), rtoSeconds, elapsedSeconds }];
}

/** Before anything of the run is read: its recovery cannot have taken longer. */
function elapsedAtMost({ startedAt, incidentAt }: RunProgress, now: Date): number {
  const from = Math.min(msOf(startedAt), msOf(incidentAt ?? startedAt) || Number.POSITIVE_INFINITY);
  return (now.getTime() - from) / 1000;
}

async function endOf(journal: Reading, { id, index, at, end }: Posted): Promise<readonly Notice[]> {
  const runId = id.slice('ended/'.length);
  const [run] = summariesOf(await journal.rows(runs.name, { keyPrefix: runId, limit: 1 }));
  if (end === undefined || run === undefined) return [];
  return [{ id, event: 'ended', index, since: at, run: noticed(run), outcome: end }];
}

function noticed({ runId, runbook, instance, target, mode }: NamedRun): NamedRun {
  return { runId, runbook, instance, target, mode };
}
