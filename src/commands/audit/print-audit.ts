import {
  type Finding,
  type Pin,
  VERDICT_EXIT,
  type Verdict,
  verdictOf,
  verdictWords,
} from '../../audit/verdict.ts';
import { counted, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';

/** The findings about a store or a bundle. */
export interface Verified {
  readonly findings: readonly Finding[];
  readonly pins: readonly Pin[];
  readonly entries: number;
  readonly streams: number;
  /** The anchor of the log as it was found. */
  readonly anchor?: string | undefined;
  /** The leaves of the requested run, counted from 0, in ranges. */
  readonly run?: {
    readonly stream: string;
    readonly leaves: readonly (readonly [first: number, last: number])[];
  };
}

/** More findings add nothing: the record is broken. */
const MAX_FINDINGS = 200;
const MAX_RANGES = 20;

/** Prints the findings of an audit, what pins the record, and the verdict; returns the exit code. */
export async function printAudit(context: CommandContext, verified: Verified): Promise<number> {
  const { findings, pins, entries, streams, anchor, run } = verified;
  const verdict: Verdict = entries === 0 ? 'not-intact' : verdictOf(findings);
  const isNothing = entries === 0 && verdictOf(findings) !== 'not-intact';
  const words = isNothing ? 'there is nothing to verify' : verdictWords(findings, pins);
  const result = { verdict, words, entries, streams, anchor, pins, run, findings };
  await printResult(context, 'audit', result, () => printLines(context, verified, words));
  return VERDICT_EXIT[verdict];
}

function printLines(context: CommandContext, verified: Verified, words: string): void {
  const { findings, pins, entries, streams, anchor, run } = verified;
  const line = (text: string) => void context.stdout.write(`${text}\n`);
  for (const { severity, stream, seq, shortMessage } of findings.slice(0, MAX_FINDINGS)) {
    const place = [stream, seq === undefined ? undefined : `entry ${seq}`]
      .filter((part) => part !== undefined)
      .join(' ');
    line(`${severity}: ${place === '' ? '' : `${place}: `}${shortMessage}`);
  }
  const more = findings.length - MAX_FINDINGS;
  if (more > 0) line(`${more} more are not shown: see them with -o json`);
  if (run !== undefined) line(runInWords(run));
  for (const { place, size, at } of pins)
    line(
      `checkpoint in ${show(place, 200)}: ` +
        `fits the first ${counted(size, 'entry', 'entries')}, up to ${formatTime(at)} UTC`,
    );
  if (anchor !== undefined) line(`anchor: ${anchor}`);
  line(`${counted(entries, 'entry', 'entries')} in ${counted(streams, 'stream')}: ${words}`);
}

function runInWords({ stream, leaves }: NonNullable<Verified['run']>): string {
  const total = leaves.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const ranges = leaves
    .slice(0, MAX_RANGES)
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  const rest = leaves.length > MAX_RANGES ? ', ...' : '';
  return `${show(stream, 120)}: ${counted(total, 'entry', 'entries')}${total === 0 ? '' : `, leaves ${ranges.join(', ')}${rest}`}`;
}
