import type { Obligation } from '../../machines/parts/obligation.ts';
import { show } from '../base/text.ts';
import { ageWords, dueWords, payCommand, settleCommand, waysInWords } from './owed.ts';
import type { ObligationView } from './run-view.ts';
import { viewObligation } from './view-obligations.ts';

/** Where something is owed: in an open run, or in the ledger of an instance once its run is over. */
export interface OweContext {
  readonly instance: string;
  readonly now: Date;
  readonly runId?: string | undefined;
  readonly runbook?: string | undefined;
  /** Who sees to what names nobody else. */
  readonly operator?: string | undefined;
}

/** One thing owed, as data for people and scripts. Every text is printable. Ages in seconds. */
export interface OweRow extends ObligationView {
  readonly kind: string;
  readonly instance: string;
  readonly run: string | undefined;
  readonly runbook: string | undefined;
}

/** An obligation of a run or a ledger with its age, what is left, its owner and its commands. Pure. */
export function oweRow(obligation: Obligation, context: OweContext): OweRow {
  const { instance, now, runId, runbook, operator } = context;
  return {
    ...viewObligation(obligation, operator ?? '', now),
    kind: obligation.kind,
    instance: show(instance, 80),
    run: runId === undefined ? undefined : show(runId, 40),
    runbook: runbook === undefined ? undefined : show(runbook, 60),
  };
}

/**
 * A row as lines: what and by which id, where and since when, how it is settled, and the commands, each whole on a line of its own, so that it
 * can be copied.
 */
export function oweLines(row: OweRow): string[] {
  const head = `${row.id}: ${row.what}`;
  if (row.settled !== undefined) return [head, `  ${whereOf(row)}`, `  settled ${row.settled.text}`];
  const due = dueWords(row).text;
  const since = [whereOf(row), ageWords(row), ...(due === '' ? [] : [due])].join(', ');
  return [head, `  ${since}`, `  ${waysOf(row)}`, ...row.commands.map((command) => `    ${command}`)];
}

function whereOf({ instance, run, runbook }: OweRow): string {
  if (run === undefined) return `${instance}, in its ledger`;
  return `${instance}, run ${run}${runbook === undefined ? '' : ` (${runbook})`}`;
}

function waysOf(row: OweRow): string {
  const pay = row.payable === undefined ? '' : `${payCommand(row.id)}, or `;
  return `${waysInWords(row)}: ${pay}${settleCommand(row.id)}`;
}
