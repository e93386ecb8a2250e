import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Entry, LOG_STREAM } from '../journal.ts';
import { installationOf, isOrigin } from './checkpoint.ts';
import {
  KEY_ANNOUNCED,
  KEY_ENDORSED,
  KeyAnnounced,
  KeyEndorsed,
  LOG_BEGUN,
  LogBegun,
  STORE_ARRIVED,
  STORE_MOVED,
  StoreMoved,
} from './log-entries.ts';

/** What the stream `store/log` says up to one of its entries. */
export interface LogSays {
  /** How many entries of the stream were read. */
  readonly seq: number;
  /** Undefined where the log was not begun. */
  readonly origin: string | undefined;
  /**
   * The keys that a writer goes on after: the first one, announced and endorsed ones, by installation. Whether an audit
   * believes them is another matter.
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

function hearEntry(said: LogSays, { stream, seq, type, body }: Entry): LogSays {
  if (stream !== LOG_STREAM || seq <= said.seq) return said;
  const heard = { ...said, seq };
  if (type === LOG_BEGUN && seq === 1) {
    const { data } = LogBegun.safeParse(body);
    if (data === undefined || !isOrigin(data.origin)) return heard;
    return withKey({ ...heard, origin: data.origin }, data.publicKey);
  }
  if (type === STORE_MOVED)
    return { ...heard, movedTo: StoreMoved.safeParse(body).data?.to ?? 'another store' };
  if (type === STORE_ARRIVED) return { ...heard, movedTo: undefined };
  const { data } = type === KEY_ENDORSED ? KeyEndorsed.safeParse(body) : KeyAnnounced.safeParse(body);
  const isKey = type === KEY_ENDORSED || type === KEY_ANNOUNCED;
  return isKey && data !== undefined ? withKey(heard, data.publicKey) : heard;
}

function withKey(said: LogSays, pem: string): LogSays {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') return said;
    return { ...said, keys: new Map([...said.keys, [installationOf(key), key]]) };
  } catch {
    return said;
  }
}
