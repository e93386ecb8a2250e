import { type Entry, type JournalReader, LOG_STREAM } from '../../store/journal.ts';
import { type Anchor, anchorOf } from '../../store/log/anchor.ts';
import type { Signer } from '../../store/log/signer.ts';
import { type About, approvalFiles, manifestNote, readable } from './documents.ts';
import { fittingNotes } from './make-bundle.ts';
import { JOURNAL, LOG, ledgerFile, runFile, TRANSCRIPT, WISHES } from './names.ts';
import { LARGEST_PROOF, openShow, proofText } from './shown-log.ts';

export type Put = (name: string, content: Buffer | string) => void;

/** A bundle of many runs of one log, with one shared proof. Only the places of its entries are kept. */
export interface LogBundle {
  /** The anchor of the head that all of it is shown at. */
  readonly anchor: string;
  /** Adds a run: its entries, what people wished of it, its approvals and its requests. */
  run(runId: string): Promise<readonly Entry[]>;
  /** Adds the ledger of an instance or a plan, if it has entries. */
  ledger(name: string): Promise<void>;
  /**
   * Adds what the log says of itself, these checkpoints and the proof; returns what signs the list of files.
   * Rejects with `evidence.too-large` where the proof would be larger than verifiers read.
   */
  finish(notes: readonly string[], anchors: readonly Anchor[]): Promise<(sums: string) => string>;
}

export interface LogBundleSource extends Omit<About, 'subject'> {
  readonly journal: JournalReader;
  readonly signer: Signer;
  readonly put: Put;
  /** Read after the entries, since the entries of a live run refer to it. */
  readonly transcript: (runId: string) => Buffer | undefined;
}

/** Begins a bundle at the newest head of a log. Rejects with `run.unknown` for an empty log. */
export async function openLogBundle(source: LogBundleSource): Promise<LogBundle> {
  const { journal, signer, put, transcript, madeAt, madeBy } = source;
  const { checkpoint, note, show, prove } = await openShow(journal, signer);
  const add = async (file: string, stream: Parameters<typeof show>[1]) => {
    const { entries, lines } = await show(file, stream);
    if (lines.length > 0) put(file, `${lines.join('\n')}\n`);
    return entries;
  };
  return {
    anchor: anchorOf(checkpoint),
    async run(runId) {
      const entries = await add(runFile(runId, JOURNAL), `run/${runId}`);
      await add(runFile(runId, WISHES), `plan/${runId}`);
      for (const [name, bytes] of approvalFiles(entries)) put(name, bytes);
      const requests = transcript(runId);
      if (requests !== undefined) put(runFile(runId, TRANSCRIPT), requests);
      return entries;
    },
    async ledger(name) {
      await add(ledgerFile(name), `instance/${name}`);
    },
    async finish(notes, anchors) {
      await add(LOG, LOG_STREAM);
      const { fitting, sizes } = await fittingNotes(journal, notes, anchors);
      for (const [at, one] of fitting.entries()) put(`checkpoints/${at + 1}.note`, one);
      put('checkpoint.note', note);
      put('proof.json', readable('proof.json', proofText(await prove(sizes)), LARGEST_PROOF));
      put('lifeboat.pub', signer.publicKey);
      const about: About = { subject: { kind: 'log', id: checkpoint.origin }, madeAt, madeBy };
      return (sums) => manifestNote(sums, about, signer);
    },
  };
}
