import { hash, type KeyObject } from 'node:crypto';
import { LifeboatError } from '../../errors.ts';
import { transcriptOf } from '../../evidence/transcript/path.ts';
import type { Row } from '../../store/chain.ts';
import type { Head, JournalReader, StreamName } from '../../store/journal.ts';
import { anchorOf } from '../../store/log/anchor.ts';
import { type Checkpoint, installationOf, readCheckpoint } from '../../store/log/checkpoint.ts';
import type { Signer } from '../../store/log/signer.ts';
import type { SecretGuard } from '../../store/secret-guard.ts';
import { checkpointRoot, parsePublicKeys, readNotes, readPublicKeys } from '../checkpoint-files.ts';
import { auditExport } from '../export.ts';
import { approvalFiles } from './approvals.ts';
import { lateEntries } from './late.ts';
import { withManifest } from './manifest.ts';
import { bundleReadme } from './readme.ts';
import { type BundleFiles, packFiles } from './tar.ts';

export interface BundleSource {
  readonly journal: JournalReader;
  readonly home: string;
  readonly runId: string;
  /** The instances whose ledgers the run wrote to. */
  readonly instances: readonly string[];
  readonly signer: Signer;
  /** What explains the record: the report, the plan, the machine, the verifier. */
  readonly papers: BundleFiles;
  readonly madeAt: Date;
  /** Name and version of this program. */
  readonly madeBy: string;
  /** Knows every secret that must not be in a bundle. */
  readonly guard: SecretGuard;
}

/**
 * All evidence of a run in one tar that anybody can verify without this program. Changes nothing; of a live run it holds what was durable at this moment. Rejects
 * with `evidence.secret`, and nothing is made, when any file would hold a secret.
 */
export async function makeBundle(source: BundleSource): Promise<Buffer> {
  const { journal, home, runId, instances, signer, papers } = source;
  const streams: StreamName[] = [`run/${runId}`, ...instances.map((name): StreamName => `instance/${name}`)];
  // Before the entries: read after them, the heads of a live run would have seen more than there is.
  const known = [...parsePublicKeys(signer.publicKey), ...readPublicKeys(checkpointRoot(home))];
  const heads = streams.flatMap((stream) => headFiles(home, stream));
  const seen = heads.map(([, bytes]) => readCheckpoint(bytes.toString('utf8'), known));
  const checkpoints = seen.flatMap((read) => (read.result === 'signed' ? [read.checkpoint] : []));
  const files = new Map<string, Buffer>([...papers, ...heads]);
  const signedTo: Record<string, number> = {};
  for (const stream of streams) {
    const text = await exported(journal, stream, signer);
    if (text === undefined) continue;
    files.set(fileOf(stream), Buffer.from(text.join('')));
    signedTo[stream] = signedUpTo(checkpoints, stream, text);
  }
  const entries = await journal.read(`run/${runId}`);
  for (const [name, bytes] of approvalFiles(entries)) files.set(name, bytes);
  const transcript = transcriptOf(home, runId);
  if (transcript !== undefined) files.set('transcript.jsonl', transcript);
  const keys = neededKeys(known, checkpoints);
  files.set('lifeboat.pub', Buffer.from(keys.map(pemOf).join('')));
  const head = headIn(files.get('journal.jsonl'), runId);
  const late = lateEntries(head.stream, signedTo[head.stream] ?? 0, head.seq);
  files.set('README.txt', Buffer.from(bundleReadme(runId, anchorOf(head), late)));
  files.set('SHA256SUMS', Buffer.from(sumsOf(files)));
  refuseSecrets(files, source.guard);
  const about = {
    run: runId,
    head: { seq: head.seq, hash: head.hash },
    anchor: anchorOf(head),
    madeAt: source.madeAt.toISOString(),
    madeBy: source.madeBy,
    signedTo,
    keys: keys.map(installationOf),
  };
  return packFiles(withManifest(files, about, signer.note));
}

function headFiles(home: string, stream: StreamName): [string, Buffer][] {
  return readNotes(checkpointRoot(home), stream).flatMap(({ path, note }): [string, Buffer][] =>
    note === undefined
      ? []
      : [[`checkpoints/${stream}/${path.split(/[\\/]/u).at(-1) ?? ''}`, Buffer.from(note)]],
  );
}

async function exported(
  journal: JournalReader,
  stream: StreamName,
  signer: Signer,
): Promise<readonly string[] | undefined> {
  const lines: string[] = [];
  for await (const line of auditExport(journal, stream, { sign: signer.sign })) lines.push(`${line}\n`);
  return lines.length === 1 ? undefined : lines;
}

/** How far the heads reach that were signed before; one that does not fit what is exported reaches nowhere. */
function signedUpTo(checkpoints: readonly Checkpoint[], stream: string, lines: readonly string[]): number {
  const fitting = checkpoints.filter(({ stream: of, seq, hash: seen }) => {
    // The last line is the head's.
    const line = of === stream && seq < lines.length ? lines[seq - 1] : undefined;
    return line !== undefined && (JSON.parse(line) as Row).hash === seen;
  });
  return Math.max(0, ...fitting.map(({ seq }) => seq));
}

/** A name of a tar holds 100 characters; which stream a file holds stands in its lines. */
function fileOf(stream: StreamName): string {
  const name = stream.replace(/^\w+\//u, '');
  if (stream.startsWith('run/')) return 'journal.jsonl';
  return name.length <= 80 ? `ledger/${name}.jsonl` : `ledger/${name.slice(0, 60)}/${name.slice(60)}.jsonl`;
}

/** The key that signs now comes first; then those that heads of earlier days need, and no other that lies beside them. */
function neededKeys(known: readonly KeyObject[], checkpoints: readonly Checkpoint[]): readonly KeyObject[] {
  const used = new Set(checkpoints.map(({ installation }) => installation));
  const [own, ...rest] = known;
  const earlier = rest.filter((key) => used.has(installationOf(key)));
  const all = own === undefined ? earlier : [own, ...earlier];
  return all.filter((key, at) => all.findIndex((other) => other.equals(key)) === at);
}

function pemOf(key: KeyObject): string {
  return String(key.export({ type: 'spki', format: 'pem' }));
}

/** What was exported is what counts: a live run may have gone on meanwhile. */
function headIn(journal: Buffer | undefined, runId: string): Head {
  const last = journal?.toString('utf8').trimEnd().split('\n').at(-1) ?? '{}';
  const { head } = JSON.parse(last) as { readonly head?: Head };
  if (head === undefined) throw new LifeboatError('run.unknown', `run ${runId} has no entries`);
  return head;
}

/** As `sha256sum` reads them. */
function sumsOf(files: BundleFiles): string {
  const names = [...files.keys()].sort();
  return names.map((name) => `${hash('sha256', files.get(name) ?? '', 'hex')}  ${name}\n`).join('');
}

function refuseSecrets(files: BundleFiles, guard: SecretGuard): void {
  for (const [name, bytes] of files) {
    try {
      guard.check(bytes.toString('utf8'), name);
    } catch (cause) {
      throw new LifeboatError('evidence.secret', `${name} would hold a secret, so no bundle was made`, {
        hints: [
          'this is a bug in lifeboat: please report it',
          'the journal alone: lifeboat audit export RUN --lines',
        ],
        cause,
      });
    }
  }
}
