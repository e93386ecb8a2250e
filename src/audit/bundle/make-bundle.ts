import { LifeboatError } from '../../base/errors.ts';
import { type JournalReader, LOG_STREAM, type StreamName } from '../../store/journal.ts';
import { type Anchor, anchorOf } from '../../store/log/anchor.ts';
import { claimOf, readCheckpoint } from '../../store/log/checkpoint.ts';
import { hearLog, NOTHING_SAID } from '../../store/log/named-keys.ts';
import type { Place } from '../../store/log/places/place.ts';
import type { Signer } from '../../store/log/signer.ts';
import type { SecretGuard } from '../../store/secret-guard.ts';
import { approvalFiles, bundleReadme, withManifest } from './documents.ts';
import { childFile, JOURNAL, LOG, ledgerFile, TRANSCRIPT, WISHES } from './names.ts';
import { type BundleFiles, packFiles, packLines } from './pack.ts';
import { proofText, type ShownLog, showLog } from './shown-log.ts';

export interface BundleSource {
  readonly journal: JournalReader;
  readonly runId: string;
  readonly signer: Signer;
  /** Checkpoints from the time of the run, as notes. Those that do not fit the log are left out. */
  readonly notes: readonly string[];
  /** Anchors kept elsewhere. The proof shows the log at each, to verify the bundle against them. */
  readonly anchors: readonly Anchor[];
  readonly madeAt: Date;
  /** Name and version of this program. */
  readonly madeBy: string;
  readonly guard: SecretGuard;
}

export interface WholeSource extends BundleSource {
  /** The runs that it started, where it is that of a plan. */
  readonly children?: readonly string[] | undefined;
  /** The instances whose ledgers the run wrote to. */
  readonly instances: readonly string[];
  /** What explains the record: the report, the plan, the machine, the verifier. */
  readonly documents: BundleFiles;
  /** Read after the entries, since the entries of a live run refer to it. */
  readonly transcript: (runId: string) => Buffer | undefined;
}

/**
 * All evidence of a run in one tar that can be verified without this program. Changes nothing; for a live run
 * it holds what is durable at this moment. Rejects with `evidence.secret`, creating nothing, if any file
 * would hold a secret; with `run.unknown` for a run without entries.
 */
export async function makeBundle(source: WholeSource): Promise<Buffer> {
  const { journal, runId, children = [], instances, documents, transcript } = source;
  const others: [string, StreamName][] = [
    ...instances.map((name): [string, StreamName] => [ledgerFile(name), `instance/${name}`]),
    ...children.map((child): [string, StreamName] => [childFile(child, JOURNAL), `run/${child}`]),
    // What people decided about a plan that another process drove.
    [WISHES, `plan/${runId}`],
  ];
  const { files: evidence, shown } = await evidenceOf(source, others);
  const files = new Map<string, Buffer>([...documents, ...evidence]);
  for (const run of [runId, ...children]) {
    const entries = (await journal.read(`run/${run}`)).filter(({ index }) => index < shown.checkpoint.size);
    for (const [name, bytes] of approvalFiles(entries)) files.set(name, bytes);
    const requests = transcript(run);
    if (requests !== undefined) files.set(run === runId ? TRANSCRIPT : childFile(run, TRANSCRIPT), requests);
  }
  files.set('README.txt', Buffer.from(bundleReadme(runId, anchorOf(shown.checkpoint))));
  return packFiles(signed(files, source));
}

/** The journal of a run with its proof, as printable ASCII lines (pack.ts). Rejects as `makeBundle` does. */
export async function makeLines(source: BundleSource): Promise<string> {
  return packLines(signed((await evidenceOf(source, [])).files, source));
}

async function evidenceOf(
  { journal, runId, signer, notes, anchors }: BundleSource,
  ledgers: readonly (readonly [string, StreamName])[],
): Promise<{ readonly files: Map<string, Buffer>; readonly shown: ShownLog }> {
  const streams = new Map<string, StreamName>([[JOURNAL, `run/${runId}`], [LOG, LOG_STREAM], ...ledgers]);
  const { fitting, sizes } = await fittingNotes(journal, notes, anchors);
  const shown = await showLog(journal, streams, signer, sizes);
  if (!shown.lines.has(JOURNAL)) throw new LifeboatError('run.unknown', `run ${runId} has no entries`);
  const files = new Map<string, Buffer>();
  for (const [name, lines] of shown.lines) files.set(name, Buffer.from(`${lines.join('\n')}\n`));
  for (const [at, note] of fitting.entries()) files.set(`checkpoints/${at + 1}.note`, Buffer.from(note));
  files.set('checkpoint.note', Buffer.from(shown.note));
  files.set('proof.json', Buffer.from(proofText(shown.proof)));
  files.set('lifeboat.pub', Buffer.from(signer.publicKey));
  return { files, shown };
}

/** The notes that are checkpoints of this log below its head; the sizes to prove for them and the anchors. */
export async function fittingNotes(
  { log }: Pick<JournalReader, 'log'>,
  notes: readonly string[],
  anchors: readonly Anchor[],
): Promise<{ readonly fitting: readonly string[]; readonly sizes: readonly number[] }> {
  const { origin, size } = claimOf((await log.head()).note) ?? { origin: '', size: 0 };
  const fitting = new Map<string, number>();
  for (const note of new Set(notes)) {
    const claim = claimOf(note);
    if (claim?.origin === origin && claim.size < size && (await log.rootAt(claim.size)) === claim.root)
      fitting.set(note, claim.size);
  }
  const anchored = anchors.filter((anchor) => anchor.origin === origin).map((anchor) => anchor.size);
  return { fitting: [...fitting.keys()], sizes: [...fitting.values(), ...anchored] };
}

/** Adds the list of files and the note that signs it; refuses any file with a secret. */
function signed(files: BundleFiles, { runId, madeAt, madeBy, signer, guard }: BundleSource): BundleFiles {
  for (const [name, bytes] of files) {
    try {
      guard.check(bytes.toString('utf8'), name);
    } catch (cause) {
      throw new LifeboatError('evidence.secret', `${name} would hold a secret, so nothing was made`, {
        hints: [
          'this is a bug in lifeboat: please report it',
          'the journal alone: lifeboat audit export RUN --lines',
        ],
        cause,
      });
    }
  }
  return withManifest(files, { subject: { kind: 'run', id: runId }, madeAt, madeBy }, signer);
}

/** A bundle of a run that armed more calls than this shows the newest of their checkpoints. */
const MAX = 100;

/**
 * For some runs: checkpoints that name one of their calls (the newest `most`), the first that covers all
 * entries, and each key's newest, below which its endorsements count. Unreadable places contribute none.
 */
export async function notesOfRuns(
  journal: Pick<JournalReader, 'read'>,
  places: readonly Pick<Place, 'all'>[],
  runs: readonly string[],
  most: number = MAX,
): Promise<readonly string[]> {
  const streams = new Set<string>(runs.map((run) => `run/${run}`));
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const run of runs) {
    const entries = await journal.read(`run/${run}`);
    first = Math.min(first, entries[0]?.index ?? 0);
    last = Math.max(last, entries.at(-1)?.index ?? 0);
  }
  const said = hearLog(NOTHING_SAID, await journal.read(LOG_STREAM));
  const chosen = new Set<string>();
  for (const place of places) {
    const keys = new Map(said.keys);
    let covering: string | undefined;
    let naming = 0;
    try {
      for await (const { note = '' } of place.all(said.origin ?? '')) {
        const claim = claimOf(note);
        if (claim === undefined) continue;
        if (claim.size <= first && keys.size === 0) break;
        if (claim.size > last) covering = note;
        const isNaming = claim.armed.some(({ stream }) => streams.has(stream));
        if (isNaming) naming += 1;
        if (isNaming && naming <= most) chosen.add(note);
        for (const [installation, key] of keys)
          if (readCheckpoint(note, [key]).result === 'signed') {
            keys.delete(installation);
            chosen.add(note);
          }
      }
    } catch {
      // The audit before the export has reported that it cannot be read.
    }
    if (covering !== undefined) chosen.add(covering);
  }
  return [...chosen];
}
