import type { FollowUp } from '../../machines/parts/follow-up.ts';
import { show } from '../base/text.ts';
import { ageWords, doneCommand, dueWords, runCommand, waysInWords } from './follow-up-words.ts';
import type { FollowUpView } from './run-view.ts';
import { viewFollowUp } from './view-follow-ups.ts';

/** Where a follow-up is open: in an open run, or in the ledger of an instance once its run is over. */
export interface FollowUpContext {
  readonly instance: string;
  readonly now: Date;
  readonly runId?: string | undefined;
  readonly runbook?: string | undefined;
  /** The owner of a follow-up that names none. */
  readonly operator?: string | undefined;
}

/** One follow-up, as data for people and scripts. Every text is printable. Ages in seconds. */
export interface FollowUpRow extends FollowUpView {
  readonly kind: string;
  readonly instance: string;
  readonly run: string | undefined;
  readonly runbook: string | undefined;
}

/** A follow-up of a run or a ledger with its age, what is left, its owner and its commands. Pure. */
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
 * A row as lines: what and by which id, where and since when, how it is or can be closed, and the commands,
 * each whole on a line of its own, so that it can be copied.
 */
export function followUpLines(row: FollowUpRow): string[] {
  const head = `${row.id}: ${row.what}`;
  if (row.closed !== undefined) return [head, `  ${whereOf(row)}`, `  closed (${row.closed.text})`];
  const due = dueWords(row).text;
  const since = [whereOf(row), ageWords(row), due].filter((words) => words !== '').join(', ');
  return [head, `  ${since}`, `  ${waysOf(row)}`, ...row.commands.map((command) => `    ${command}`)];
}

function whereOf({ instance, run, runbook }: FollowUpRow): string {
  if (run === undefined) return `${instance}, in its ledger`;
  return `${instance}, run ${run}${runbook === undefined ? '' : ` (${runbook})`}`;
}

function waysOf(row: FollowUpRow): string {
  const run = row.doable === undefined ? '' : `${runCommand(row.id)}, or `;
  return `${waysInWords(row)}: ${run}${doneCommand(row.id)}`;
}
