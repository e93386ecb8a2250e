import { hash } from 'node:crypto';
import { LifeboatError } from '../../errors.ts';
import type { Head, JournalReader, StreamName } from '../../journal/journal.ts';
import type { SecretGuard } from '../../journal/secret-guard.ts';
import { anchorOf } from '../anchor.ts';
import { checkpointRoot, readNotes, readPublicKeys } from '../checkpoint-files.ts';
import { auditExport } from '../export.ts';
import type { Signer } from '../signer.ts';
import { transcriptOf } from '../transcript/path.ts';
import { approvalFiles } from './approvals.ts';
import { withManifest } from './manifest.ts';
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
  const heads = streams.flatMap((stream) => headFiles(home, stream));
  const files = new Map<string, Buffer>([...papers, ...heads]);
  for (const stream of streams) {
    const text = await exported(journal, stream, signer);
    if (text !== undefined) files.set(fileOf(stream), text);
  }
  const entries = await journal.read(`run/${runId}`);
  for (const [name, bytes] of approvalFiles(entries)) files.set(name, bytes);
  const transcript = transcriptOf(home, runId);
  if (transcript !== undefined) files.set('transcript.jsonl', transcript);
  files.set('lifeboat.pub', Buffer.from(publicKeys(home, signer)));
  files.set('SHA256SUMS', Buffer.from(sumsOf(files)));
  refuseSecrets(files, source.guard);
  const head = headIn(files.get('journal.jsonl'), runId);
  const about = {
    run: runId,
    head: { seq: head.seq, hash: head.hash },
    anchor: anchorOf(head),
    madeAt: source.madeAt.toISOString(),
    madeBy: source.madeBy,
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
): Promise<Buffer | undefined> {
  const lines: string[] = [];
  for await (const line of auditExport(journal, stream, { sign: signer.sign })) lines.push(`${line}\n`);
  return lines.length === 1 ? undefined : Buffer.from(lines.join(''));
}

/** A name of a tar holds 100 characters; which stream a file holds stands in its lines. */
function fileOf(stream: StreamName): string {
  const name = stream.replace(/^\w+\//u, '');
  if (stream.startsWith('run/')) return 'journal.jsonl';
  return name.length <= 80 ? `ledger/${name}.jsonl` : `ledger/${name.slice(0, 60)}/${name.slice(60)}.jsonl`;
}

/** The key that signs now comes first; heads of earlier days may need those before it. */
function publicKeys(home: string, signer: Signer): string {
  const earlier = readPublicKeys(checkpointRoot(home)).map((key) =>
    String(key.export({ type: 'spki', format: 'pem' })),
  );
  return [...new Set([signer.publicKey, ...earlier])].join('');
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
