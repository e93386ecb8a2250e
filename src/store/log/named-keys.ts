import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Entry, LOG_STREAM } from '../journal.ts';
import { installationOf, isOrigin, openNote, textOf } from './checkpoint.ts';
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
import type { Signer } from './signer.ts';

export interface NamedKey {
  readonly key: KeyObject;
  /** Follows from the key. */
  readonly installation: string;
  /** PEM. */
  readonly publicKey: string;
  readonly index: number;
  /** The log's first key, announced by its own installation, or endorsed by another. */
  readonly as: 'first' | 'announced' | 'endorsed';
  /** Its signature is not verified yet. */
  readonly note?: string;
  readonly reason?: string;
}

const ENDORSEMENT = 'lifeboat.endorsement/1';

/** The key in a note that the endorser signs, under a name that binds it to this log. */
export function endorsementOf(publicKey: string, origin: string, by: Signer): string {
  return by.note(`${ENDORSEMENT}\n${publicKey.trimEnd()}\n`, endorsementName(origin));
}

/** Undefined if the entry names no readable key. Only leaf 0 begins a log. */
export function namedKey(entry: {
  readonly index: number;
  readonly type: string;
  readonly body: unknown;
}): NamedKey | undefined {
  const { index, type, body } = entry;
  if (type === LOG_BEGUN && index === 0)
    return named(index, 'first', LogBegun.safeParse(body).data?.publicKey);
  if (type === KEY_ANNOUNCED) return named(index, 'announced', KeyAnnounced.safeParse(body).data?.publicKey);
  const endorsed = type === KEY_ENDORSED ? KeyEndorsed.safeParse(body).data : undefined;
  const key = endorsed === undefined ? undefined : named(index, 'endorsed', textOf(endorsed.note));
  return key === undefined ? undefined : { ...key, ...endorsed };
}

/**
 * Trusted keys: the initial ones, and each key in a note that a trusted key signed, wherever it is in the log
 * and whatever signed its entry. Pure.
 */
export function believedKeys(
  begin: readonly KeyObject[],
  keys: readonly NamedKey[],
  origin: string | undefined,
): readonly KeyObject[] {
  const believed = [...begin];
  for (const { key, note } of keys) {
    if (note === undefined || origin === undefined || believed.some((known) => known.equals(key))) continue;
    const opened = openNote(note, endorsementName(origin), believed);
    if (opened.result === 'signed' && opened.text.startsWith(`${ENDORSEMENT}\n`)) believed.push(key);
  }
  return believed;
}

/** From one or more PEM blocks; other blocks are ignored. */
export function parsePublicKeys(text: string): KeyObject[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/gu) ?? [];
  return blocks.flatMap((block) => {
    try {
      const key = createPublicKey(block);
      return key.asymmetricKeyType === 'ed25519' ? [key] : [];
    } catch {
      return [];
    }
  });
}

function endorsementName(origin: string): string {
  return origin.replace('lifeboat/', 'lifeboat-endorsement/');
}

function named(index: number, as: NamedKey['as'], pem = ''): NamedKey | undefined {
  const [key, ...others] = parsePublicKeys(pem);
  if (key === undefined || others.length > 0) return undefined;
  const publicKey = key.export({ type: 'spki', format: 'pem' }).toString();
  return { key, installation: installationOf(key), publicKey, index, as };
}

export interface LogKeys {
  /** The own key, the log's first, and keys that trusted keys endorsed. */
  readonly believed: readonly KeyObject[];
  /** Not endorsed by a trusted key. */
  readonly announced: readonly KeyObject[];
  readonly isOwnUnnamed: boolean;
}

/** Without an own key, announced keys cannot be told apart: each is trusted. */
export function keysHeard(
  entries: readonly Entry[],
  own: string | undefined,
  origin: string | undefined,
): LogKeys {
  const named = entries.flatMap((entry) => namedKey(entry) ?? []);
  const first = named.filter(({ as }) => as === 'first').map(({ key }) => key);
  const all = named.map(({ key }) => key);
  if (own === undefined) return { believed: all, announced: [], isOwnUnnamed: false };
  const ownKeys = parsePublicKeys(own);
  const believed = believedKeys([...ownKeys, ...first], named, origin);
  const announced = all.filter((key) => !believed.some((known) => known.equals(key)));
  return {
    believed,
    announced,
    isOwnUnnamed: !ownKeys.some((key) => all.some((other) => other.equals(key))),
  };
}

export interface LogSays {
  readonly seq: number;
  /** Undefined if the log has not begun. */
  readonly origin: string | undefined;
  /**
   * The keys that a writer accepts, by installation: the first, announced and endorsed ones. Whether an audit
   * trusts them is a separate question.
   */
  readonly keys: ReadonlyMap<string, KeyObject>;
  /** Where the log continues: nothing more is appended here. */
  readonly movedTo: string | undefined;
}

export const NOTHING_SAID: LogSays = { seq: 0, origin: undefined, keys: new Map(), movedTo: undefined };

/** Ignores entries of other streams and unreadable ones. */
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
