import type { KeyObject } from 'node:crypto';
import { type Entry, LOG_STREAM } from '../journal.ts';
import { isOrigin } from './checkpoint.ts';
import { LOG_BEGUN, LogBegun, STORE_ARRIVED, STORE_MOVED, StoreMoved } from './log-entries.ts';
import { namedKey } from './named-keys.ts';

/** What the stream `store/log` says up to one of its entries. */
export interface LogSays {
  /** How many entries of the stream were read. */
  readonly seq: number;
  /** Undefined where the log was not begun. */
  readonly origin: string | undefined;
  /**
   * The keys that a writer goes on after: the first one, announced and endorsed ones, by installation.
   * Whether an audit believes them is another matter.
   */
  readonly keys: ReadonlyMap<string, KeyObject>;
  /** Where the log goes on, when this store was moved: nothing is appended here any more. */
  readonly movedTo: string | undefined;
}

export const NOTHING_SAID: LogSays = { seq: 0, origin: undefined, keys: new Map(), movedTo: undefined };

/** Goes on reading the stream. Entries of other streams, and what cannot be read, change nothing. */
export function hearLog(said: LogSays, entries: readonly Entry[]): LogSays {
  return entries.reduce(hearEntry, said);
}

function hearEntry(said: LogSays, entry: Entry): LogSays {
  const { stream, seq, index, type, body } = entry;
  if (stream !== LOG_STREAM || seq <= said.seq) return said;
  const heard = { ...said, seq };
  if (type === STORE_MOVED)
    return { ...heard, movedTo: StoreMoved.safeParse(body).data?.to ?? 'another store' };
  if (type === STORE_ARRIVED) return { ...heard, movedTo: undefined };
  const begun = type === LOG_BEGUN && index === 0 ? LogBegun.safeParse(body).data?.origin : undefined;
  const named = begun === undefined || isOrigin(begun) ? namedKey(entry) : undefined;
  if (named === undefined) return heard;
  const keys = new Map([...said.keys, [named.installation, named.key]]);
  return { ...heard, keys, origin: begun ?? said.origin };
}
