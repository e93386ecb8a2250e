import type { ArmedCall, SignedCheckpoint } from './checkpoint.ts';
import type { PlaceKind } from './places/place.ts';

/** A checkpoint of a place whose signature was verified, next to what the store says. */
export interface SeenCheckpoint extends SignedCheckpoint {
  readonly place: string;
  readonly file: string;
  /** When its file was written, RFC 3339 UTC. */
  readonly writtenAt: string;
  /** By a key that is believed; otherwise by one that only lies beside it or has only announced itself. */
  readonly isBelieved: boolean;
  /** The root of the store at that size; undefined where the store is smaller, or cannot tell. */
  readonly rootHere: string | undefined;
  /** A person has accepted that it does not fit. */
  readonly isAccepted: boolean;
}

/** What was found in one place. */
export interface SeenPlace {
  readonly name: string;
  readonly kind: PlaceKind;
  readonly result: 'read' | 'down' | 'write-only';
  /** Why it is down, as the end of a sentence. */
  readonly why?: string | undefined;
  /** The newest first; also those of a log that is gone. */
  readonly checkpoints: readonly SeenCheckpoint[];
  /** Files with the name of a checkpoint that nobody known has signed. */
  readonly unsigned: readonly string[];
}

/** What the store says of itself. */
export interface SeenStore {
  /** Undefined for a store in which nothing was ever written. */
  readonly origin: string | undefined;
  readonly size: number;
  /** How many rows are there. */
  readonly count: number;
  /** One more than the number of the last row; smaller than the size where rows are missing at the end. */
  readonly end: number;
  /** How many rows less than its size a person has accepted. */
  readonly rowsAccepted: number;
  /** Up to which size it remembers that the home place had its checkpoint. */
  readonly vouched: number;
  /**
   * Who signed its head: a believed key, one that has only announced itself, or nobody known, which is also
   * said of a head that names other entries than are there.
   */
  readonly head: 'believed' | 'announced' | 'nobody' | 'empty';
  /** The log has something in it, and names the key of whoever looks at it nowhere. */
  readonly isStranger: boolean;
  /** There was a store in the home, and there is none now, or none that can be read. */
  readonly isGone: boolean;
  /** Where it is there and cannot be read: in one line, what and why. */
  readonly unreadable: string | undefined;
  /** Its last word is that the log goes on in another store, where what is signed beyond it is found. */
  readonly isMoved: boolean;
  /** Several installations write to it: one that nobody has endorsed yet is no trouble, only a warning. */
  readonly isShared: boolean;
}

/** Why the store cannot be what it was. */
export type TroubleKind =
  /** A place has a checkpoint of a larger size, or of another history. */
  | 'rolled-back'
  /** The store is empty or another one, and the home has checkpoints of the log that was here. */
  | 'gone'
  /** The file of the store is there and cannot be read. */
  | 'unreadable'
  /** No place reaches as far as the store remembers to have been signed there. */
  | 'checkpoints-removed'
  /** The same of the places that can be read; another one cannot be, and may. */
  | 'checkpoints-unread'
  | 'rows-missing'
  /** More rows than the signed head counts, or a head that nobody known has signed. */
  | 'unsigned';

/** The store is not what was signed: whatever would change an instance is refused. */
export interface Trouble {
  /** The first is the gravest. */
  readonly kinds: readonly TroubleKind[];
  readonly store: SeenStore;
  /** Checkpoints that do not fit, of all places. */
  readonly misfits: readonly SeenCheckpoint[];
  /** The places that could not be read. */
  readonly unread: readonly SeenPlace[];
  /** The calls that were armed in the lost part, the oldest first, and what is known of each outcome. */
  readonly calls: readonly LostCall[];
  /** How many calls more were armed at once than a checkpoint has room to name: nobody knows which. */
  readonly unnamed: number;
  /** When the newest entry that is still there was written; undefined where there is none. */
  readonly since: string | undefined;
  /** When the newest of the misfits was written. */
  readonly until: string | undefined;
}

/** A call that was armed in the lost part. */
export interface LostCall extends ArmedCall {
  /** When it was armed for the first time, where checkpoints name it with several times. RFC 3339. */
  readonly firstAt?: string;
  /** No checkpoint that is newer shows that its outcome was on record. */
  readonly isOpen: boolean;
}

/** What the four rules say. `warnings` stop nothing. */
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
 * 4. At least one place reaches as far as the store remembers; otherwise checkpoints were removed, or lie
 *    where nobody can read them.
 *
 * `pending` names the calls that the store itself still has in doubt (`pendingName`): those are not lost.
 * `known` names those of whose arming or outcome an entry is left. Where rows are missing, a call that a
 * checkpoint names and that is not known is lost too, even though the checkpoint fits.
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

/** Checkpoints are missing, and the journal fits all that are left. */
export function isOfPlaces({ kinds }: Trouble): boolean {
  return kinds.every((kind) => kind === 'checkpoints-removed' || kind === 'checkpoints-unread');
}

function goneOf(store: SeenStore, misfits: readonly SeenCheckpoint[]): readonly TroubleKind[] {
  if (store.unreadable !== undefined) return ['unreadable'];
  return store.isGone || misfits.some(({ origin }) => origin !== store.origin) ? ['gone'] : [];
}

/** What the entries that are left say of calls, and when the newest of them was written. */
export interface StoreSays {
  readonly pending: ReadonlySet<string>;
  readonly known: ReadonlySet<string>;
  readonly since: string | undefined;
}

/** What names a call in the store and in a checkpoint. */
export function pendingName({ stream, intent }: Pick<ArmedCall, 'stream' | 'intent'>): string {
  return `${stream} ${intent}`;
}

const UNENDORSED =
  'the newest entries are signed by an installation that nobody has endorsed: ' +
  '`lifeboat store endorse INSTALLATION --reason TEXT`';

/** So is a home that was moved without its key store, until something is appended: no reason to stop. */
const STRANGE =
  'this journal does not name the key of this machine: it was begun elsewhere, ' +
  'or another one was put in its place; `lifeboat audit verify --public-key FILE` shows which';

function fits({ origin, size, root, rootHere }: SeenCheckpoint, store: SeenStore): boolean {
  return origin === store.origin && (size <= store.size ? root === rootHere : store.isMoved);
}

/** How far a place vouches for the store. */
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

/** Each call once, by its last arming. It is open unless a newer checkpoint of its place lacks it. */
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
