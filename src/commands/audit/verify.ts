import { existsSync, statSync } from 'node:fs';
import type { AuditReport, Finding } from '../../audit/audit-report.ts';
import type { Audited } from '../../audit/audit-verdict.ts';
import { readBounded, whyUnread } from '../../bounded-file.ts';
import { homeFolder } from '../../config/load.ts';
import { EXIT, LifeboatError } from '../../errors.ts';
import { findRun } from '../../runner/runs.ts';
import type { Row } from '../../store/chain.ts';
import { type Anchor, parseAnchor } from '../../store/log/anchor.ts';
import { openForReading } from '../../store/open-for-reading.ts';
import { show } from '../../text.ts';
import type { CommandContext } from '../context.ts';
import { whereRunIs } from '../drill/drill-homes.ts';
import { checkpointFolders } from './checkpoint-folders.ts';
import { storedKey } from './stored-key.ts';

/** What an audit is told from elsewhere. */
interface Trust {
  readonly publicKey: string | undefined;
  readonly anchors: readonly Anchor[];
}

interface Verified {
  readonly audited: Audited;
  readonly report: AuditReport;
}

/**
 * `lifeboat audit verify [RUN|BUNDLE|FOLDER|FILE]`: the journal here, a bundle (which needs neither a home nor a config), or an exported journal. Exit 0
 * when nothing is wrong, 1 when something is, 2 for an anchor that was not copied whole. What was not checked stands in the verdict.
 */
export async function auditVerifyCommand(
  context: CommandContext,
  [word]: readonly string[],
  flags: {
    readonly json?: boolean;
    readonly publicKey?: string;
    readonly anchor?: string | readonly string[];
  },
): Promise<number> {
  const trust = {
    publicKey: flags.publicKey === undefined ? undefined : await readText(flags.publicKey),
    anchors: [flags.anchor ?? []].flat().map(parseAnchor),
  };
  const { audited, report } =
    word !== undefined && existsSync(word)
      ? await verifyPath(word, trust)
      : await verifyHome(await whereRunIs(context, word), word, trust);
  const { printAudit, printAuditJson } = await import('./print-audit.ts');
  const print = flags.json === true ? printAuditJson : printAudit;
  print(context, audited, report, trust.anchors);
  // Nothing to look at is not nothing found.
  return report.ok && report.streams.length > 0 ? EXIT.closed : EXIT.failed;
}

/** A folder or a tar is a bundle, anything else an exported stream. */
async function verifyPath(path: string, trust: Trust): Promise<Verified> {
  const { MOST_BUNDLE_BYTES, readBundle } = await import('./read-bundle.ts');
  const isFolder = statSync(path).isDirectory();
  const bytes = isFolder ? undefined : await readBytes(path, MOST_BUNDLE_BYTES);
  if (bytes?.[0] !== 0x7b) {
    const { files, problems } = await readBundle(path, bytes);
    const { verifyBundle } = await import('../../audit/bundle/verify-bundle.ts');
    const approvals: Row[] = [];
    const report = verifyBundle(files, { ...trust, approval: (row) => void approvals.push(row) });
    const damaged = problems.map((problem) => ({ severity: 'problem' as const, ...problem }));
    const found = [...damaged, ...(await checked(approvals))];
    return { audited: 'bundle', report: withFindings(report, found) };
  }
  const { exportedLines, verifyExport } = await import('../../audit/verify-export.ts');
  const lines = exportedLines(bytes).filter((line) => line !== '');
  return { audited: 'export', report: verifyExport(lines, trust.publicKey, trust.anchors) };
}

async function verifyHome(
  context: CommandContext,
  word: string | undefined,
  { publicKey, anchors }: Trust,
): Promise<Verified> {
  const { auditVerify } = await import('../../audit/audit.ts');
  const home = homeFolder(context.env);
  const stream = word === undefined ? undefined : `run/${await runIdOrWord(home, word)}`;
  const approvals: Row[] = [];
  const stored = publicKey === undefined ? await storedKey(context) : undefined;
  const report = await auditVerify({
    home,
    folders: await checkpointFolders(context),
    anchors,
    approval: (row) => void approvals.push(row),
    // An anchor of another stream is looked for as well.
    ...(stream === undefined || anchors.some((anchor) => anchor.stream !== stream) ? {} : { stream }),
    ...(stored === undefined ? {} : { storedKey: stored }),
    ...(publicKey === undefined ? {} : { publicKey }),
  });
  return { audited: 'home', report: withFindings(report, await checked(approvals)) };
}

async function checked(approvals: readonly Row[]): Promise<readonly Finding[]> {
  if (approvals.length === 0) return [];
  const { approvalFindings } = await import('./check-approvals.ts');
  return approvalFindings(approvals);
}

function withFindings(report: AuditReport, found: readonly Finding[]): AuditReport {
  const ok = report.ok && found.every(({ severity }) => severity === 'warning');
  return { ...report, ok, findings: [...found, ...report.findings] };
}

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
