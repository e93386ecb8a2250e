import type { AuditReport } from '../../audit/audit-report.ts';
import { type Audited, believedBy, verdictOf } from '../../audit/audit-verdict.ts';
import { counted } from '../../format.ts';
import { type Anchor, anchorOf } from '../../store/log/anchor.ts';
import { isStreamName } from '../../store/new-entry.ts';
import type { CommandContext } from '../context.ts';
import { printJson } from '../print-json.ts';

/** Nobody reads further: a record that is broken in so many places is broken. */
const MOST_FINDINGS = 200;

/** What an audit has found, how far its verdict reaches, and what it could only believe. */
export function printAudit(
  { stdout }: CommandContext,
  audited: Audited,
  report: AuditReport,
  anchors: readonly Anchor[],
): void {
  for (const { severity, stream: where, seq, shortMessage } of report.findings.slice(0, MOST_FINDINGS)) {
    const place = [where, seq === undefined ? undefined : `entry ${seq}`]
      .filter((part) => part !== undefined)
      .join(' ');
    stdout.write(`${severity}: ${place === '' ? '' : `${place}: `}${shortMessage}\n`);
  }
  const more = report.findings.length - MOST_FINDINGS;
  if (more > 0) stdout.write(`${more} more are not shown: see them with --json\n`);
  for (const stream of report.streams)
    stdout.write(
      `${stream.stream}: ${counted(stream.entries, 'entry', 'entries')}, sealed up to ${stream.sealed}, ${headOf(stream)}\n`,
    );
  if (!report.findings.some(({ code }) => code.startsWith('anchor.')))
    for (const { seq, stream } of anchors)
      stdout.write(`the anchor holds: entry ${seq} of ${stream} is the one it saw\n`);
  stdout.write(
    `${counted(report.entries, 'entry', 'entries')} in ${counted(report.streams.length, 'stream')}: ${verdictOf(report)}\n`,
  );
  if (report.streams.length === 0) return;
  for (const line of believedBy(audited, report, anchors)) stdout.write(`believed: ${line}\n`);
}

/** The same for a program: the report, its verdict in words, and what was believed. */
export function printAuditJson(
  context: CommandContext,
  audited: Audited,
  report: AuditReport,
  anchors: readonly Anchor[],
): void {
  printJson(context, {
    ...report,
    verdict: verdictOf(report),
    believed: believedBy(audited, report, anchors),
  });
}

/** As it stands in a ticket, to be compared. */
function headOf({ stream, entries, head }: AuditReport['streams'][number]): string {
  if (!isStreamName(stream) || entries === 0) return `head ${head.slice(0, 12)}`;
  return `anchor ${anchorOf({ stream, seq: entries, hash: head })}`;
}
