import type { AnyMachineSnapshot } from 'xstate';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Closing, Fact, FactGroup, Runbook } from '../../machines/parts/runbook.ts';
import { isoOf } from '../base/date.ts';
import { formatSeconds, formatTime, formatValue, readable } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { Timeline } from '../report/measure/timeline.ts';
import type { Entry } from '../store/journal.ts';
import { readRunEntry } from '../store/run-entries.ts';
import { reportCommand, reportFile } from './app/sources.ts';
import { BREAK_GLASS } from './question-words.ts';
import type { ApprovalView, FactGroupView, FactLine, OutcomeView, RunView, Verdict } from './run-view.ts';
import { FOLLOW_UPS_LABEL, remarksOn } from './view-follow-ups.ts';
import { viewWay } from './view-question.ts';

export interface EndedRun {
  readonly runbook: Runbook;
  readonly runId: string;
  readonly snapshot: AnyMachineSnapshot;
  /** Where the machine ended. */
  readonly state: string;
  readonly timeline: Timeline | undefined;
  readonly followUps: readonly FollowUp[];
  /** See `RunFacts`. */
  readonly targets?: readonly string[] | undefined;
  /** In order. */
  readonly approvals: readonly Entry[];
  readonly abandoned: Entry | undefined;
}

/**
 * Undefined until the run is over. First a break glass, then what was not done or rests on a person's word,
 * then what went well.
 */
export function viewOutcome(run: EndedRun): OutcomeView | undefined {
  const { snapshot, runbook, state, followUps, abandoned } = run;
  if (abandoned !== undefined) return abandonedRun(run, abandoned);
  if (snapshot.status !== 'done') return undefined;
  const closing = runbook.closing(snapshot.context as never, state);
  const skipped = remarksOn(followUps, 'skipped');
  const shown = new Set(skipped.map(({ id }) => id));
  const deviations = closing.deviations
    .filter(({ step }) => !shown.has(step))
    .map(({ step, reason }) => readable(`deviation at ${step}: ${reason}`));
  const undone = [...skipped.map(({ text }) => `not done: ${text}`), ...deviations];
  const approvals = approvalsIn(run.approvals);
  const ways = closing.outcome === 'stopped' ? (runbook.waysOn?.(snapshot.context as never) ?? []) : [];
  const verdict = verdictOf(closing, undone.length + approvals.bypassed.length);
  return {
    ...ending(run, verdict, closing.title, closing.summary),
    ...(closing.unknown === undefined ? {} : { unknown: readable(closing.unknown, 120) }),
    ...(closing.leaves === undefined ? {} : { leaves: closing.leaves.map((what) => readable(what)) }),
    ...(ways.length === 0 ? {} : { ways: ways.map((way) => viewWay(way, run.targets)) }),
    remarks: [
      ...approvals.bypassed.map((text) => ({ tone: 'bad' as const, text })),
      ...undone.map((text) => ({ tone: 'warn' as const, text })),
      ...remarksOn(followUps, 'hand').map(({ text }) => ({ tone: 'plain' as const, text })),
      ...approvals.given.map((text) => ({ tone: 'plain' as const, text })),
    ],
  };
}

/** Formatted and cleaned. */
export function viewFact({ label, value, unit, tone }: Fact): FactLine {
  return { label, value: readable(formatValue(value, unit)), tone: tone ?? 'plain' };
}

function verdictOf({ outcome, proven }: Closing, remarks: number): Verdict {
  if (outcome === 'stopped') return 'stopped';
  if (!proven) return outcome === 'done' ? 'done' : 'not proven';
  return remarks === 0 ? 'proven' : 'proven, with deviations';
}

const TONES: Readonly<Record<Verdict, OutcomeView['tone']>> = {
  proven: 'good',
  'proven, with deviations': 'warn',
  'not proven': 'bad',
  done: 'warn',
  stopped: 'warn',
  abandoned: 'warn',
};

/** The machine has no end here; the person who abandoned the run gives it. */
function abandonedRun(run: EndedRun, entry: Entry): OutcomeView {
  const known = readRunEntry(entry);
  const reason = known?.type === 'run.abandoned' ? known.body.reason : '';
  const facts = run.runbook.facts(run.snapshot.context as never);
  const groups = facts.length === 0 ? [] : [{ title: 'what the run knew', facts }];
  return { ...ending(run, 'abandoned', `abandoned: ${reason}`, groups), remarks: [] };
}

function ending(
  { runId, timeline }: EndedRun,
  verdict: Verdict,
  title: string,
  groups: readonly FactGroup[],
): Omit<OutcomeView, 'remarks'> {
  return {
    tone: TONES[verdict],
    verdict,
    title: readable(title),
    took: tookWords(timeline),
    report: { file: reportFile(runId), command: reportCommand(runId) },
    groups: groups.flatMap(viewGroup),
  };
}

/** Without the number of open follow-ups, which is stated with their list. */
function viewGroup({ title, facts }: FactGroup): FactGroupView[] {
  const shown = facts.filter(({ label }) => label !== FOLLOW_UPS_LABEL).map(viewFact);
  return shown.length === 0 ? [] : [{ title, facts: shown }];
}

function tookWords(timeline: Timeline | undefined): string {
  if (timeline === undefined) return '';
  const { firstMs, endedMs = timeline.lastMs, clockMovedMs } = timeline;
  const begun = formatTime(isoOf(firstMs));
  // By the clock that stamps the entries.
  const ended = formatTime(isoOf(endedMs + clockMovedMs));
  const until = ended.slice(0, 10) === begun.slice(0, 10) ? ended.slice(11) : ended;
  return `${formatSeconds((endedMs - firstMs) / 1000)}, ${begun} to ${until} UTC`;
}

/** Adds the second person's progress, and the way around it. Cleaned for every renderer. */
export function withApproval(view: RunView, approval: ApprovalView | undefined): RunView {
  const { question } = view;
  if (approval === undefined || question?.kind !== 'typed-name') return view;
  const { by, problem } = approval;
  const cleaned: ApprovalView = {
    ...approval,
    file: show(approval.file),
    command: show(approval.command),
    by: by && show(by, 200),
    problem: problem && readable(problem),
  };
  return {
    ...view,
    question: { ...question, approval: cleaned, options: [...question.options, BREAK_GLASS] },
  };
}

/** An approval counts for the last request of its order, unless it was withdrawn. */
function approvalsIn(entries: readonly Entry[]): {
  readonly given: readonly string[];
  readonly bypassed: readonly string[];
} {
  const bodies = (type: string) =>
    entries
      .filter((entry) => entry.type === type)
      .map(({ body }) => body as Readonly<Record<string, string>>);
  const newest = new Map(bodies('approval.asked').map(({ order, challenge }) => [order, challenge]));
  const standing = new Set(newest.values());
  for (const type of ['approval.withdrawn', 'approval.bypassed'])
    for (const { challenge } of bodies(type)) standing.delete(challenge);
  return {
    given: bodies('approval.given')
      .filter(({ challenge }) => standing.has(challenge))
      .map(({ approver }) => show(`approved by ${approver}`)),
    bypassed: [
      ...bodies('approval.weakened').map(({ reason }) =>
        readable(`BREAK-GLASS, with less approval than when the run began: ${reason}`),
      ),
      ...bodies('approval.bypassed').map(({ order, reason }) =>
        readable(`BREAK-GLASS, without a second person: ${reason} (to ${order})`),
      ),
    ],
  };
}
