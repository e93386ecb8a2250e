import type { FollowUp } from '../../machines/parts/follow-up.ts';
import { formatTime, readable } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { WrittenClosure, WrittenFollowUp } from '../store/run-entries.ts';
import { ageWords, doneCommand, dueWords, runCommand, waysInWords } from './follow-up-words.ts';
import type { FactLine, FollowUpView, Tone } from './run-view.ts';

/** Longer than any command with its names and files: a copied text must be complete. */
const COMMAND_LIMIT = 4_000;

type Closed = Omit<WrittenClosure, 'evidence'>;

/** Common to a machine's context, a ledger and the end of a run. */
type RawFollowUp = Omit<WrittenFollowUp, 'kind' | 'closed'> &
  Partial<Pick<FollowUp, 'commands' | 'doable'>> & { readonly closed?: Closed | undefined };

/** By the way that a follow-up was closed. A skipped one is not done. */
const WAYS: Readonly<Record<string, { readonly word: string; readonly tone: Tone }>> = {
  platform: { word: 'by the platform', tone: 'good' },
  cf: { word: 'by cf', tone: 'good' },
  command: { word: 'by its command', tone: 'good' },
  hand: { word: 'by hand', tone: 'good' },
  run: { word: 'by this run', tone: 'good' },
  skipped: { word: 'skipped', tone: 'warn' },
};

/** The operator owns a follow-up that names no owner. */
export function viewFollowUp(followUp: RawFollowUp, operator: string, now: Date): FollowUpView {
  const { id, what, subject, owner, since, dueSeconds, commands, doable, closed } = followUp;
  const until = closed?.at === undefined ? now.getTime() : msOf(closed.at);
  const seconds = (until - msOf(since)) / 1000;
  const age = Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
  const isRunning = age !== undefined && dueSeconds !== undefined && closed === undefined;
  return {
    id: show(id, 120),
    what: readable(what),
    subject: show(subject, 120),
    owner: show(owner ?? operator, 60),
    age,
    left: isRunning ? dueSeconds - age : undefined,
    // Only the run itself may change an instance while it is open.
    commands: (doable === 'run' ? [runCommand(id)] : (commands ?? [])).map((command) =>
      show(command, COMMAND_LIMIT),
    ),
    doable,
    closed: closed === undefined ? undefined : viewClosed(closed),
  };
}

/** Of the fact with the number of open follow-ups. */
export const FOLLOW_UPS_LABEL = 'follow-ups';

/** `3 open`; undefined if none is open. */
export function viewOpen(followUps: readonly Pick<FollowUp, 'closed'>[]): FactLine | undefined {
  const open = followUps.filter(({ closed }) => closed === undefined).length;
  return open === 0 ? undefined : { label: FOLLOW_UPS_LABEL, value: `${open} open`, tone: 'warn' };
}

/** Follow-ups that were closed in one way: one printable line each. */
export function remarksOn(
  followUps: readonly FollowUp[],
  how: 'skipped' | 'hand',
): readonly { readonly id: string; readonly text: string }[] {
  return followUps.flatMap(({ id, what, closed }) =>
    closed?.how === how ? [{ id, text: readable(`${what}: ${viewClosed(closed).text}`) }] : [],
  );
}

/** How it was done or why it was skipped, in one line. */
export function viewClosed({ how, text, at }: Closed): NonNullable<FollowUpView['closed']> {
  const { word, tone } = WAYS[how] ?? { word: how, tone: 'plain' };
  const when = at === undefined ? '' : ` at ${formatTime(at)} UTC`;
  return { tone, text: readable(`${word}${when}: ${text}`) };
}

/** An open run, or the ledger of an instance once its run is over. */
export interface FollowUpContext {
  readonly instance: string;
  readonly now: Date;
  readonly runId?: string | undefined;
  readonly runbook?: string | undefined;
  /** Owns a follow-up that names no owner. */
  readonly operator?: string | undefined;
}

/** For people and scripts. Every text is printable. Ages in seconds. */
export interface FollowUpRow extends FollowUpView {
  readonly kind: string;
  readonly instance: string;
  readonly run: string | undefined;
  readonly runbook: string | undefined;
}

/** Pure. */
export function followUpRow(followUp: FollowUp, context: FollowUpContext): FollowUpRow {
  const { instance, now, runId, runbook, operator } = context;
  return {
    ...viewFollowUp(followUp, operator ?? '', now),
    kind: followUp.kind,
    instance: show(instance, 80),
    run: runId === undefined ? undefined : show(runId, 40),
    runbook: runbook === undefined ? undefined : show(runbook, 60),
  };
}

/**
 * What and its id, where and since when, the ways to close it, and the commands, each on a line of its own,
 * so that it can be copied.
 */
export function followUpLines(row: FollowUpRow): string[] {
  const head = `${row.id}: ${row.what}`;
  if (row.closed !== undefined) return [head, `  ${whereOf(row)}`, `  closed (${row.closed.text})`];
  const due = dueWords(row).text;
  const since = [whereOf(row), ageWords(row), due].filter((words) => words !== '').join(', ');
  const named = runCommand(row.id);
  const commands = row.commands.filter((command) => command !== named);
  return [head, `  ${since}`, `  ${waysOf(row)}`, ...commands.map((command) => `    ${command}`)];
}

function whereOf({ instance, run, runbook }: FollowUpRow): string {
  if (run === undefined) return `${instance}, in its ledger`;
  return `${instance}, run ${run}${runbook === undefined ? '' : ` (${runbook})`}`;
}

function waysOf(row: FollowUpRow): string {
  const run = row.doable === undefined ? '' : `${runCommand(row.id, row.doable)}, or `;
  return `${waysInWords(row)}: ${run}${doneCommand(row.id)}`;
}

/** Due first or overdue longest; then the oldest. */
export function mostUrgent(rows: readonly FollowUpRow[]): readonly FollowUpRow[] {
  return rows.toSorted(
    (one, other) =>
      (one.left ?? Number.MAX_VALUE) - (other.left ?? Number.MAX_VALUE) || (other.age ?? 0) - (one.age ?? 0),
  );
}
