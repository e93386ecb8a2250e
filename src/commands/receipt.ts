import { hash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, failureOf, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from '../cli/context.ts';
import type { Action } from '../cli/define.ts';
import { printResult } from '../cli/print-result.ts';
import { isTaken, notWritten, writeNewFile } from '../cli/write-new-file.ts';
import { openReaderOf } from '../compose/store-of.ts';
import { openWorkspace, type Workspace, workspaceFor } from '../compose/workspace.ts';
import { loadConfig } from '../config/load.ts';
import { isKeyNamed, keyEntry, keyHash, receiptEntry } from '../receipts/log-entries.ts';
import type { StartedRun } from '../receipts/plan-statement.ts';
import { BUNDLE_FILE, KEY_FILE, PAE_FILE, SIGNATURE_FILE } from '../receipts/receipt-files.ts';
import {
  openReceipt,
  receiptPublicKey,
  type SignedReceipt,
  signStatement,
} from '../receipts/sigstore-bundle.ts';
import { REPORT_FILE, type Statement, statementOf, TEST_RESULT } from '../receipts/statement.ts';
import { renderPlanReport, renderReport } from '../report/render-report.ts';
import { findRun } from '../runner/runs.ts';
import { type JournalReader, LOG_STREAM } from '../store/journal.ts';
import type { RunSummary } from '../store/projections/run-summary.ts';
import { assertSound } from './audit/export.ts';
import { whereRunIs } from './drill/drill-homes.ts';
import { isPlanRun, planReportOf } from './plans/plan-report-of.ts';
import { reportOf } from './run/run-report.ts';

/**
 * `lifeboat receipt [RUN] [--out DIR]`: a new folder with the report of a run and a signed statement of what
 * the run proved, which cosign and openssl check without this program. Signs only an intact record
 * (`evidence.not-intact`) and never overwrites anything (`usage.out`). The hash of the receipt is an entry
 * before the folder is written: if the process dies between, the log names a receipt that nobody has. A drill
 * keeps no key, so its receipt is signed and recorded by the installation that asks.
 */
export const receipt: Action<{ readonly out?: string }> = async (context, [word], flags) => {
  const { runId, statement, reportText } = await judged(context, word);
  const out = flags.out ?? `lifeboat-receipt-${runId}`;
  if (existsSync(out)) throw isTaken(out);
  const workspace = await openWorkspace(context, await ownSetting(context));
  try {
    const key = await workspace.keyring.receiptKey();
    const publicKey = receiptPublicKey(key);
    const signed = signStatement(statement, key);
    assertReadable(signed, publicKey);
    const sha256 = hash('sha256', signed.bundle);
    const { result } = statement.predicate;
    await record(workspace, { runId, result, sha256, publicKey });
    write(out, reportText, signed, publicKey);
    await printResult(context, 'receipt', { runId, path: out, result, sha256 }, () => {
      context.stdout.write(`${result}: ${show(out, 300)}\n`);
      context.stderr.write(commandsFor(out));
    });
    return EXIT.closed;
  } finally {
    await workspace.close();
  }
};

interface Stated {
  readonly statement: Statement;
  readonly reportText: string;
}

interface Judged extends Stated {
  readonly runId: string;
}

async function judged(given: CommandContext, word: string | undefined): Promise<Judged> {
  const context = await whereRunIs(given, word);
  const journal = await openReaderOf(context);
  try {
    const run = await findRun(journal, word);
    const { runId } = run;
    await assertSound(context, runId, []);
    return { runId, ...(isPlanRun(run) ? await ofPlan(journal, run) : await ofRun(journal, run)) };
  } finally {
    await journal.close();
  }
}

async function ofRun(journal: JournalReader, run: RunSummary): Promise<Stated> {
  const report = await reportOf(journal, run);
  const reportText = renderReport(report, 'json', {});
  return { statement: statementOf(report, await journal.read(`run/${run.runId}`), reportText), reportText };
}

async function ofPlan(journal: JournalReader, run: RunSummary): Promise<Stated> {
  const { planStatementOf } = await import('../receipts/plan-statement.ts');
  const reports = await planReportOf(journal, run);
  if (reports === undefined)
    throw new LifeboatError('receipt.no-verdict', 'this run has no plan on record', {
      hints: ['nothing was signed', `its evidence as a bundle: lifeboat audit export ${run.runId}`],
      exitCode: EXIT.usage,
    });
  const children = new Map<string, StartedRun>();
  for (const [id, report] of reports.children)
    children.set(id, { report, entries: await journal.read(`run/${id}`) });
  const reportText = renderPlanReport(reports.plan, 'json', {});
  return { statement: planStatementOf(reports.plan, children, reportText), reportText };
}

/** After a drill on a machine without a config, its login name is the author of the entry. */
async function ownSetting(context: CommandContext) {
  try {
    return workspaceFor(await loadConfig(context.env, context.configPath));
  } catch (thrown) {
    if (failureOf(thrown).code === 'config.missing') return {};
    throw thrown;
  }
}

/** What a stranger could not check must not get a name in the log. */
function assertReadable({ bundle }: SignedReceipt, publicKey: string): void {
  const { outcome } = openReceipt(bundle, publicKey);
  if (outcome !== 'signed') throw new Error(`a receipt that was just signed is ${outcome}`);
}

interface Made {
  readonly runId: string;
  readonly result: Statement['predicate']['result'];
  readonly sha256: string;
  readonly publicKey: string;
}

async function record(
  { journal, signer }: Workspace,
  { runId, result, sha256, publicKey }: Made,
): Promise<void> {
  await journal.append([receiptEntry({ run: runId, result, sha256, key: keyHash(publicKey) })], []);
  // The first append names a new log, and the note is bound to that name.
  const origin = await journal.log.origin();
  if (origin === undefined || isKeyNamed(await journal.read(LOG_STREAM), publicKey)) return;
  await journal.append([keyEntry(publicKey, origin, signer)], []);
}

function write(out: string, reportText: string, signed: SignedReceipt, publicKey: string): void {
  try {
    mkdirSync(out, { mode: 0o700 });
    writeNewFile(join(out, REPORT_FILE), reportText);
    writeNewFile(join(out, BUNDLE_FILE), signed.bundle);
    writeNewFile(join(out, PAE_FILE), signed.pae);
    writeNewFile(join(out, SIGNATURE_FILE), signed.signature);
    writeNewFile(join(out, KEY_FILE), publicKey);
  } catch (cause) {
    throw notWritten(out, cause, 'name another place with --out DIR');
  }
}

/** What a person without this program runs, in the folder; they compare the key over another channel. */
function commandsFor(out: string): string {
  return `to check it in ${show(out, 300)}, with the key of \`lifeboat audit key --receipts\`:
  openssl dgst -sha256 -verify ${KEY_FILE} -signature receipt.sig receipt.pae
  grep -F "$(openssl dgst -sha256 -r ${REPORT_FILE} | cut -c1-64)" receipt.pae
or both at once, with cosign 3.0.4 or later:
  cosign verify-blob-attestation --key ${KEY_FILE} --bundle ${BUNDLE_FILE} \\
    --type ${TEST_RESULT} --insecure-ignore-tlog ${REPORT_FILE}
`;
}
