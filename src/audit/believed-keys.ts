import type { KeyObject } from 'node:crypto';
import { installationOf, readCheckpoint, type SignedCheckpoint } from '../store/log/checkpoint.ts';
import { believedKeys, type NamedKey, parsePublicKeys } from '../store/log/named-keys.ts';
import type { Findings } from './verdict.ts';

/** A key store that was not opened: `isLocked` if only a passphrase is missing. */
export interface KeyUnread {
  readonly isLocked: boolean;
  readonly why: string;
}

export interface GivenKeys {
  /** PEM, one or more blocks: these pin the record, and no other key is trusted by itself. */
  readonly publicKey?: string | undefined;
  /** The public half of the key in this machine's key store, PEM. */
  readonly storedKey?: string | undefined;
  /** Why that key could not be read, if there may be one. */
  readonly storedKeyUnread?: KeyUnread | undefined;
  /** A store of several installations: the key in the key store may be new to it. */
  readonly isShared?: boolean | undefined;
}

export interface Statement {
  /** Its location: `the head of the log`, or the name of a place. */
  readonly where: string;
  readonly note: string;
  /** It is in a place to which this machine may have written without being named in the log. */
  readonly isPlaced?: boolean;
  /** Whether the log has this root at this size. */
  fits(checkpoint: SignedCheckpoint): boolean;
}

export interface ReadStatements<S extends Statement> {
  /** The trusted keys come from outside the record. */
  readonly isPinned: boolean;
  /** Statements whose signature was verified. */
  readonly statements: readonly (S & {
    readonly checkpoint: SignedCheckpoint;
    readonly isBelieved: boolean;
  })[];
  /** The trusted keys, and those for which they vouch. */
  readonly believed: readonly KeyObject[];
  /** How many installations the log names. */
  readonly installations: number;
}

/**
 * Verifies signed statements. Trusts pinned keys (else the log's first key) and keys that a trusted key
 * endorsed; signatures of others are findings. `named`: the log's keys under this origin, in order.
 */
export function readStatements<S extends Statement>(
  statements: readonly S[],
  { named, origin }: { readonly named: readonly NamedKey[]; readonly origin: string | undefined },
  given: GivenKeys,
  findings: Findings,
): ReadStatements<S> {
  const pinned = pinnedKeys(given, named, findings);
  const all = [...named.map(({ key }) => key), ...pinned];
  const known = [...new Map(all.map((key) => [installationOf(key), key])).values()];
  // An installation that joined a shared store but wrote nothing yet signs in its own places.
  const own = given.isShared === true ? parsePublicKeys(given.storedKey ?? '') : [];
  const placed = [...known, ...own.filter((key) => !known.some((other) => other.equals(key)))];
  const heard = statements.flatMap((statement) => {
    const read = readCheckpoint(statement.note, statement.isPlaced === true ? placed : known);
    if (read.result === 'signed') return [{ ...statement, checkpoint: read.checkpoint }];
    findings.problem(...problemOf(read.result, statement.where));
    return [];
  });

  const first = named.filter(({ as }) => as === 'first').map(({ key }) => key);
  const begin = pinned.length > 0 ? pinned : first;
  const trusted = believedKeys(begin, named, origin);
  const believed = new Set(trusted.map(installationOf));
  const reached = heard.reduce((most, { checkpoint, fits }) => {
    const counts = believed.has(checkpoint.signedBy) && checkpoint.size > most && fits(checkpoint);
    return counts ? checkpoint.size : most;
  }, 0);
  const step = { reached, isShared: given.isShared ?? false, own: own.map(installationOf) };
  reportOtherKeys(heard, believed, named, step, findings);
  return {
    isPinned: pinned.length > 0,
    believed: trusted,
    statements: heard.map((one) => ({ ...one, isBelieved: believed.has(one.checkpoint.signedBy) })),
    installations: new Set(named.map(({ installation }) => installation)).size,
  };
}

/** The finding that only a passphrase is missing. */
export const LOCKED_KEY = 'key.locked';

function pinnedKeys(
  { publicKey, storedKey, storedKeyUnread: unread, isShared = false }: GivenKeys,
  named: readonly NamedKey[],
  findings: Findings,
): readonly KeyObject[] {
  if (publicKey !== undefined) {
    const keys = parsePublicKeys(publicKey);
    if (keys.length === 0)
      findings.problem('key.unreadable', 'the given public key is not an ed25519 key in PEM');
    return keys;
  }
  const stored = parsePublicKeys(storedKey ?? '');
  const isNamed = stored.some((key) => named.some((other) => other.key.equals(key)));
  if (stored.length > 0 && (isNamed || !isShared)) return stored;
  const [first] = named;
  const believed =
    first === undefined
      ? ''
      : `, and the key ${first.installation} is trusted because the log itself names it`;
  if (unread?.isLocked === true)
    findings.limit(
      LOCKED_KEY,
      `no key is pinned, because the vault file with the signing key is not open${believed}: ` +
        'set LIFEBOAT_PASSPHRASE_FILE, or pass --public-key',
    );
  else if (unread !== undefined)
    findings.limit('key.unread', `no key is pinned, because of the key store: ${unread.why}${believed}`);
  else findings.limit('key.none', `no key is pinned${believed}: pass --public-key`);
  return [];
}

interface ReadBefore {
  /** The largest size that trusted keys signed. */
  readonly reached: number;
  readonly isShared: boolean;
  /** This machine's installation, in a shared store. */
  readonly own: readonly string[];
}

function reportOtherKeys(
  heard: readonly (Statement & { readonly checkpoint: SignedCheckpoint })[],
  believed: ReadonlySet<string>,
  named: readonly NamedKey[],
  { reached, isShared, own }: ReadBefore,
  findings: Findings,
): void {
  const others = Map.groupBy(
    heard.filter(({ checkpoint }) => !believed.has(checkpoint.signedBy)),
    ({ checkpoint }) => checkpoint.signedBy,
  );
  for (const [installation, theirs] of others) {
    const places = [...new Set(theirs.map(({ where }) => where))].slice(0, 3).join(', ');
    // An installation that joins a shared store signs before a trusted one can have seen it.
    const isAnnounced = named.some(
      ({ installation: its, index }) => (isShared || index < reached) && its === installation,
    );
    if (isAnnounced || own.includes(installation)) {
      const heads = `heads of installation ${installation} (${places})`;
      findings.limit('key.unvouched', `${heads} are signed by a key that nobody vouched for`);
    } else {
      const message = `the key ${installation}, which is not trusted, has signed what is in ${places}`;
      findings.problem('key.other', message);
    }
  }
}

function problemOf(result: 'unreadable' | 'unknown-key' | 'bad-signature', where: string): [string, string] {
  if (result === 'unknown-key')
    return ['key.other', `a key that is not known has signed what is in ${where}`];
  if (result === 'bad-signature')
    return ['checkpoint.bad-signature', `a checkpoint in ${where} was changed: its signature does not match`];
  return ['checkpoint.unreadable', `what is in ${where} is not a readable checkpoint`];
}
