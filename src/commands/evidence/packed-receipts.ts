import type { CommandContext } from '../../cli/context.ts';
import type { EvidenceRun } from '../../evidence/evidence-schema.ts';
import { statedOf, toSign } from '../receipt.ts';
import { openReceiptSigner, type ReceiptSigner } from '../write-receipt.ts';
import type { Part } from './pack.ts';
import { reasonOf } from './reason-of.ts';
import type { PackedRun, ReportReader } from './record.ts';

/** For the receipts of all records in a pack. Undefined, and reported to `limit`, where it cannot open. */
export async function receiptSignerOf(
  context: CommandContext,
  limit: (text: string) => void,
): Promise<ReceiptSigner | undefined> {
  try {
    return await openReceiptSigner(context);
  } catch (thrown) {
    limit(`No receipt was made: ${reasonOf(thrown)}.`);
    return undefined;
  }
}

interface Ground {
  readonly reader: ReportReader;
  readonly part: Part;
  readonly receiptSigner: ReceiptSigner | undefined;
  readonly receipts: ReadonlyMap<string, EvidenceRun['receipts']>;
  readonly limit: (text: string) => void;
}

/** For ended runs without one, as by `lifeboat receipt`, by run. The record was verified once for all. */
export async function makeReceipts(
  { reader, part, receiptSigner, receipts, limit }: Ground,
  runs: readonly PackedRun[],
): Promise<ReadonlyMap<string, EvidenceRun['receipts'][number]>> {
  const made = new Map<string, EvidenceRun['receipts'][number]>();
  if (receiptSigner === undefined) return made;
  for (const run of runs) {
    const { runId, status } = run;
    if (status === 'open' || receipts.has(runId)) continue;
    try {
      const stated = await statedOf(reader, run);
      const { sha256, files } = await receiptSigner.sign(() => toSign(runId, stated));
      for (const [name, content] of files) part.put(`runs/${runId}/receipt/${name}`, content);
      made.set(runId, { result: stated.statement.predicate.result, sha256, at: new Date().toISOString() });
    } catch (thrown) {
      limit(`${runId} has no receipt: ${reasonOf(thrown)}`);
    }
  }
  return made;
}
