import type { KeyObject } from 'node:crypto';
import { fieldsOf, type JournalReader, LOG_STREAM } from '../journal.ts';
import { armedIn, doubtsOfStream, pendingCalls } from '../projections/pending-calls.ts';
import { type ArmedCall, claimOf, readCheckpoint } from './checkpoint.ts';
import { excusesOf, type Loss, lossesIn } from './log-entries.ts';
import { hearLog, keysHeard, type LogKeys, NOTHING_SAID } from './named-keys.ts';
import type { Look, Place, PlacedNote } from './places/place.ts';
import {
  type Judged,
  judgeStore,
  pendingName,
  type SeenCheckpoint,
  type SeenPlace,
  type SeenStore,
  type StoreSays,
} from './rollback.ts';

export interface CheckOptions {
  /** PEM. Without it only the keys that the log names are known. */
  readonly ownKey?: string | undefined;
  /** Several installations write to the store (PostgreSQL). */
  readonly isShared?: boolean | undefined;
  /** The log that this home found at a shared store's address: another log there is a rollback. */
  readonly seenHere?: string | undefined;
  /** How many checkpoints of a place to read besides those larger than the store. Default: 16. */
  readonly most?: number | undefined;
  /** Why the existing store, passed as undefined, cannot be read. */
  readonly unreadable?: string | undefined;
}

export interface Checked extends Judged {
  readonly store: SeenStore;
  readonly places: readonly SeenPlace[];
  readonly losses: readonly Loss[];
}

/** Enough to show that two copies were used in turn: larger ones would have stopped an earlier copy. */
const LOOKED_AT = 16;

/**
 * Compares a store with the checkpoints of its places. `journal` is undefined if a store existed and is gone:
 * then every checkpoint of the home belongs to a lost log. Only reads; a place that exceeds its time limit is
 * a warning. Rejects with the store's own errors.
 */
export async function checkLog(
  journal: Pick<JournalReader, 'log' | 'read' | 'rows'> | undefined,
  places: readonly Place[],
  { ownKey, isShared = false, seenHere, most = LOOKED_AT, unreadable }: CheckOptions = {},
): Promise<Checked> {
  const origin = await journal?.log.origin();
  const entries = origin === undefined ? [] : await journal?.read(LOG_STREAM);
  const losses = lossesIn(entries ?? []);
  // Others may append meanwhile: read the store's memory before the places, and its entries after them.
  const vouched = (await journal?.log.vouched()) ?? 0;
  const before = (await journal?.log.head())?.size ?? 0;
  const looks = await Promise.all(
    places.map(async (place) => ({ place, look: await place.look({ origin, beyond: before, most }) })),
  );
  const found: (PlaceLook & { readonly further: readonly PlacedNote[] })[] = [];
  for (const one of looks)
    found.push({ ...one, further: await logsGone(one, { origin, isShared, seenHere, most }) });
  const head = await steadyHead(journal);
  const end = await endOf(journal, head);
  const keys = keysHeard(entries ?? [], ownKey, origin);
  const store: SeenStore = {
    origin,
    size: head.size,
    count: head.count,
    end,
    rowsAccepted: losses.reduce((sum, { rowsMissing }) => sum + rowsMissing, 0),
    vouched,
    head: whoSigned(head, origin, keys),
    isStranger: !isShared && origin !== undefined && keys.isOwnUnnamed,
    isGone: journal === undefined,
    unreadable: journal === undefined ? unreadable : undefined,
    isMoved: hearLog(NOTHING_SAID, entries ?? []).movedTo !== undefined,
    isShared,
  };
  const isAccepted = excusesOf(losses, origin);
  const seen: SeenPlace[] = [];
  for (const { place, look, further } of found)
    seen.push(
      await placeSeen(place, look, {
        keys,
        isAccepted,
        further,
        rootHere: (size) => rootHere(journal, size, head.size),
      }),
    );
  const first = judgeStore(store, seen, { pending: new Set(), known: new Set(), since: undefined });
  if (first.trouble === undefined) return { ...first, store, places: seen, losses };
  const calls = await callsHere(journal, seen);
  const judged = judgeStore(store, seen, { ...calls, since: await newestAt(journal, end) });
  return { ...judged, store, places: seen, losses };
}

export async function armedCalls(
  journal: Pick<JournalReader, 'rows'> | undefined,
): Promise<readonly ArmedCall[]> {
  return armedIn((await journal?.rows(pendingCalls.name, { group: 'pending' })) ?? []);
}

/**
 * Of the calls in checkpoints: those still in doubt by the entries, and those that the entries mention at
 * all. Projections may be older than the entries.
 */
async function callsHere(
  journal: Pick<JournalReader, 'read'> | undefined,
  places: readonly SeenPlace[],
): Promise<Pick<StoreSays, 'pending' | 'known'>> {
  const calls = places.flatMap(({ checkpoints }) => checkpoints.flatMap(({ armed }) => armed));
  const [pending, known] = [new Set<string>(), new Set<string>()];
  for (const stream of new Set(calls.map((call) => call.stream))) {
    const entries = (await journal?.read(stream)) ?? [];
    for (const { intent } of doubtsOfStream(stream, entries)) pending.add(pendingName({ stream, intent }));
    for (const { type, body } of entries) {
      const { intent } = fieldsOf(body);
      if (CALLED.has(type) && typeof intent === 'string') known.add(pendingName({ stream, intent }));
    }
  }
  return { pending, known };
}

const CALLED: ReadonlySet<string> = new Set(['intent.armed', 'intent.outcome']);

interface PlaceLook {
  readonly place: Place;
  readonly look: Look;
}

/**
 * Checkpoints of other logs. In the home they count only if it has none of the store's own log: the other log
 * was here before. In a team's folder, which belongs to one store, they always count.
 */
async function logsGone(
  { place, look }: PlaceLook,
  {
    origin,
    isShared,
    seenHere,
    most,
  }: { readonly origin: string | undefined; readonly most: number } & Pick<
    CheckOptions,
    'isShared' | 'seenHere'
  >,
): Promise<readonly PlacedNote[]> {
  if (look.result !== 'read' || (place.kind !== 'home' && isShared !== true)) return [];
  if (place.kind === 'home' && origin !== undefined && look.notes.length > 0) return [];
  const found: PlacedNote[] = [];
  for (const other of look.origins) {
    const wanted = { origin: other, beyond: 0, most };
    const theirs = other === origin ? undefined : await place.look(wanted);
    if (theirs?.result === 'read') found.push(...theirs.notes);
  }
  const mayHaveMoved = place.kind === 'home' && isShared === true && origin !== undefined;
  return mayHaveMoved ? found.filter(isLost(seenHere)) : found;
}

/**
 * A member who joins a team's store may have used another one before. That one counts as gone only if it was
 * at the same address, or if its newest checkpoint here names calls without an outcome, which could be sent
 * again.
 */
function isLost(seenHere: string | undefined) {
  return (placed: PlacedNote, at: number, all: readonly PlacedNote[]): boolean =>
    (seenHere !== undefined && claimOf(placed.note)?.origin === seenHere) || isUnanswered(placed, at, all);
}

function isUnanswered({ note }: PlacedNote, _: number, all: readonly PlacedNote[]): boolean {
  const claim = claimOf(note);
  const theirs = all
    .flatMap((other) => claimOf(other.note) ?? [])
    .filter((one) => one.origin === claim?.origin);
  const newest = theirs.toSorted((one, other) => other.size - one.size)[0];
  return newest !== undefined && newest.armed.length > 0;
}

interface HeadSeen {
  readonly size: number;
  readonly root: string;
  readonly note: string | undefined;
  readonly count: number;
}

/** The head and the number of rows at one moment, even while others append. */
async function steadyHead(journal: Pick<JournalReader, 'log'> | undefined): Promise<HeadSeen> {
  if (journal === undefined) return { size: 0, root: '', note: undefined, count: 0 };
  for (let tries = 0; ; tries += 1) {
    const head = await journal.log.head();
    const count = await journal.log.count();
    if (count === head.size || tries >= 3) return { ...head, count };
    if ((await journal.log.head()).size === head.size) return { ...head, count };
  }
}

/** Reads the entries only if some are missing. */
async function endOf(
  journal: Pick<JournalReader, 'log'> | undefined,
  { size, count }: HeadSeen,
): Promise<number> {
  if (journal === undefined || count >= size) return size;
  let end = 0;
  for await (const { index } of journal.log.stored()) end = Math.max(end, index + 1);
  return end;
}

function whoSigned(
  { size, root, note }: HeadSeen,
  origin: string | undefined,
  keys: LogKeys,
): SeenStore['head'] {
  if (size === 0 && origin === undefined) return 'empty';
  const by = (known: readonly KeyObject[]) => {
    const read = readCheckpoint(note ?? '', known);
    if (read.result !== 'signed') return false;
    const { checkpoint } = read;
    return checkpoint.size === size && checkpoint.root === root && checkpoint.origin === origin;
  };
  return by(keys.believed) ? 'believed' : by(keys.announced) ? 'announced' : 'nobody';
}

interface About {
  readonly keys: LogKeys;
  readonly isAccepted: (claim: SeenCheckpoint) => boolean;
  readonly further: readonly PlacedNote[];
  readonly rootHere: (size: number) => Promise<string | undefined>;
}

async function placeSeen({ name, kind }: Place, look: Look, about: About): Promise<SeenPlace> {
  const nothing = { name, kind, checkpoints: [], unsigned: [] };
  if (look.result === 'down') return { ...nothing, result: 'down', why: look.why };
  if (look.result === 'write-only') return { ...nothing, result: 'write-only' };
  const checkpoints: SeenCheckpoint[] = [];
  const unsigned: string[] = [];
  const beside = [...about.keys.announced, ...look.keys];
  for (const placed of [...look.notes, ...about.further]) {
    const seen = await checkpointSeen(name, placed, beside, about);
    if (seen === undefined) unsigned.push(placed.file);
    else checkpoints.push(seen);
  }
  return { name, kind, result: 'read', checkpoints, unsigned };
}

async function checkpointSeen(
  place: string,
  { file, note = '', writtenAt }: PlacedNote,
  beside: readonly KeyObject[],
  { keys, isAccepted, rootHere: rootAt }: About,
): Promise<SeenCheckpoint | undefined> {
  const own = readCheckpoint(note, keys.believed);
  // A loss can include the entry that announced a key: a key beside its checkpoints is enough to stop.
  const read = own.result === 'signed' ? own : readCheckpoint(note, beside);
  if (read.result !== 'signed') return undefined;
  const { checkpoint } = read;
  const seen = {
    ...checkpoint,
    place,
    file,
    writtenAt,
    isBelieved: own.result === 'signed',
    rootHere: await rootAt(checkpoint.size),
    isAccepted: false,
  };
  return { ...seen, isAccepted: isAccepted(seen) };
}

/** If nodes are missing, there is no root, and no checkpoint fits. */
async function rootHere(
  journal: Pick<JournalReader, 'log'> | undefined,
  size: number,
  most: number,
): Promise<string | undefined> {
  if (size > most) return undefined;
  return journal?.log.rootAt(size).catch(() => undefined);
}

async function newestAt(
  journal: Pick<JournalReader, 'log'> | undefined,
  size: number,
): Promise<string | undefined> {
  if (journal === undefined || size === 0) return undefined;
  try {
    for await (const { at } of journal.log.stored(size - 1)) return at;
  } catch {
    // It is damaged there too, so it proves nothing.
  }
  return undefined;
}
