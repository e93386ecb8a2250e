import type { Entry } from '../journal.ts';
import { hashOf } from '../leaf.ts';
import { hashedEntry, type PreparedEntry } from '../new-entry.ts';
import type { Lease } from './leases.ts';
import type { Append } from './write.ts';

export interface Appended {
  /** Those that were asked for. */
  readonly entries: readonly Entry[];
  /** With those of the store itself, in order of their leaves. */
  readonly all: readonly Entry[];
}

/** An append on its way. */
export interface Waiting {
  readonly id: string;
  readonly prepared: readonly PreparedEntry[];
  readonly leases: readonly Lease[];
  readonly vouched: number;
  readonly done: PromiseWithResolvers<Appended>;
  /** How many rows in front are the store's own. */
  own: number;
  /** The rows as they were sent last; where the connection broke, it is not known whether they are there. */
  sent: Append | undefined;
  /** When each row was written; then they are there. */
  at: readonly string[] | undefined;
  over: boolean;
}

/** The entries of an append whose rows are there and have leaves, in order of its rows. */
export function entriesOf({ sent, at }: Waiting, leaves: ReadonlyMap<string, number>): readonly Entry[] {
  if (sent === undefined) return [];
  return sent.rows.map((row, nr) => {
    const fields = { ...row, at: at?.[nr] ?? '', by: sent.by };
    return hashedEntry({ index: leaves.get(keyOf(row)) ?? -1, ...fields, hash: hashOf(fields) });
  });
}

/** Names a row by its place in its stream. */
export function keyOf({ stream, seq }: { readonly stream: string; readonly seq: number }): string {
  return `${stream} ${seq}`;
}
