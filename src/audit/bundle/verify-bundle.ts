import type { KeyObject } from 'node:crypto';
import { counted, formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import { type Entry, fieldsOf, LOG_STREAM, type StoredEntry } from '../../store/journal.ts';
import { type Anchor, anchorOf } from '../../store/log/anchor.ts';
import { type Checkpoint, claimOf, readCheckpoint } from '../../store/log/checkpoint.ts';
import { LOG_BEGUN, LogBegun, lossesIn, lossInWords } from '../../store/log/log-entries.ts';
import type { ShownTree } from '../../store/log/merkle.ts';
import { believedKeys, namedKey, parsePublicKeys } from '../../store/log/named-keys.ts';
import { entryOf } from '../../store/new-entry.ts';
import type { AuditedLog } from '../audit-places.ts';
import { transcriptWatch } from '../audit-transcript.ts';
import { createFindings, type Finding, type Findings, type Pin } from '../verdict.ts';
import { approvalFiles, checkManifest, noteIn, type Subject, subjectOf } from './documents.ts';
import { inFolder, JOURNAL, LOG, type ReadableFiles, transcriptBeside, WISHES } from './names.ts';
import { readLog, readProof, type ShownStream } from './shown-log.ts';

/** The trusted input of an auditor, and what to check. */
export interface BundleTrust {
  /** Concatenated PEM keys. Without it the keys in the bundle are used, which pin nothing. */
  readonly publicKey?: string | undefined;
  readonly anchors?: readonly Anchor[] | undefined;
  /** The journal alone, as lines: it comes without a transcript and approval files. */
  readonly isLines?: boolean | undefined;
  /** Called with every entry about an approval. */
  readonly approval?: ((entry: StoredEntry) => void) | undefined;
}

export interface BundleReport {
  readonly findings: readonly Finding[];
  /** What is pinned; empty if nothing is. */
  readonly pins: readonly Pin[];
  readonly streams: readonly { readonly stream: string; readonly entries: number }[];
  /** Of the log at the size of the bundle. */
  readonly anchor: string | undefined;
  readonly log: AuditedLog;
}

const NO_LOG: AuditedLog = { entries: [], origin: undefined, believed: [] };
const CHECKPOINT = 'checkpoint.note';

/**
 * Recomputes everything in an evidence bundle, on any machine, without a home or a config: the signed list of
 * files, each file's hash, each entry, the log's root at each checkpoint and anchor, each signature, and what
 * the record says of transcript and approvals. Reads one file at a time. Throws only what `files` throws.
 */
export function verifyBundle(files: ReadableFiles, trust: BundleTrust): BundleReport {
  const findings = createFindings();
  const subject = subjectOf(files);
  if (subject === undefined) {
    findings.problem('manifest.unreadable', 'manifest.note is missing or unreadable');
    return { findings: findings.list(), pins: [], streams: [], anchor: undefined, log: NO_LOG };
  }
  const others = [...files.keys()].filter((name) => name.startsWith('checkpoints/'));
  const notes: Notes = [CHECKPOINT, ...others].map((name) => [name, noteIn(files, name)]);
  const head = claimOf(noteIn(files, CHECKPOINT));
  const proof = readProof(files.get('proof.json'));
  if (proof === undefined) findings.problem('proof.unreadable', 'proof.json is missing or unreadable');
  const streams: { readonly stream: string; readonly entries: number }[] = [];
  const wrong: string[] = [];
  let aboutLog: readonly Entry[] = [];
  let isJournalled = subject.kind === 'log';
  let newest = '';
  const derived = derivedFrom(files, trust, findings);
  const tree = readLog(files, proof, head?.size ?? 0, findings, (file, shown) => {
    const { stream, entries } = shown;
    streams.push({ stream, entries: entries.length });
    if (!isOfItsName(file, shown, subject)) wrong.push(file);
    if (file === LOG) aboutLog = entries.map(entryOf);
    if (file === JOURNAL) isJournalled = true;
    if (file === JOURNAL || inFolder(file)?.name === JOURNAL) derived.take(file, entries);
    newest = entries.reduce((time, { at }) => (at > time ? at : time), newest);
  });
  checkRoots(notes, tree, findings);

  const begun = begunIn(aboutLog);
  const isBegun = begun !== undefined && begun.origin === head?.origin;
  if (!isJournalled) wrong.push(JOURNAL);
  if ((!isBegun || (subject.kind === 'log' && subject.id !== begun.origin)) && !wrong.includes(LOG))
    wrong.push(LOG);
  for (const file of wrong)
    findings.problem('stream.other', `${show(file, 120)} does not hold what its name says`);
  const pem = trust.publicKey;
  const begin =
    pem === undefined ? keysBeside(String(files.get('lifeboat.pub')), begun) : parsePublicKeys(pem);
  if (begin.length === 0)
    findings.problem('key.unreadable', 'there is no ed25519 public key in PEM to verify with');
  const named = aboutLog.flatMap((entry) => namedKey(entry) ?? []);
  const keys = believedKeys(begin, named, begun?.origin);
  checkSignatures(notes, keys, findings);
  checkManifest(files, subject, keys, findings);
  const anchored = head === undefined ? 0 : checkAnchors(trust.anchors ?? [], head, tree, findings);
  sayLimits(trust, anchored, findings);
  for (const loss of lossesIn(aboutLog))
    findings.limit('loss.accepted', `${lossInWords(loss)} (${loss.by}, ${formatTime(loss.at)} UTC)`, {
      stream: 'store/log',
    });
  derived.finish();
  return {
    findings: findings.list(),
    pins: pem === undefined || head === undefined ? [] : [{ place: CHECKPOINT, size: head.size, at: newest }],
    streams,
    anchor: head === undefined || head.size === 0 ? undefined : anchorOf(head),
    log: { entries: aboutLog, origin: begun?.origin, believed: keys },
  };
}

/** A plan's child must say itself that the bundle's run started it. All runs of a log are in folders. */
function isOfItsName(file: string, { stream, entries }: ShownStream, { kind, id }: Subject): boolean {
  if (file === JOURNAL) return kind === 'run' && stream === `run/${id}`;
  if (file === WISHES) return kind === 'run' && stream === `plan/${id}`;
  if (file === LOG) return true;
  const { folder, run, name } = inFolder(file) ?? {};
  if (folder === undefined) return stream.startsWith('instance/');
  const isIts = stream === `${name === JOURNAL ? 'run' : 'plan'}/${run}`;
  if (folder === 'runs') return isIts && kind === 'log';
  const [first] = entries.slice(0, 1).map(entryOf);
  return isIts && kind === 'run' && fieldsOf(fieldsOf(first?.body)['plan'])['run'] === id;
}

function sayLimits({ publicKey, anchors = [] }: BundleTrust, anchored: number, findings: Findings): void {
  const key = 'no key is pinned: the bundle vouches for its own key';
  const rest =
    anchored === 0
      ? ', so a forgery of the whole would not be found: pass --public-key or --anchor'
      : `; only the first ${counted(anchored, 'entry', 'entries')} of the log are pinned, by the anchor`;
  if (publicKey === undefined) findings.limit('key.none', `${key}${rest}`);
  else if (anchors.length === 0)
    findings.note('anchor.none', 'a newer state of this record cannot be ruled out: pass --anchor');
  const ends =
    'only the signer of the bundle says that no stream had more entries than these; no proof shows it';
  findings.note('stream.ends', ends);
}

/** Derived files must match the record: the transcript of each run, and the files of all approvals. */
function derivedFrom(
  files: ReadableFiles,
  { isLines, approval }: BundleTrust,
  findings: Findings,
): { take(journal: string, entries: readonly StoredEntry[]): void; finish(): void } {
  const approvals = new Map<string, Buffer>();
  return {
    take(journal, entries) {
      for (const entry of entries) if (entry.type.startsWith('approval.')) approval?.(entry);
      if (isLines === true) return;
      const transcripts = transcriptWatch(() => files.get(transcriptBeside(journal)), false, findings);
      for (const entry of entries) transcripts.take(entry);
      transcripts.finish();
      for (const [name, bytes] of approvalFiles(entries.map(entryOf))) approvals.set(name, bytes);
    },
    finish() {
      if (isLines === true) return;
      const names = [...files.keys()].filter((name) => name.startsWith('approvals/'));
      for (const name of new Set([...approvals.keys(), ...names]))
        if (approvals.get(name)?.equals(files.get(name) ?? Buffer.alloc(0)) !== true)
          findings.problem('approval.file', `${show(name, 120)} does not match the record`);
    },
  };
}

/** The signed heads by file, the newest first. */
type Notes = readonly (readonly [file: string, note: string])[];

function checkRoots(notes: Notes, tree: ShownTree | undefined, findings: Findings): void {
  const origin = claimOf(notes[0]?.[1])?.origin;
  for (const [file, note] of notes) {
    const claim = claimOf(note);
    const problem = (code: string, what: string) => findings.problem(code, `${show(file, 160)}: ${what}`);
    if (claim === undefined) problem('checkpoint.unreadable', 'it is not a readable checkpoint');
    else if (claim.origin !== origin) problem('checkpoint.other-log', 'it belongs to another log');
    else if (tree?.root(claim.size)?.toString('hex') !== claim.root)
      problem('checkpoint.other-root', `the first ${claim.size} entries are not those that were signed`);
  }
}

function checkSignatures(notes: Notes, keys: readonly KeyObject[], findings: Findings): void {
  for (const [at, [file, note]] of notes.entries()) {
    const { result } = readCheckpoint(note, keys);
    const what = show(file, 160);
    if (result === 'bad-signature')
      findings.problem(`checkpoint.${result}`, `${what} was changed: its signature does not match`);
    else if (result === 'unknown-key' && at === 0)
      findings.problem(`checkpoint.${result}`, `${what} is signed by a key that is not known`);
    else if (result === 'unknown-key')
      findings.limit(`checkpoint.${result}`, `${what} pins nothing: its key is neither given nor endorsed`);
  }
}

/** Without a given key: the keys beside the bundle, and that of the log's first entry. */
function keysBeside(pem: string, begun: Begun): readonly KeyObject[] {
  return [...parsePublicKeys(pem), ...parsePublicKeys(begun?.publicKey ?? '')];
}

/** The first entry of a log, which names it; undefined for any other. */
function begunIn([first]: readonly Entry[]) {
  const isFirst = first?.index === 0 && first.stream === LOG_STREAM && first.type === LOG_BEGUN;
  return LogBegun.safeParse(isFirst ? first.body : undefined).data;
}
type Begun = ReturnType<typeof begunIn>;

/** How many first entries of the log the anchors pin; reports the result of each anchor. */
function checkAnchors(
  anchors: readonly Anchor[],
  { origin, size: whole }: Checkpoint,
  tree: ShownTree | undefined,
  findings: Findings,
): number {
  let pinned = 0;
  for (const { origin: log, size, root } of anchors) {
    const shown = tree?.root(size)?.toString('hex');
    const entries = counted(size, 'entry', 'entries');
    if (log !== origin) findings.problem('anchor.other', `the anchor is of ${log}, and this is ${origin}`);
    else if (size > whole)
      findings.limit('anchor.later', `the anchor covers ${entries}, the log has ${whole}: it pins nothing`);
    else if (shown === undefined)
      findings.limit('anchor.not-shown', `no proof shows the ${entries} of the anchor: export with --anchor`);
    else if (!shown.startsWith(root))
      findings.problem('anchor.rewritten', `the first ${entries} are not those of the anchor`);
    else {
      findings.note('anchor.holds', `the anchor matches: the first ${entries} are those that it covers`);
      pinned = Math.max(pinned, size);
    }
  }
  return pinned;
}
