import type { ArmedCall, SignedCheckpoint } from './checkpoint.ts';
import type { PlaceKind } from './places/place.ts';

/** Compared with the store. */
export interface SeenCheckpoint extends SignedCheckpoint {
  readonly place: string;
  readonly file: string;
  /** When its file was written, RFC 3339 UTC. */
  readonly writtenAt: string;
  /** A trusted key signed it; otherwise the key lies beside it or only announced itself. */
  readonly isBelieved: boolean;
  /** Undefined if the store is smaller or cannot compute it. */
  readonly rootHere: string | undefined;
  /** By a person, although it does not fit. */
  readonly isAccepted: boolean;
}

export interface SeenPlace {
  readonly name: string;
  readonly kind: PlaceKind;
  readonly result: 'read' | 'down' | 'write-only';
  /** Why it is down, as the end of a sentence. */
  readonly why?: string | undefined;
  /** Also those of a log that is gone. Newest first. */
  readonly checkpoints: readonly SeenCheckpoint[];
  /** Named as checkpoints, not signed by a known key. */
  readonly unsigned: readonly string[];
}

export interface SeenStore {
  /** Undefined if nothing was ever written. */
  readonly origin: string | undefined;
  readonly size: number;
  /** Existing rows. */
  readonly count: number;
  /** The last row's number plus one; smaller than the size if rows are missing at the end. */
  readonly end: number;
  /** How many rows fewer than its size a person accepted. */
  readonly rowsAccepted: number;
  /** The largest size for which it remembers a checkpoint in the home place. */
  readonly vouched: number;
  /**
   * Signed by a trusted key, by one that only announced itself, or by `nobody` known, which also stands for a
   * head that covers other entries than the store has.
   */
  readonly head: 'believed' | 'announced' | 'nobody' | 'empty';
  /** The log has entries, but does not name the reader's key. */
  readonly isStranger: boolean;
  /** The home had a store that is now gone or unreadable. */
  readonly isGone: boolean;
  /** What exists and cannot be read, and why, in one line. */
  readonly unreadable: string | undefined;
  /** The log continues in another store; checkpoints beyond the end belong to that. */
  readonly isMoved: boolean;
  /** Several installations write to it: one not yet endorsed is only a warning. */
  readonly isShared: boolean;
}

export type TroubleKind =
  /** A place has a larger checkpoint, or one of another history. */
  | 'rolled-back'
  /** Empty or another store, and the home has checkpoints of the log that was here. */
  | 'gone'
  /** The store's file exists and cannot be read. */
  | 'unreadable'
  /** No place has a checkpoint as large as the store remembers. */
  | 'checkpoints-removed'
  /** The same, but an unreadable place may have it. */
  | 'checkpoints-unread'
  | 'rows-missing'
  /** More rows than the signed head counts, or a head that no known key signed. */
  | 'unsigned';

/** Every change to an instance is refused. */
export interface Trouble {
  /** Gravest first. */
  readonly kinds: readonly TroubleKind[];
  readonly store: SeenStore;
  /** From all places. */
  readonly misfits: readonly SeenCheckpoint[];
  readonly unread: readonly SeenPlace[];
  /** Armed in the lost part, oldest first, with what is known of each outcome. */
  readonly calls: readonly LostCall[];
  /** How many more calls were armed at once than a checkpoint can name. */
  readonly unnamed: number;
  /** The newest remaining entry's time, if any. */
  readonly since: string | undefined;
  /** The newest misfit's time. */
  readonly until: string | undefined;
}

export interface LostCall extends ArmedCall {
  /** RFC 3339. If checkpoints name several times. */
  readonly firstAt?: string;
  /** No newer checkpoint shows that its outcome was on record. */
  readonly isOpen: boolean;
}

/** Warnings stop nothing. */
export interface Judged {
  readonly trouble: Trouble | undefined;
  readonly warnings: readonly string[];
}

/**
 * Whether a store is what was signed in its places. Pure.
 *
 * 1. No checkpoint of any place is larger than the store, unless the store was moved, and each has the root
 *    that the store has at its size.
 * 2. The store has as many rows as its head says.
 * 3. A known key has signed the head, for exactly that size.
 * 4. At least one place reaches as far as the store remembers; otherwise checkpoints were removed, or are
 *    where they cannot be read.
 *
 * `pending`: calls that the store still has in doubt (`pendingName`), which are not lost. `known`: those with
 * an entry of their arming or outcome. If rows are missing, a call of a checkpoint that is not known is lost,
 * even if the checkpoint fits.
 */
export function judgeStore(
  store: SeenStore,
  places: readonly SeenPlace[],
  { pending, known, since }: StoreSays,
): Judged {
  const misfits = places.flatMap(({ checkpoints }) =>
    checkpoints.filter((checkpoint) => !checkpoint.isAccepted && !fits(checkpoint, store)),
  );
  const reached = Math.max(0, ...places.map((place) => reachOf(place, store)));
  const unread = places.filter(({ result }) => result === 'down');
  const isShort = store.count < store.size - store.rowsAccepted;
  const kinds: TroubleKind[] = [
    ...goneOf(store, misfits),
    ...(misfits.some(({ origin }) => origin === store.origin) ? (['rolled-back'] as const) : []),
    ...(reached < store.vouched ? [lackOf(unread)] : []),
    ...(isShort ? (['rows-missing'] as const) : []),
    ...(isUnsigned(store) ? (['unsigned'] as const) : []),
  ];
  const warnings = [
    ...places.flatMap((place) => warningsOf(place, store, reached)),
    ...(store.head === 'announced' && store.isShared ? [UNENDORSED] : []),
    ...(store.isStranger ? [STRANGE] : []),
  ];
  if (kinds.length === 0) return { trouble: undefined, warnings };
  const fitting = isShort ? places.flatMap((place) => newestFitting(place, store)) : [];
  const calls = callsOf([...misfits, ...fitting], (name, checkpoint) =>
    (misfits.includes(checkpoint) ? pending : known).has(name),
  );
  const until = misfits
    .map(({ writtenAt }) => writtenAt)
    .toSorted()
    .at(-1);
  const unnamed = Math.max(0, ...[...misfits, ...fitting].map((checkpoint) => checkpoint.unnamed ?? 0));
  return { trouble: { kinds, store, misfits, unread, calls, unnamed, since, until }, warnings };
}

function lackOf(unread: readonly SeenPlace[]): TroubleKind {
  return unread.length === 0 ? 'checkpoints-removed' : 'checkpoints-unread';
}

/** Only checkpoints are missing, and the journal fits all that remain. */
export function isOfPlaces({ kinds }: Trouble): boolean {
  return kinds.every((kind) => kind === 'checkpoints-removed' || kind === 'checkpoints-unread');
}

function goneOf(store: SeenStore, misfits: readonly SeenCheckpoint[]): readonly TroubleKind[] {
  if (store.unreadable !== undefined) return ['unreadable'];
  return store.isGone || misfits.some(({ origin }) => origin !== store.origin) ? ['gone'] : [];
}

/** `since`: when the newest remaining entry was written. */
export interface StoreSays {
  readonly pending: ReadonlySet<string>;
  readonly known: ReadonlySet<string>;
  readonly since: string | undefined;
}

/** Identifies a call in the store and in a checkpoint. */
export function pendingName({ stream, intent }: Pick<ArmedCall, 'stream' | 'intent'>): string {
  return `${stream} ${intent}`;
}

const UNENDORSED =
  'the newest entries are signed by an installation that nobody has endorsed: ' +
  '`lifeboat store status` names it, `lifeboat store endorse INSTALLATION --reason TEXT` trusts it';

/** No trouble: a home that was moved without its key store looks the same until the next append. */
const STRANGE =
  'this journal does not name the key of this machine: it was begun elsewhere, ' +
  'or another one was put in its place; `lifeboat audit verify --public-key FILE` shows which';

function fits({ origin, size, root, rootHere }: SeenCheckpoint, store: SeenStore): boolean {
  return origin === store.origin && (size <= store.size ? root === rootHere : store.isMoved);
}

/** The largest size for which a place vouches. */
function reachOf({ checkpoints }: SeenPlace, store: SeenStore): number {
  const sizes = checkpoints.filter((one) => one.isBelieved && fits(one, store)).map(({ size }) => size);
  return Math.max(0, ...sizes);
}

function newestFitting({ checkpoints }: SeenPlace, store: SeenStore): readonly SeenCheckpoint[] {
  const sorted = checkpoints
    .filter((one) => fits(one, store))
    .toSorted((one, other) => other.size - one.size);
  return sorted.slice(0, 1);
}

function isUnsigned({ count, size, head, isShared }: SeenStore): boolean {
  return count > size || head === 'nobody' || (head === 'announced' && !isShared);
}

function warningsOf(place: SeenPlace, store: SeenStore, reached: number): string[] {
  const { name, kind, result, why, unsigned } = place;
  if (result === 'write-only') return [];
  if (result === 'down') return [`checkpoints in ${name} cannot be read: ${why}`];
  const [first] = unsigned;
  const isShort = kind === 'home' && reached >= store.vouched && reachOf(place, store) < store.vouched;
  return [
    ...(isShort ? [`checkpoints were removed from ${name}; another place has them`] : []),
    ...(first === undefined ? [] : [`${first} is not a checkpoint that a known key has signed`]),
  ];
}

/** By its last arming. Open unless a newer checkpoint of its place omits it. */
function callsOf(
  checkpoints: readonly SeenCheckpoint[],
  isHere: (name: string, checkpoint: SeenCheckpoint) => boolean,
): readonly LostCall[] {
  const calls = new Map<string, LostCall>();
  for (const checkpoint of checkpoints.toSorted((one, other) => one.size - other.size)) {
    for (const call of checkpoint.armed) {
      const name = pendingName(call);
      if (isHere(name, checkpoint)) continue;
      const isOpen = !checkpoints.some(
        (newer) =>
          newer.origin === checkpoint.origin &&
          newer.place === checkpoint.place &&
          newer.size > checkpoint.size &&
          newer.unnamed === undefined &&
          !newer.armed.some((other) => pendingName(other) === name),
      );
      const known = calls.get(name);
      const firstAt = known?.firstAt ?? known?.at;
      const isAgain = firstAt !== undefined && firstAt !== call.at;
      calls.set(name, { ...call, ...(isAgain && { firstAt }), isOpen: isOpen || known?.isOpen === true });
    }
  }
  return [...calls.values()].sort((one, other) => one.at.localeCompare(other.at));
}
