import type { Entry } from '../journal/journal.ts';
import type { Measures } from './measure/measure.ts';
import { evidence, type RecordProof, timeline } from './report/chain.ts';
import { changes } from './report/changes.ts';
import { decisions, deviations, facts } from './report/decided.ts';
import { heading, outcome } from './report/head.ts';
import { identity, source } from './report/identity.ts';
import { section } from './report/layout.ts';
import { objectives } from './report/objectives.ts';
import { obligationList, owedBy, type WrittenObligation } from './report/obligations.ts';
import { reconciliation, recovered } from './report/recovered.ts';

export interface ReportOptions extends RecordProof {
  /** Facts about the instance that this run wrote to its ledger: keys, cards, proven backups. */
  readonly ledger?: readonly Entry[];
  /** The recovery in figures (`measure`); none for a runbook that recovers nothing. */
  readonly measures?: Measures | undefined;
  /** What the run owes and owed. Default: what a closed run says of itself. */
  readonly obligations?: readonly WrittenObligation[] | undefined;
}

/**
 * The record of a run as Markdown: what an auditor asks for, from the run's entries alone, so that it can be written
 * again at any time with the same content. Pure. A run that is not over gives a record that says so.
 */
export function runReport(entries: readonly Entry[], options: ReportOptions): string {
  const ledger = options.ledger ?? [];
  const owed = owedBy(entries, options.obligations);
  const sections = [
    heading(entries),
    outcome(entries, owed),
    options.measures === undefined ? '' : section('Objectives', objectives(options.measures)),
    section('Facts proven', facts(entries)),
    optional('Recovery point', recovered(entries, options.measures?.point)),
    optional('Where the data came from', source(entries)),
    optional('Identity of what was changed', identity(entries)),
    optional('Reconciliation', reconciliation(entries)),
    optional('Obligations', obligationList(entries, owed)),
    section('Decisions', decisions(entries)),
    section('Deviations', deviations(entries, owed)),
    section('Changes', changes(entries)),
    section('Timeline (UTC)', timeline(entries)),
    ledger.length === 0 ? '' : section('Written to the ledger of the instance', timeline(ledger)),
    section('Evidence', evidence(entries, options)),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

/** A section that only some runs have something for. */
function optional(title: string, text: string): string {
  return text === '' ? '' : section(title, text);
}
