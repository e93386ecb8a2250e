import { verdictOf, verdictWords } from '../../audit/verdict.ts';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { Evidence, EvidenceRun } from '../../evidence/evidence-schema.ts';
import { receiptsIn } from '../../receipts/log-entries.ts';
import type { Entry, JournalReader, StreamName } from '../../store/journal.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import { type RunProgress, runs, summariesOf } from '../../store/projections/runs.ts';
import { auditStore } from '../audit/audit-store.ts';
import { approvalWatch } from '../audit/check-approvals.ts';

export type PackedRun = RunSummary & { readonly planRun?: string | undefined };

/** The verdict of `lifeboat audit verify` on the record of a home. Never rejects for what is in it. */
export async function readRecord(context: CommandContext): Promise<Evidence['record']> {
  const approvals = approvalWatch();
  const { pins, entries, anchor, ...audit } = await auditStore(context, {
    anchors: [],
    onEntry: approvals.take,
  });
  const findings = [...approvals.findings(), ...audit.findings];
  const verdict = verdictOf(findings);
  const problems = findings
    .filter(({ severity }) => severity === 'problem')
    .map(({ shortMessage }) => shortMessage);
  const words = verdict === 'not-intact' ? 'NOT INTACT' : verdictWords(findings, pins);
  return { verdict, words, entries, problems, ...(anchor === undefined ? {} : { anchor }) };
}

/** Reads past damage: a stream with a changed entry, which the journal refuses, is empty, and in `limit`. */
export function pastDamage(
  journal: Pick<JournalReader, 'read'>,
  limit: (text: string) => void,
): Pick<JournalReader, 'read'> {
  return {
    async read(stream) {
      try {
        return await journal.read(stream);
      } catch (thrown) {
        if (!(thrown instanceof LifeboatError) || thrown.code !== 'journal.damaged') throw thrown;
        limit(`${show(stream, 120)} is not read: ${show(thrown.shortMessage, 300)}`);
        return [];
      }
    },
  };
}

/** Every run on record but the steps of plans that are no runbooks, oldest first. */
export async function readRuns(journal: Pick<JournalReader, 'rows'>): Promise<readonly PackedRun[]> {
  const rows = await journal.rows(runs.name);
  return rows
    .flatMap((row) =>
      summariesOf([row]).map((run): PackedRun => {
        const { planRun } = row.value as unknown as RunProgress;
        return planRun === undefined ? run : { ...run, planRun };
      }),
    )
    .filter(({ runbook }) => runbook !== 'plan-step');
}

/** The receipts on record, by run, from the entries of `store/log`. Pure. */
export function receiptsByRun(aboutLog: readonly Entry[]): ReadonlyMap<string, EvidenceRun['receipts']> {
  const made = new Map<string, EvidenceRun['receipts']>();
  for (const receipt of receiptsIn(aboutLog)) {
    if (!('run' in receipt)) continue;
    const { run, result, sha256, at } = receipt;
    made.set(run, [...(made.get(run) ?? []), { result, sha256, at }]);
  }
  return made;
}

export type ReportReader = Pick<JournalReader, 'read' | 'rows'> & {
  readonly log: Pick<JournalReader['log'], 'head'>;
};

/** Entries: some 50 MiB of them. */
const MAX_REMEMBERED = 40_000;

/** Reads shared streams once (ledgers, `store/log`), and so shows them as at the first read. */
export function sharedReads(journal: ReportReader): ReportReader {
  const known = new Map<StreamName, readonly Entry[]>();
  let total = 0;
  return {
    rows: (...args) => journal.rows(...args),
    log: journal.log,
    async read(stream) {
      const there = known.get(stream);
      if (there !== undefined) return there;
      const entries = await journal.read(stream);
      if (stream.startsWith('run/') || stream.startsWith('plan/')) return entries;
      known.set(stream, entries);
      total += entries.length;
      for (const [oldest, { length }] of known) {
        if (total <= MAX_REMEMBERED || oldest === stream) break;
        known.delete(oldest);
        total -= length;
      }
      return entries;
    },
  };
}
