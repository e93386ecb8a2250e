import { hash } from 'node:crypto';
import type { Row } from '../../store/chain.ts';
import type { Anchor } from '../../store/log/anchor.ts';
import { show } from '../../text.ts';
import { anchorCheck } from '../audit-anchor.ts';
import { type Audit, type AuditReport, createAudit } from '../audit-report.ts';
import { auditTranscript, keptTranscript } from '../audit-transcript.ts';
import { parsePublicKeys } from '../checkpoint-files.ts';
import { auditExported, exportedLines } from '../verify-export.ts';
import { approvalFiles } from './approvals.ts';
import { checkHeads } from './heads.ts';
import { lateEntries } from './late.ts';
import { isManifest, type Manifest, openManifest } from './manifest.ts';
import type { BundleFiles } from './tar.ts';

export interface BundleTrust {
  /** PEM, from elsewhere. Without it the key in the bundle is believed, and the report's trust is `beside`. */
  readonly publicKey?: string | undefined;
  readonly anchors?: readonly Anchor[] | undefined;
  /** Is given every entry about an approval. */
  readonly approval?: ((row: Row) => void) | undefined;
}

/**
 * Re-computes everything in an evidence bundle, on any machine, without a home or a config: the signed manifest, every file's hash, every entry of
 * every stream, every signed head, what the record says of the transcript and of approvals, and the anchor. Never throws on any content.
 */
export function verifyBundle(
  files: BundleFiles,
  { publicKey, anchors = [], approval }: BundleTrust,
): AuditReport {
  const audit = createAudit();
  const pem = publicKey ?? files.get('lifeboat.pub')?.toString('utf8') ?? '';
  const keys = parsePublicKeys(pem);
  const trust = keys.length === 0 ? 'none' : publicKey === undefined ? 'beside' : 'given';
  if (keys.length === 0)
    audit.problem('key.unreadable', 'there is no ed25519 public key in PEM to verify with');

  const opened = openManifest(files, keys);
  if (opened.result === 'unreadable') {
    audit.problem('manifest.unreadable', 'manifest.json is missing, or is not a manifest any more');
    return audit.report(trust);
  }
  const { manifest } = opened;
  if (opened.result === 'unknown-key')
    audit.problem('manifest.unknown-key', 'the manifest is signed by a key that this audit does not know');
  if (opened.result === 'bad-signature')
    audit.problem('manifest.bad-signature', 'the manifest was changed: its signature does not fit');
  checkList(files, manifest, audit);

  const streams = readStreams(files, pem, audit);
  checkReach(checkHeads(files, streams, keys, audit), streams, manifest, audit);
  const run = streams.get(`run/${manifest.run}`) ?? [];
  const last = run.at(-1);
  if (last?.seq !== manifest.head.seq || last.hash !== manifest.head.hash)
    audit.problem('manifest.head', 'the journal does not end where the manifest says');
  checkDerived(files, run, audit);
  for (const row of run) if (row.type.startsWith('approval.')) approval?.(row);
  const anchored = anchorCheck(anchors, audit);
  for (const rows of streams.values()) for (const row of rows) anchored.take(row);
  anchored.finish();
  return audit.report(trust);
}

/** The heads that the signer of the bundle has found are there, and what none of them saw is told. */
function checkReach(
  reach: ReadonlyMap<string, number>,
  streams: ReadonlyMap<string, readonly Row[]>,
  { signedTo }: Manifest,
  audit: Audit,
): void {
  for (const [stream, rows] of streams) {
    const there = reach.get(stream) ?? 0;
    const said = signedTo?.[stream] ?? 0;
    if (signedTo !== undefined && said !== there)
      audit.problem(
        'manifest.signed-to',
        `the signed heads of ${stream} reach to entry ${there}, but the manifest says ${said}`,
        { stream },
      );
    const late = lateEntries(show(stream, 120), there, rows.length);
    if (late !== undefined) audit.warning('stream.late', late, { stream });
  }
}

/** Every file is the one that was listed, none is missing, none was added. */
function checkList(files: BundleFiles, manifest: Manifest, audit: Audit): void {
  const listed = new Set(manifest.files.map(({ name }) => name));
  for (const { name, bytes, sha256 } of manifest.files) {
    const file = files.get(name);
    if (file === undefined) audit.problem('file.missing', `${show(name, 120)} is missing`);
    else if (file.length !== bytes || hash('sha256', file, 'hex') !== sha256)
      audit.problem('file.changed', `${show(name, 120)} was changed`);
  }
  for (const name of files.keys())
    if (!listed.has(name) && !isManifest(name))
      audit.problem('file.extra', `${show(name, 120)} does not belong here`);
}

function readStreams(files: BundleFiles, pem: string, audit: Audit): Map<string, readonly Row[]> {
  const streams = new Map<string, readonly Row[]>();
  for (const [name, bytes] of files) {
    if (name !== 'journal.jsonl' && !name.startsWith('ledger/')) continue;
    const lines = exportedLines(bytes);
    if (lines.pop() !== '') audit.problem('export.line', `the last line of ${show(name, 120)} was cut`);
    const read = auditExported(lines, pem, audit);
    if (read === undefined) continue;
    if (streams.has(read.stream)) audit.problem('export.twice', `${show(read.stream, 120)} is here twice`);
    streams.set(read.stream, read.rows);
  }
  return streams;
}

/** What follows from the record has to be what follows from it. */
function checkDerived(files: BundleFiles, run: readonly Row[], audit: Audit): void {
  const entries = run.map(({ seq, at, type, body }) => ({ seq, at, type, body: JSON.parse(body) }));
  const isClosed = entries.some(({ type }) => type === 'run.closed');
  const kept = entries.map(keptTranscript).filter((said) => said !== undefined);
  auditTranscript(run[0]?.stream ?? '', kept, files.get('transcript.jsonl'), isClosed, audit);
  const approvals = approvalFiles(entries);
  const names = new Set([
    ...approvals.keys(),
    ...[...files.keys()].filter((name) => name.startsWith('approvals/')),
  ]);
  for (const name of names)
    if (approvals.get(name)?.equals(files.get(name) ?? Buffer.alloc(0)) !== true)
      audit.problem('approval.file', `${show(name, 120)} is not the one of the record`);
}
