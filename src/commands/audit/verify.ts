import { existsSync, statSync } from 'node:fs';
import { readBounded, whyUnread } from '../../bounded-file.ts';
import { homeFolder, loadConfig } from '../../config/load.ts';
import { EXIT, LifeboatError } from '../../errors.ts';
import { type Anchor, parseAnchor } from '../../evidence/anchor.ts';
import type { AuditReport } from '../../evidence/audit-report.ts';
import { openForReading } from '../../journal/open-for-reading.ts';
import { findRun } from '../../runner/runs.ts';
import { show } from '../../text.ts';
import type { CommandContext } from '../context.ts';
import { printJson } from '../print-json.ts';

/** What an audit is told from elsewhere. */
interface Trust {
  readonly publicKey: string | undefined;
  readonly anchor: Anchor | undefined;
}

/**
 * `lifeboat audit verify [RUN|BUNDLE|FOLDER|FILE]`: the journal here, a bundle (which needs neither a home nor a config), or an exported journal. Exit 0
 * when nothing is wrong, 1 when something is, 2 for an anchor that was not copied whole.
 */
export async function auditVerifyCommand(
  context: CommandContext,
  [word]: readonly string[],
  flags: { readonly json?: boolean; readonly publicKey?: string; readonly anchor?: string },
): Promise<number> {
  const trust = {
    publicKey: flags.publicKey === undefined ? undefined : await readText(flags.publicKey),
    anchor: flags.anchor === undefined ? undefined : parseAnchor(flags.anchor),
  };
  const report =
    word !== undefined && existsSync(word)
      ? await verifyPath(context, word, trust)
      : await verifyHome(context, word, trust);
  if (flags.json) printJson(context, report);
  else print(context, report, trust.anchor);
  // Nothing to look at is not nothing found.
  return report.ok && report.streams.length > 0 ? EXIT.closed : EXIT.failed;
}

/** A folder or a tar is a bundle, anything else an exported stream. */
async function verifyPath(context: CommandContext, path: string, trust: Trust): Promise<AuditReport> {
  const { MOST_BUNDLE_BYTES, readBundle } = await import('./read-bundle.ts');
  const isFolder = statSync(path).isDirectory();
  const bytes = isFolder ? undefined : await readBytes(path, MOST_BUNDLE_BYTES);
  if (bytes?.[0] !== 0x7b) {
    const { files, problems } = await readBundle(path, bytes);
    const { verifyBundle } = await import('../../evidence/bundle/verify-bundle.ts');
    const { approvalProblems } = await import('./check-approvals.ts');
    const report = verifyBundle(files, trust);
    const checked = await approvalProblems(files, (line) => context.stderr.write(`${line}\n`));
    return withProblems(report, [...problems, ...checked]);
  }
  const { exportedLines, verifyExport } = await import('../../evidence/verify-export.ts');
  const lines = exportedLines(bytes).filter((line) => line !== '');
  return verifyExport(lines, trust.publicKey, trust.anchor);
}

function withProblems(
  report: AuditReport,
  problems: readonly { readonly code: string; readonly shortMessage: string }[],
): AuditReport {
  if (problems.length === 0) return report;
  const found = problems.map((problem) => ({ severity: 'problem' as const, ...problem }));
  return { ...report, ok: false, findings: [...found, ...report.findings] };
}

async function verifyHome(
  context: CommandContext,
  word: string | undefined,
  { publicKey, anchor }: Trust,
): Promise<AuditReport> {
  const { auditVerify } = await import('../../evidence/audit.ts');
  const home = homeFolder(context.env);
  const stream = word === undefined ? undefined : `run/${await runIdOrWord(home, word)}`;
  return auditVerify({
    home,
    folders: await checkpointFolders(context),
    anchor,
    ...(stream === undefined ? {} : { stream }),
    ...(publicKey === undefined ? {} : { publicKey }),
  });
}

/** Nobody reads further: a record that is broken in so many places is broken. */
const MOST_FINDINGS = 200;

function print(context: CommandContext, report: AuditReport, anchor: Anchor | undefined): void {
  for (const { severity, stream: where, seq, shortMessage } of report.findings.slice(0, MOST_FINDINGS)) {
    const place = [where, seq === undefined ? undefined : `entry ${seq}`]
      .filter((part) => part !== undefined)
      .join(' ');
    context.stdout.write(`${severity}: ${place === '' ? '' : `${place}: `}${shortMessage}\n`);
  }
  const more = report.findings.length - MOST_FINDINGS;
  if (more > 0) context.stdout.write(`${more} more are not shown: see them with --json\n`);
  for (const { stream: name, entries, head, sealed } of report.streams) {
    context.stdout.write(`${name}: ${entries} entries, sealed up to ${sealed}, head ${head.slice(0, 12)}\n`);
  }
  if (anchor !== undefined && !report.findings.some(({ code }) => code.startsWith('anchor.')))
    context.stdout.write(`the anchor holds: entry ${anchor.seq} of ${anchor.stream} is the one it saw\n`);
  context.stdout.write(
    `${report.entries} entries in ${report.streams.length} streams: ${verdictOf(report)}\n`,
  );
  const hint = anchor === undefined ? TRUST_HINTS[report.trust] : undefined;
  if (hint !== undefined) context.stderr.write(`hint: ${hint}\n`);
}

function verdictOf(report: AuditReport): string {
  if (!report.ok) return 'NOT INTACT: see the problems above';
  if (report.streams.length === 0) return 'there is nothing to verify';
  return 'nothing was changed, removed or reordered';
}

const TRUST_HINTS: Readonly<Record<AuditReport['trust'], string | undefined>> = {
  given: undefined,
  beside:
    'the public key lies beside what it signs; name a copy from elsewhere with --public-key, or an --anchor',
  none: 'no signature was checked; name the public key with --public-key',
};

/** The run a word means; when the journal is too damaged to tell, the word itself, so that the audit can say what is wrong. */
async function runIdOrWord(home: string, word: string): Promise<string> {
  try {
    const journal = await openForReading({ home });
    try {
      return (await findRun(journal, word)).runId;
    } finally {
      await journal.close();
    }
  } catch (thrown) {
    if (thrown instanceof LifeboatError && thrown.code.startsWith('run.')) throw thrown;
    return word;
  }
}

/** The config's further checkpoint folders; an audit also works where there is no config. */
async function checkpointFolders(context: CommandContext): Promise<readonly string[]> {
  try {
    return (await loadConfig(context.env, context.configPath)).checkpoints;
  } catch (thrown) {
    const isMissing = thrown instanceof LifeboatError && thrown.code === 'config.missing';
    if (isMissing && context.configPath === undefined) return [];
    throw thrown;
  }
}

/** Bytes: room for every key that an installation will ever have. */
const MOST_KEYS = 1024 * 1024;

async function readText(path: string): Promise<string> {
  return (await readBytes(path, MOST_KEYS)).toString('utf8');
}

async function readBytes(path: string, most: number): Promise<Buffer> {
  try {
    return await readBounded(path, most);
  } catch (cause) {
    throw new LifeboatError('input.file', `${show(path, 200)} cannot be read: ${whyUnread(cause)}`, {
      cause,
      exitCode: EXIT.usage,
    });
  }
}
