import { existsSync, statSync } from 'node:fs';
import type { AuditedLog } from '../../audit/audit-places.ts';
import {
  createFindings,
  type Finding,
  type Pin,
  toldFindings,
  toldWords,
  VERDICT_EXIT,
  type Verdict,
  verdictOf,
  verdictWords,
} from '../../audit/verdict.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { counted, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { printResult } from '../../cli/print-result.ts';
import { readGivenFile } from '../../cli/read-given-file.ts';
import type { CheckedReceipt } from '../../receipts/check-receipts.ts';
import { type Anchor, parseAnchor } from '../../store/log/anchor.ts';
import { parsePublicKeys } from '../../store/log/named-keys.ts';
import { whereRunIs } from '../drill/drill-homes.ts';
import { approvalWatch } from './check-approvals.ts';

/** What an audit is given from outside the store. */
export interface Trust {
  readonly publicKey: string | undefined;
  readonly anchors: readonly Anchor[];
  /** The public key of this machine's key store, if it is already open. */
  readonly storedKey?: string | undefined;
}

/**
 * `lifeboat audit verify [RUN|BUNDLE|FOLDER|FILE]`: the local store, a bundle (which needs neither a home nor
 * a config), or an exported journal. Exit 0: intact under a pinned key; 3: no fault found, and the verdict
 * names what is not pinned; 1: not intact; 2 for an incompletely copied anchor, and for a file without a key.
 */
export async function auditVerifyCommand(
  context: CommandContext,
  [word]: readonly string[],
  flags: {
    readonly publicKey?: string;
    readonly anchor?: string | readonly string[];
    readonly storedKey?: string;
    readonly receipts?: readonly string[];
  },
): Promise<number> {
  const { receiptFolders } = await import('./receipt-folders.ts');
  const folders = (flags.receipts ?? []).flatMap(receiptFolders);
  const trust = {
    publicKey: flags.publicKey === undefined ? undefined : await readKeys(flags.publicKey),
    anchors: [flags.anchor ?? []].flat().map(parseAnchor),
    storedKey: flags.storedKey === undefined ? undefined : pemOf(flags.storedKey),
  };
  const verified =
    word !== undefined && existsSync(word)
      ? await verifyPath(word, trust)
      : await verifyStore(await whereRunIs(context, word), word, trust);
  const { checkReceipts } = await import('../../receipts/check-receipts.ts');
  const found = createFindings();
  const receipts = checkReceipts(verified.log, folders, found);
  return printAudit(context, { ...verified, receipts, findings: [...verified.findings, ...found.list()] });
}

async function verifyStore(
  context: CommandContext,
  word: string | undefined,
  trust: Trust,
): Promise<Audited> {
  const { auditStore, streamNamed } = await import('./audit-store.ts');
  const stream = word === undefined ? undefined : await streamNamed(context, word);
  const approvals = approvalWatch();
  const report = await auditStore(context, { ...trust, stream, onEntry: approvals.take });
  return { ...report, findings: [...approvals.findings(), ...report.findings] };
}

/** A folder or a tar is a bundle, anything else an exported journal. */
async function verifyPath(path: string, trust: Trust): Promise<Audited> {
  const { MAX_BUNDLE_BYTES, readBundle } = await import('./read-bundle.ts');
  const { verifyBundle } = await import('../../audit/bundle/verify-bundle.ts');
  const { unpackLines } = await import('../../audit/bundle/pack.ts');
  const isFolder = statSync(path).isDirectory();
  const bytes = isFolder ? undefined : await readGivenFile(path, MAX_BUNDLE_BYTES);
  const isLines = bytes?.[0] === 0x7b;
  const { files, problems } = isLines
    ? { files: unpackLines(bytes) ?? new Map(), problems: [] }
    : await readBundle(path, bytes);
  const approvals = approvalWatch();
  const { streams, ...report } = verifyBundle(files, { ...trust, isLines, approval: approvals.take });
  const damaged = problems.map((problem): Finding => ({ severity: 'problem', ...problem }));
  const entries = streams.reduce((sum, stream) => sum + stream.entries, 0);
  return {
    ...report,
    streams: streams.length,
    entries,
    findings: [...damaged, ...approvals.findings(), ...report.findings],
  };
}

/** The key of `--stored-key`: DER in base64, so that it is one word. */
function pemOf(base64: string): string {
  return `-----BEGIN PUBLIC KEY-----\n${base64}\n-----END PUBLIC KEY-----\n`;
}

/** Bytes: room for every key that an installation will ever have. */
const MAX_KEYS = 1024 * 1024;

/** A file without keys says nothing about the journal, and must not make it look damaged. */
export async function readKeys(path: string): Promise<string> {
  const text = (await readGivenFile(path, MAX_KEYS)).toString('utf8');
  if (parsePublicKeys(text).length > 0) return text;
  throw new LifeboatError('input.key', `${show(path, 200)} holds no ed25519 public key in PEM`, {
    hints: ['on the machine that signs: lifeboat audit key > KEY.pub', 'nothing was verified'],
    exitCode: EXIT.usage,
  });
}

interface Verified {
  readonly receipts: readonly CheckedReceipt[];
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

type Audited = Omit<Verified, 'receipts'> & { readonly log: AuditedLog };

/** More findings add nothing: the record is broken. */
const MAX_FINDINGS = 200;
const MAX_RANGES = 20;

/** Prints the findings of an audit, what pins the record, and the verdict; returns the exit code. */
async function printAudit(context: CommandContext, verified: Verified): Promise<number> {
  const { findings, pins, entries, streams, anchor, run, receipts } = verified;
  const verdict: Verdict = entries === 0 ? 'not-intact' : verdictOf(findings);
  const isNothing = entries === 0 && verdictOf(findings) !== 'not-intact';
  const words = isNothing ? 'there is nothing to verify' : verdictWords(findings, pins);
  const result = { verdict, words, entries, streams, anchor, pins, run, receipts, findings };
  await printResult(context, 'audit', result, () => printLines(context, verified, words));
  return VERDICT_EXIT[verdict];
}

function printLines(context: CommandContext, verified: Verified, words: string): void {
  const { findings, pins, entries, streams, anchor, run, receipts } = verified;
  const line = (text: string) => void context.stdout.write(`${text}\n`);
  const told = toldFindings(findings);
  for (const one of told.slice(0, MAX_FINDINGS)) {
    const { severity, stream, seq } = one.finding;
    const place = [stream, seq === undefined ? undefined : `entry ${seq}`]
      .filter((part) => part !== undefined)
      .join(' ');
    line(`${severity}: ${place === '' ? '' : `${place}: `}${toldWords(one)}`);
  }
  const hidden = findings.length - Math.min(told.length, MAX_FINDINGS);
  if (hidden > 0) line(`${hidden} more are not shown: see them with -o json`);
  if (run !== undefined) line(runInWords(run));
  for (const { about, path, state } of receipts)
    if (state === 'verified')
      line(`receipt of ${about} in ${path}: verified, with the file that it is about`);
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
