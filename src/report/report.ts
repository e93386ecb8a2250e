import { show } from '../base/text.ts';
import type { Entry } from '../store/journal.ts';
import type { Loss } from '../store/log/losses.ts';
import type { WrittenFollowUp } from '../store/run-entries.ts';
import { alarmsOf, lossAlarm } from './model/alarms.ts';
import { changesOf, evidenceOf, linesOf, type RecordProof } from './model/chain.ts';
import { checksOf } from './model/checks.ts';
import { type CourseOptions, courseOf } from './model/course.ts';
import { blanksFor, decisionsOf, deviationsOf, factsOf, issuesOf, SIGN_OFF } from './model/decided.ts';
import { followUpRows, followUpsOf } from './model/follow-ups.ts';
import { untilEnd } from './model/found.ts';
import { measuredOf, outcomeOf, runOf } from './model/head.ts';
import { Report } from './model/model.ts';
import { approvalsOf, mayApproveOf, peopleOf, plansAsked } from './model/people.ts';
import { comparisonOf, identityOf, reconciliationOf, recoveredOf, sourceOf } from './model/recovered.ts';
import { rotationOf } from './model/rotation.ts';

export interface ReportOptions extends RecordProof, CourseOptions {
  /** Facts about the instance that this run wrote to its ledger: keys, cards, proven backups. */
  readonly ledger?: readonly Entry[];
  /**
   * All that the ledger of the instance tells, for what was so before the run: when the old key was set.
   * Default: `ledger`.
   */
  readonly history?: readonly Entry[];
  /** Losses accepted in the store: what they took of the run is unknown. They head the record. */
  readonly losses?: readonly Loss[];
  /** The follow-ups of the run. Default: those in its last entry, where it is closed. */
  readonly followUps?: readonly WrittenFollowUp[] | undefined;
}

/**
 * The record of a run: what an auditor asks for, from the run's entries alone, so that it can be made again
 * at any time with the same content. Pure. A run that is not over gives a record that says so; what only
 * people know is left open, never made up. What stands behind the end of a run is listed, and changes nothing
 * of what is said about it.
 */
export function buildReport(all: readonly Entry[], options: ReportOptions): Report {
  const entries = untilEnd(all);
  const ledger = options.ledger ?? [];
  const followUps = followUpsOf(entries, options.followUps);
  const run = runOf(entries);
  const rows = followUpRows(entries, followUps);
  const [checks, approvals] = [checksOf(entries), approvalsOf(entries)];
  const report: Report = {
    schema: 'lifeboat.report/1',
    generatedAt: options.generatedAt.toISOString(),
    title: run.runbook === undefined ? 'Run' : `${run.runbook} on ${run.instance}`,
    alarms: [...(options.losses ?? []).map(lossAlarm), ...alarmsOf(all, followUps)],
    run: { ...run, entries: all.length },
    outcome: outcomeOf(entries, followUps),
    people: peopleOf(entries, [...new Set(rows.map(({ owner }) => owner))]),
    plan: { asked: plansAsked(approvals) },
    measured: options.measures === undefined ? undefined : measuredOf(options.measures),
    facts: factsOf(entries),
    recoveryPoint: recoveredOf(entries, options.measures?.point),
    source: sourceOf(entries),
    changed: identityOf(entries),
    course: courseOf(entries, options),
    checks,
    reconciliation: reconciliationOf(entries),
    comparison: comparisonOf(ledger),
    followUps: rows,
    cleanup: rows.filter(({ kind }) => CLEANUP.includes(kind)).map(({ id }) => id),
    rotation: rotationOf(entries, options.history ?? ledger, { checks, approvals }),
    decisions: decisionsOf(entries),
    mayApprove: mayApproveOf(entries),
    approvals,
    deviations: deviationsOf(entries, followUps),
    issues: issuesOf(entries),
    changes: changesOf(entries),
    entries: linesOf(all),
    ledger: linesOf(ledger),
    evidence: evidenceOf(all, options),
    blanks: blanksFor(run.runbook, run.target !== undefined),
    signOff: SIGN_OFF,
  };
  return Report.parse(cleaned(report));
}

/** Kinds of follow-up that take away what the run has left behind. */
const CLEANUP = ['remove-target', 'old-binding', 'retire-key'];

/**
 * The same data with every text in it printable and cut: the one place where what others have written is made
 * harmless, so that no renderer can forget it. Fields that are undefined are left out.
 */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return show(value, LONGEST);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, cleaned(item)]),
  );
}

/** Several audit events of the platform with their types. */
const LONGEST = 1_000;
