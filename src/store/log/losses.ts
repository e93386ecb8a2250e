import type { z } from 'zod';
import { type Entry, type JournalReader, LOG_STREAM } from '../journal.ts';
import { type Checkpoint, claimOf } from './checkpoint.ts';
import { LOSS_ACCEPTED, lossAccepted } from './log-entries.ts';

/** A recorded loss that a person accepted. */
export interface Loss extends z.output<ReturnType<typeof lossAccepted>> {
  readonly index: number;
  readonly at: string;
  readonly by: string;
}

/** The losses in the entries of `store/log`, oldest first. Pure. */
export function lossesIn(entries: readonly Entry[]): readonly Loss[] {
  return entries.flatMap(({ type, body, index, at, by }) => {
    const parsed = type === LOSS_ACCEPTED ? lossAccepted().safeParse(body) : undefined;
    return parsed?.success === true ? [{ ...parsed.data, index, at, by }] : [];
  });
}

/** All losses ever accepted in a store: every later report lists them first. */
export async function lossesOf(journal: Pick<JournalReader, 'read'>): Promise<readonly Loss[]> {
  return lossesIn(await journal.read(LOG_STREAM));
}

/** A loss in one sentence for a reader. */
export function lossInWords({ size, checkpoints, gaps, calls, reason }: Loss): string {
  const furthest = Math.max(...checkpoints.map((checkpoint) => checkpoint.size), size);
  const inside = gaps.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const lost = [
    ...(furthest > size ? [`of ${furthest} signed entries, those after number ${size} are lost`] : []),
    ...(inside > 0 ? [`${inside} of the first ${size} entries of this store are lost`] : []),
  ];
  if (lost.length === 0) lost.push(`the store did not agree with its checkpoints at ${size} entries`);
  const doubts = calls.length === 0 ? 'no call was put in doubt' : `calls put in doubt: ${calls.length}`;
  return `${lost.join('; ')}; ${doubts}; accepted because: ${reason}`;
}

/**
 * Returns a test for whether a person accepted that a checkpoint does not fit `origin`, the log of the store.
 * Pure.
 */
export function excusesOf(
  losses: readonly Loss[],
  origin: string | undefined,
): (claim: Checkpoint) => boolean {
  const known = new Set<string>();
  const origins = new Set<string>();
  for (const { checkpoints, also } of losses) {
    for (const mark of also) known.add(mark);
    for (const { note } of checkpoints) {
      const claim = claimOf(note);
      if (claim === undefined) continue;
      if (claim.origin === origin) known.add(markOf(claim));
      else origins.add(claim.origin);
    }
  }
  return (claim) => (claim.origin === origin ? known.has(markOf(claim)) : origins.has(claim.origin));
}

/** Identifies a checkpoint of a known log. */
export function markOf({ size, root }: Pick<Checkpoint, 'size' | 'root'>): string {
  return `${size}:${root.slice(0, 20)}`;
}
