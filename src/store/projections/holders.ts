import { createHash } from 'node:crypto';
import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { type Entry, HOLDERS_STREAM, type NewEntry } from '../journal.ts';

/*
 * Who can open the escrow copies of keys. The SHA-256 of the answer to each challenge is on record, so that
 * the answer proves to everybody who reads the record that the holder opened it.
 */

const CHALLENGED = 'holder.challenged';
const PROVEN = 'holder.proven';

const Challenged = lazily(() =>
  z.object({ id: z.string(), recipient: z.string(), answerSha256: z.string(), sealed: z.string() }),
);
const Proven = lazily(() => z.object({ id: z.string(), answer: z.string() }));

/** A challenge as it is on record: a random text sealed to a holder, and the SHA-256 of the text. */
export type RecordedChallenge = z.infer<ReturnType<typeof Challenged>>;

/** A challenge without an answer. */
export interface Challenge {
  readonly id: string;
  readonly recipient: string;
  /** The armoured age file that its holder opens. */
  readonly sealed: string;
}

/** What is on record about a holder. */
export interface Holder {
  readonly recipient: string;
  /** The newest challenge without an answer. */
  readonly open?: Challenge | undefined;
  /** When the holder last opened a challenge, and whose entry says so. RFC 3339. */
  readonly provenAt?: string | undefined;
  readonly provenBy?: string | undefined;
}

/** The entry for a challenge. */
export function challengedEntry({ id, recipient, answerSha256, sealed }: RecordedChallenge): NewEntry {
  return { stream: HOLDERS_STREAM, type: CHALLENGED, body: { id, recipient, answerSha256, sealed } };
}

interface ProvenEntry {
  readonly recipient: string;
  readonly entry: NewEntry;
}

/** The entry for an answer; undefined if it answers none of the open challenges of these holders. */
export function provenEntry(holders: readonly Holder[], answer: string): ProvenEntry | undefined {
  const [id = ''] = answer.split('-');
  const holder = holders.find(({ open }) => open?.id === id);
  if (holder === undefined) return undefined;
  const entry: NewEntry = { stream: HOLDERS_STREAM, type: PROVEN, body: { id, answer } };
  return { recipient: holder.recipient, entry };
}

/** The holders on record, oldest first. An answer counts only if it is the one of its challenge. Pure. */
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
