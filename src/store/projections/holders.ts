import { createHash } from 'node:crypto';
import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { type Entry, HOLDERS_STREAM, type NewEntry } from '../journal.ts';

/*
 * Who can open the escrow copies of keys. The SHA-256 of each challenge's answer is on record, so that the
 * answer proves to every reader of the record that the holder opened it.
 */

const CHALLENGED = 'holder.challenged';
const PROVEN = 'holder.proven';

const Challenged = lazily(() =>
  z.object({ id: z.string(), recipient: z.string(), answerSha256: z.string(), sealed: z.string() }),
);
const Proven = lazily(() => z.object({ id: z.string(), answer: z.string() }));

/** A random text sealed to a holder, and the SHA-256 of the text. */
export type RecordedChallenge = z.infer<ReturnType<typeof Challenged>>;

export interface Challenge {
  readonly id: string;
  readonly recipient: string;
  readonly sealed: string;
}

export interface Holder {
  readonly recipient: string;
  /** The newest without an answer. */
  readonly open?: Challenge | undefined;
  /** The last challenge opened, and whose entry says so. RFC 3339. */
  readonly provenAt?: string | undefined;
  readonly provenBy?: string | undefined;
}

export function challengedEntry({ id, recipient, answerSha256, sealed }: RecordedChallenge): NewEntry {
  return { stream: HOLDERS_STREAM, type: CHALLENGED, body: { id, recipient, answerSha256, sealed } };
}

interface ProvenEntry {
  readonly recipient: string;
  readonly entry: NewEntry;
}

/** Undefined if the answer is to none of the open challenges. */
export function provenEntry(holders: readonly Holder[], answer: string): ProvenEntry | undefined {
  const [id = ''] = answer.split('-');
  const holder = holders.find(({ open }) => open?.id === id);
  if (holder === undefined) return undefined;
  const entry: NewEntry = { stream: HOLDERS_STREAM, type: PROVEN, body: { id, answer } };
  return { recipient: holder.recipient, entry };
}

/** Oldest first. An answer counts only if it is its challenge's. Pure. */
export function foldHolders(entries: readonly Entry[]): readonly Holder[] {
  const holders = new Map<string, Holder>();
  const asked = new Map<string, RecordedChallenge>();
  for (const entry of entries) {
    if (entry.type === CHALLENGED) {
      const read = Challenged().safeParse(entry.body);
      if (!read.success) continue;
      const { id, recipient, sealed } = read.data;
      asked.set(id, read.data);
      holders.set(recipient, { ...holders.get(recipient), recipient, open: { id, recipient, sealed } });
    }
    if (entry.type === PROVEN) {
      const read = Proven().safeParse(entry.body);
      const challenge = asked.get(read.data?.id ?? '');
      if (!read.success || challenge === undefined || sha256(read.data.answer) !== challenge.answerSha256)
        continue;
      const { recipient, id } = challenge;
      const { open } = holders.get(recipient) ?? {};
      const left = open?.id === id ? undefined : open;
      holders.set(recipient, { recipient, open: left, provenAt: entry.at, provenBy: entry.by });
    }
  }
  return [...holders.values()];
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
