import { EXIT, LifeboatError } from '../base/errors.ts';
import { REPORT_FILE, TEST_RESULT } from '../base/receipt-files.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import type { Action } from '../cli/define.ts';
import { printResult } from '../cli/print-result.ts';
import { openReaderOf } from '../compose/store-of.ts';
import type { StartedRun } from '../receipts/plan-statement.ts';
import { type Statement, statementOf } from '../receipts/statement.ts';
import { renderPlanReport, renderReport } from '../report/render-report.ts';
import { findRun } from '../runner/runs.ts';
import type { JournalReader } from '../store/journal.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import { assertSound } from './audit/export.ts';
import { whereRunIs } from './drill/drill-homes.ts';
import { isPlanRun, planReportOf } from './plans/plan-report-of.ts';
import { reportOf } from './run/run-report.ts';
import { commandsFor, type ToSign, writeReceipt } from './write-receipt.ts';

/**
 * `lifeboat receipt [RUN] [--out DIR]`: a new folder with a run's report and a signed statement of what it
 * proved, for cosign and openssl; `--evaluation [NAME]`: with the newest evaluation of one or all. Signs only
 * an intact record (`evidence.not-intact`). A drill keeps no key: the asking installation signs and records
 * its receipt.
 */
export const receipt: Action<{ readonly out?: string; readonly evaluation?: string | true }> = async (
  context,
  [word],
  flags,
) => {
  if (flags.evaluation !== undefined) {
    const { evaluationReceipt } = await import('./evaluation-receipt.ts');
    return evaluationReceipt(context, word, flags.evaluation, flags.out);
  }
  const made = await receiptOfRun(context, word, flags.out);
  await printResult(context, 'receipt', made, () => {
    context.stdout.write(`${made.result}: ${show(made.path, 300)}\n`);
    context.stderr.write(commandsFor(made.path, TEST_RESULT, REPORT_FILE));
  });
  return EXIT.closed;
};

/** Writes the receipt of a run into a new folder, by default one that is named after the run. */
export async function receiptOfRun(
  context: CommandContext,
  word: string | undefined,
  folder: string | undefined,
) {
  const { runId, ...stated } = await judged(context, word);
  const path = folder ?? `lifeboat-receipt-${runId}`;
  const sha256 = await writeReceipt(context, path, () => toSign(runId, stated));
  return { runId, path, result: stated.statement.predicate.result, sha256 };
}

export interface StatedRun {
  readonly statement: Statement;
  readonly reportText: string;
}

/** The receipt of a run, to be signed. Pure. */
export function toSign(runId: string, { statement, reportText }: StatedRun): ToSign {
  const { result } = statement.predicate;
  return {
    ...{ statement, text: reportText, file: REPORT_FILE },
    made: (hashes) => ({ run: runId, result, ...hashes }),
  };
}

/** What a run proved, by a record that was verified. Rejects with `receipt.…`, exit 2, without a verdict. */
export async function statedOf(journal: Reader, run: RunSummary): Promise<StatedRun> {
  return isPlanRun(run) ? await ofPlan(journal, run) : await ofRun(journal, run);
}

type Reader = Pick<JournalReader, 'read' | 'rows'> & { readonly log: Pick<JournalReader['log'], 'head'> };

async function judged(
  given: CommandContext,
  word: string | undefined,
): Promise<StatedRun & { readonly runId: string }> {
  const context = await whereRunIs(given, word);
  const journal = await openReaderOf(context);
  try {
    const run = await findRun(journal, word);
    const { runId } = run;
    await assertSound(context, runId, []);
    return { runId, ...(await statedOf(journal, run)) };
  } finally {
    await journal.close();
  }
}

async function ofRun(journal: Reader, run: RunSummary): Promise<StatedRun> {
  const report = await reportOf(journal, run);
  const reportText = renderReport(report, 'json', {});
  return { statement: statementOf(report, await journal.read(`run/${run.runId}`), reportText), reportText };
}

async function ofPlan(journal: Reader, run: RunSummary): Promise<StatedRun> {
  const { planStatementOf, startedRun } = await import('../receipts/plan-statement.ts');
  const children = new Map<string, StartedRun>();
  const reports = await planReportOf(journal, run, (id, report, entries) => {
    children.set(id, startedRun(report, entries));
  });
  if (reports === undefined)
    throw new LifeboatError('receipt.no-verdict', 'this run has no plan on record', {
      hints: ['nothing was signed', `its evidence as a bundle: lifeboat audit export ${run.runId}`],
      exitCode: EXIT.usage,
    });
  const reportText = renderPlanReport(reports.plan, 'json', {});
  return { statement: planStatementOf(reports.plan, children, reportText), reportText };
}
