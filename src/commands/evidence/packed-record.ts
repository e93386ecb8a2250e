import { openLogBundle } from '../../audit/bundle/log-bundle.ts';
import { notesOfRuns } from '../../audit/bundle/make-bundle.ts';
import { transcriptOf } from '../../audit/transcript/transcript.ts';
import { printableJson } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import { placesHere } from '../../compose/checkpoint-places.ts';
import { homeFolder } from '../../config/find.ts';
import type { Evidence, EvidenceRun } from '../../evidence/evidence-schema.ts';
import { fieldsOf, type JournalReader } from '../../store/journal.ts';
import { parseAnchor } from '../../store/log/anchor.ts';
import type { Signer } from '../../store/log/signer.ts';
import { toolsOf } from '../audit/bundle-documents.ts';
import { isPlanRun } from '../plans/plan-report-of.ts';
import type { ReceiptSigner } from '../write-receipt.ts';
import { makeReceipts } from './packed-receipts.ts';
import { packRuns, type RunGround, stepsOf } from './packed-runs.ts';
import { type PackedRun, sharedReads } from './record.ts';

export interface Ground extends Omit<RunGround, 'reader' | 'bundle' | 'made'> {
  /** That of the home of the record. */
  readonly context: CommandContext;
  readonly journal: JournalReader;
  /** Just verified. Unless intact it is not signed, and gets no receipts. */
  readonly record: Evidence['record'];
  readonly signer: Signer;
  readonly now: Date;
  /** Missing: no receipts are made. */
  readonly receiptSigner: ReceiptSigner | undefined;
}

/** The rows of the index, and what signs the list of files of the part; nothing signs a damaged record. */
export interface PackedRecord {
  readonly rows: readonly EvidenceRun[];
  readonly sign?: ((sums: string) => string) | undefined;
}

/**
 * Packs runs of a record as one bundle that shares what they have in common, so that its size grows with the
 * entries that it shows. Receipts come first: the bundle then shows that they are on record. `ledgers` are
 * those that the index is about; the ledgers that these runs touch or that cite one of them join them.
 */
export async function packRecord(
  ground: Ground,
  runs: readonly PackedRun[],
  ledgers: readonly string[],
): Promise<PackedRecord> {
  const { context, journal, record, part, signer, now } = ground;
  const reader = sharedReads(journal);
  if (record.verdict === 'not-intact') return { rows: await packRuns({ ...ground, reader }, runs) };
  const made = await makeReceipts({ ...ground, reader }, runs);
  const home = homeFolder(context.env);
  const bundle = await openLogBundle({
    ...{ journal, signer, madeAt: now, madeBy: `lifeboat ${context.version}` },
    put: (name, content) => part.put(name, content),
    transcript: (run) => transcriptOf(home, run),
  });
  const rows = await packRuns({ ...ground, reader, bundle, made }, runs);
  const ids = new Set(runs.map(({ runId }) => runId));
  for (const run of runs.filter(isPlanRun))
    for (const step of await stepsOf(journal, run)) {
      if (ids.has(step)) continue;
      ids.add(step);
      await bundle.run(step);
    }
  const touched = runs.flatMap(({ instance, target }) => [instance, target ?? instance]);
  for (const name of await citing(journal, ids, new Set([...ledgers, ...touched]))) await bundle.ledger(name);
  part.put('tools.json', `${printableJson(toolsOf(context, []).bundle)}\n`);
  const notes = await notesOfRuns(journal, await placesHere(context), [...ids], Number.POSITIVE_INFINITY);
  const anchors = record.anchor === undefined ? [] : [parseAnchor(record.anchor)];
  return { rows, sign: await bundle.finish(notes, anchors) };
}

/** These ledgers, and each other one that cites one of these runs. */
async function citing(
  journal: Pick<JournalReader, 'read' | 'streams'>,
  runs: ReadonlySet<unknown>,
  wanted: ReadonlySet<string>,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { stream } of await journal.streams('instance/')) {
    const name = stream.slice('instance/'.length);
    const isIts = async () =>
      (await journal.read(stream)).some(({ body }) => runs.has(fieldsOf(body)['run']));
    if (wanted.has(name) || (await isIts())) found.push(name);
  }
  return found;
}
