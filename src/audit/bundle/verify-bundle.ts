import type { StoredEntry } from '../../store/journal.ts';
import { anchorOf } from '../../store/log/anchor.ts';
import { LOG_BEGUN } from '../../store/log/log-entries.ts';
import { claimOf } from '../../store/log/places/place.ts';
import { parsePublicKeys } from '../../store/log/public-keys.ts';
import { MAX_NOTE_BYTES } from '../../store/log/signed-note.ts';
import { show } from '../../text.ts';
import { transcriptWatch } from '../audit-transcript.ts';
import { createFindings, type Finding, type Findings, type Pin } from '../verdict.ts';
import { approvalFiles } from './approvals.ts';
import { believedKeys, checkAnchors, checkRoots, keysBeside, type Notes, type Trust } from './believe.ts';
import { checkManifest, runOf } from './manifest.ts';
import { linesOf, type ReadLog, readLog, readProof } from './read-log.ts';
import type { BundleFiles } from './tar.ts';

export interface BundleTrust extends Trust {
  /** The journal alone, as lines: it comes without a transcript and without the files of approvals. */
  readonly isLines?: boolean | undefined;
  /** Is given every entry about an approval. */
  readonly approval?: ((entry: StoredEntry) => void) | undefined;
}

export interface BundleReport {
  readonly findings: readonly Finding[];
  /** What is pinned; empty when nothing is. */
  readonly pins: readonly Pin[];
  readonly streams: readonly { readonly stream: string; readonly entries: number }[];
  /** Of the log at the size of the bundle. */
  readonly anchor: string | undefined;
}

const CHECKPOINT = 'checkpoint.note';
const isEntries = (name: string) =>
  name === 'journal.jsonl' || name === 'log.jsonl' || name.startsWith('ledger/');

/**
 * Re-computes everything in an evidence bundle, on any machine, without a home or a config: the signed list of files, every file's hash, every
 * entry, the root of the log at each checkpoint and anchor, every signature, what the record says of the transcript and of approvals.
 * Never throws on any content.
 */
export function verifyBundle(files: BundleFiles, trust: BundleTrust): BundleReport {
  const findings = createFindings();
  const run = runOf(files);
  if (run === undefined) {
    findings.problem('manifest.unreadable', 'manifest.note is missing, or is not a manifest any more');
    return { findings: findings.list(), pins: [], streams: [], anchor: undefined };
  }
  const notes: Notes = [
    CHECKPOINT,
    ...[...files.keys()].filter((name) => name.startsWith('checkpoints/')),
  ].map(
    // Cut, it is no note any more.
    (name) => [name, files.get(name)?.toString('utf8', 0, MAX_NOTE_BYTES + 1) ?? ''],
  );
  const head = claimOf(notes[0]?.[1]);
  const lines = new Map(
    [...files].filter(([name]) => isEntries(name)).map(([name, bytes]) => [name, linesOf(bytes)]),
  );
  const proof = readProof(files.get('proof.json'));
  if (proof === undefined)
    findings.problem('proof.unreadable', 'proof.json is missing, or is not a proof any more');
  const log = readLog(lines, proof, head?.size ?? 0, findings);
  checkRoots(notes, log.tree, findings);
  checkStreams(log, run, head?.origin, findings);

  const aboutLog = log.streams.get('log.jsonl')?.entries ?? [];
  const begin =
    trust.publicKey === undefined
      ? keysBeside(String(files.get('lifeboat.pub') ?? ''), aboutLog)
      : parsePublicKeys(trust.publicKey);
  if (begin.length === 0)
    findings.problem('key.unreadable', 'there is no ed25519 public key in PEM to verify with');
  const keys = believedKeys(begin, notes, aboutLog, findings);
  checkManifest(files, run, keys, findings);
  const anchored = head === undefined ? 0 : checkAnchors(trust.anchors ?? [], head, log.tree, findings);
  sayLimits(trust, anchored, findings);

  const entries = log.streams.get('journal.jsonl')?.entries ?? [];
  if (trust.isLines !== true) checkDerived(files, entries, findings);
  for (const entry of entries) if (entry.type.startsWith('approval.')) trust.approval?.(entry);
  const at = [...log.streams.values()].flatMap((stream) => stream.entries).reduce(latest, '');
  const size = head?.size ?? 0;
  return {
    findings: findings.list(),
    pins: trust.publicKey === undefined || head === undefined ? [] : [{ place: CHECKPOINT, size, at }],
    streams: [...log.streams.values()].map(({ stream, entries: { length } }) => ({
      stream,
      entries: length,
    })),
    anchor: head === undefined || size === 0 ? undefined : anchorOf(head),
  };
}

/** Each file has the stream that its name says, and the log begins with its own name. */
function checkStreams(
  { streams }: ReadLog,
  run: string,
  origin: string | undefined,
  findings: Findings,
): void {
  const wrong = (file: string) =>
    findings.problem('stream.other', `${show(file, 120)} does not hold what its name says`);
  if (streams.get('journal.jsonl')?.stream !== `run/${run}`) wrong('journal.jsonl');
  const [first] = streams.get('log.jsonl')?.entries ?? [];
  const begun =
    first?.index === 0 && first.type === LOG_BEGUN && first.stream === 'store/log' ? first.body : '{}';
  if (origin === undefined || JSON.parse(begun).origin !== origin) wrong('log.jsonl');
  for (const [file, { stream }] of streams)
    if (file.startsWith('ledger/') && !stream.startsWith('instance/')) wrong(file);
}

function sayLimits({ publicKey, anchors = [] }: BundleTrust, anchored: number, findings: Findings): void {
  const key = 'no key is pinned: the key in the bundle is believed, and what it signs';
  if (publicKey === undefined && anchored === 0)
    findings.limit(
      'key.none',
      `${key}: whoever made all of this anew is not found without --public-key or --anchor`,
    );
  else if (publicKey === undefined)
    findings.limit(
      'key.none',
      `${key}; only the first ${anchored} entries of the log are pinned, by the anchor`,
    );
  else if (anchors.length === 0)
    findings.note(
      'anchor.none',
      'a later state of the record than this one is not excluded: that takes an anchor',
    );
  findings.note(
    'stream.ends',
    'that no stream had more entries than these is what the signer of the bundle says: no proof shows it',
  );
}

/** What follows from the record has to be what follows from it. */
function checkDerived(files: BundleFiles, run: readonly StoredEntry[], findings: Findings): void {
  const transcripts = transcriptWatch(() => files.get('transcript.jsonl'), false, findings);
  for (const entry of run) transcripts.take(entry);
  transcripts.finish();
  const approvals = approvalFiles(run.map((entry) => ({ ...entry, body: JSON.parse(entry.body) })));
  const names = [...files.keys()].filter((name) => name.startsWith('approvals/'));
  for (const name of new Set([...approvals.keys(), ...names]))
    if (approvals.get(name)?.equals(files.get(name) ?? Buffer.alloc(0)) !== true)
      findings.problem('approval.file', `${show(name, 120)} is not the one of the record`);
}

function latest(time: string, { at }: StoredEntry): string {
  return at > time ? at : time;
}
