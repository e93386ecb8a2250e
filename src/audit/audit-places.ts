import type { KeyObject } from 'node:crypto';
import { counted, formatTime } from '../base/format.ts';
import { show } from '../base/text.ts';
import { jsonIn } from '../store/canonical.ts';
import { type Entry, LOG_STREAM, type LoggedEntry } from '../store/journal.ts';
import { type ArmedCall, type Checkpoint, claimOf } from '../store/log/checkpoint.ts';
import { ALONE_ACCEPTED, AloneAccepted, excusesOf, lossesIn, lossInWords } from '../store/log/log-entries.ts';
import { hearLog, NOTHING_SAID, namedKey } from '../store/log/named-keys.ts';
import type { Place, PlacedNote } from '../store/log/places/place.ts';
import { type GivenKeys, type ReadStatements, readStatements, type Statement } from './believed-keys.ts';
import type { Findings, Pin } from './verdict.ts';
import type { Walk } from './walk.ts';

export type AuditedPlace = Pick<Place, 'name' | 'kind' | 'look' | 'all'>;

export interface ReadPlace {
  readonly name: string;
  readonly isHome: boolean;
  readonly isRead: boolean;
  readonly notes: readonly PlacedNote[];
  /** Other logs that have checkpoints here. */
  readonly otherLogs: readonly string[];
}

/** Reads all places. An unreadable one is a limit of the audit. */
export async function readPlaces(
  places: readonly AuditedPlace[],
  origin: string | undefined,
  findings: Findings,
): Promise<readonly ReadPlace[]> {
  const readable = places.filter(({ name, kind }) => {
    if (kind === 'command')
      findings.note('place.write-only', `what was handed to ${name} cannot be read back`);
    return kind !== 'command';
  });
  return Promise.all(readable.map((place) => readPlace(place, origin, findings)));
}

async function readPlace(
  place: AuditedPlace,
  origin: string | undefined,
  findings: Findings,
): Promise<ReadPlace> {
  const { name, kind } = place;
  const read = { name, isHome: kind === 'home' };
  try {
    const look = await place.look({ origin: undefined, beyond: 0, most: 0 });
    if (look.result !== 'read') throw new Error(look.result === 'down' ? look.why : look.result);
    const notes = origin === undefined ? [] : await Array.fromAsync(place.all(origin));
    return { ...read, isRead: true, notes, otherLogs: look.origins.filter((other) => other !== origin) };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    findings.limit('place.unread', `${name} cannot be read: ${why}`);
    return { ...read, isRead: false, notes: [], otherLogs: [] };
  }
}

/** The sizes in the notes of the places, at which the root of the log is needed. */
export function sizesIn(places: readonly ReadPlace[]): readonly number[] {
  return places.flatMap(({ notes }) => notes.flatMap(({ note }) => claimOf(note)?.size ?? []));
}

export interface AuditedSignatures {
  readonly isPinned: boolean;
  /** The newest checkpoint of each place that a trusted key signed. */
  readonly pins: readonly Pin[];
  readonly log: AuditedLog;
}

/** What a log says of itself. */
export interface AuditedLog {
  /** Those of `store/log`. */
  readonly entries: readonly Entry[];
  readonly origin: string | undefined;
  /** The trusted keys, and those for which they vouch. */
  readonly believed: readonly KeyObject[];
}

export interface SignedLog {
  readonly walk: Walk;
  readonly origin: string | undefined;
  /** The note of the newest head. */
  readonly head: string | undefined;
  readonly places: readonly ReadPlace[];
  readonly keys: GivenKeys;
  /** The largest size for which the store remembers a checkpoint in its home place. */
  readonly vouched: number;
}

export function auditSignatures(log: SignedLog, findings: Findings): AuditedSignatures {
  const { walk, origin, head, places, keys } = log;
  const fits: Statement['fits'] = (checkpoint) =>
    checkpoint.origin === origin && walk.roots.get(checkpoint.size)?.root === checkpoint.root;
  const notes = places.flatMap((place) =>
    place.notes.map(({ size, note = '' }) => ({
      ...{ place, size, where: place.name, note, fits },
      isPlaced: true,
    })),
  );
  const ofHead =
    head === undefined ? [] : [{ size: walk.size(), where: 'the head of the log', note: head, fits }];
  const aboutLog = walk.aboutLog.map(asEntry);
  const named = aboutLog.flatMap((entry) => namedKey(entry) ?? []);
  const heard = readStatements<PlacedNoteOf>([...ofHead, ...notes], { named, origin }, keys, findings);

  auditHead(
    log,
    heard.statements.find(({ place }) => place === undefined),
    findings,
  );
  const losses = lossesIn(aboutLog);
  for (const loss of losses)
    findings.limit('loss.accepted', `${lossInWords(loss)} (${loss.by}, ${formatTime(loss.at)} UTC)`, {
      stream: LOG_STREAM,
    });
  for (const { type, body, by, at } of aboutLog) {
    const alone = type === ALONE_ACCEPTED ? AloneAccepted.safeParse(body).data : undefined;
    const who = `${by} worked without the team's checkpoint folder, ${formatTime(at)} UTC`;
    if (alone !== undefined)
      findings.note('alone.accepted', `${who}: ${alone.reason}`, { stream: LOG_STREAM });
  }
  const { movedTo } = hearLog(NOTHING_SAID, aboutLog);
  const excused = excusesOf(losses, origin);
  const isLost = ({ size }: Checkpoint) => walk.roots.has(size) && walk.roots.get(size)?.root === undefined;
  const isExcused = (checkpoint: Checkpoint) => excused(checkpoint) || isLost(checkpoint);
  const read = places.map((place): Reached => {
    const here = heard.statements.filter((one) => one.place === place);
    return auditPlace(
      place,
      here.filter(({ checkpoint }) => !isExcused(checkpoint)),
      { ...log, movedTo },
      findings,
    );
  });
  auditDemands(log, read, keys.isShared === true || heard.installations > 1, findings);
  if (places.length === 0) findings.limit('place.none', 'no place with checkpoints was checked');
  const pins = read.flatMap(({ place, pinned }): Pin[] => {
    const at = walk.roots.get(pinned)?.at;
    return at === undefined || pinned === 0 ? [] : [{ place: place.name, size: pinned, at }];
  });
  return { isPinned: heard.isPinned, pins, log: { entries: aboutLog, origin, believed: heard.believed } };
}

interface PlacedNoteOf extends Statement {
  /** From the file's name; for the head, the size of the log. */
  readonly size: number;
  readonly place?: ReadPlace;
}
type Placed = ReadStatements<PlacedNoteOf>['statements'][number];

function auditHead({ walk, origin, head }: SignedLog, heard: Placed | undefined, findings: Findings): void {
  const size = walk.size();
  if (head === undefined && size > 0)
    findings.problem('head.missing', `${counted(size, 'entry', 'entries')} have no signed head`);
  if (heard === undefined) return;
  const { checkpoint } = heard;
  const signed = counted(checkpoint.size, 'entry', 'entries');
  if (checkpoint.size > size)
    findings.problem(
      'log.cut',
      `the newest head was signed over ${signed}, and ${size} are here: entries are gone`,
    );
  else if (checkpoint.size < size)
    findings.problem(
      'log.unsigned',
      `the newest head was signed over ${signed}, and ${size} are here: somebody without a key added some`,
    );
  else if (checkpoint.root !== walk.root() || checkpoint.origin !== origin)
    findings.problem('head.other', 'the newest head was signed over other entries than those that are here');
}

/** The largest sizes of the fitting checkpoints of a place: those of a trusted key, and all. */
interface Reached {
  readonly place: ReadPlace;
  readonly pinned: number;
  readonly any: number;
}

function auditPlace(
  place: ReadPlace,
  heard: readonly Placed[],
  { walk, origin, movedTo }: SignedLog & { readonly movedTo: string | undefined },
  findings: Findings,
): Reached {
  const { name } = place;
  const total = walk.size();
  if (heard.some(({ checkpoint, size }) => checkpoint.size !== size || checkpoint.origin !== origin))
    findings.problem('checkpoint.misplaced', `a checkpoint in ${name} does not have the name it was given`);
  const [fitting, misfits] = [heard.filter(fitsLog), heard.filter((one) => !fitsLog(one))];
  const beyond = misfits.filter(({ checkpoint }) => checkpoint.size > total);
  if (beyond.length > 0 && movedTo !== undefined) {
    const moved = `this store was moved to ${show(movedTo, 120)}, where the log goes on`;
    findings.limit('log.moved', `${moved}: ${name} has a checkpoint of ${furthestOf(beyond)} entries`);
  } else if (beyond.length > 0) {
    const furthest = furthestOf(beyond);
    const which = walk.next() < furthest ? `the last ${furthest - total}` : `${furthest - total} of them`;
    const gone = `${name} has a checkpoint of ${furthest} entries, and ${total} are here: ${which} are gone`;
    findings.problem('log.cut', `${gone}${armedIn(beyond.flatMap(({ checkpoint }) => checkpoint.armed))}`);
  }
  const inside = misfits.filter(({ checkpoint }) => checkpoint.size <= total);
  if (inside.length > 0) {
    const first = inside.reduce((least, { checkpoint }) => Math.min(least, checkpoint.size), total);
    const last = furthestOf(fitting.filter(({ checkpoint }) => checkpoint.size < first));
    const other = `the entries ${last + 1} to ${first} that ${name} has seen are not those that are here`;
    findings.problem('log.rewritten', `${other}: the log was rewritten`);
  }
  if (place.isRead && place.notes.length === 0)
    findings.limit('place.empty', `no checkpoint of this log is in ${name}`);
  if (place.isHome && place.otherLogs.length > 0) {
    const others = place.otherLogs.slice(0, 3).join(', ');
    if (total === 0)
      findings.problem('log.gone', `${name} has checkpoints of a log (${others}), and there are no entries`);
    const found = `${name} has checkpoints of another log (${others})`;
    const why = 'a journal was replaced, or this home has used another store';
    if (total > 0) findings.limit('log.other', `${found}: ${why}`);
  }
  return {
    place,
    pinned: furthestOf(fitting.filter(({ isBelieved }) => isBelieved)),
    any: furthestOf(fitting),
  };
}

/** Reports missing checkpoints. `isTeam`: other installations write to their own homes. */
function auditDemands(
  { walk, vouched }: SignedLog,
  read: readonly Reached[],
  isTeam: boolean,
  findings: Findings,
): void {
  const home = read.find(({ place }) => place.isHome);
  if (home?.place.isRead === true && vouched > home.any) {
    const { name } = home.place;
    const had = `the log remembers a checkpoint of ${vouched} entries in ${name}`;
    findings.problem(
      'checkpoint.missing',
      `${had}, and the largest one left there covers ${home.any}: it was removed`,
    );
  }
  const { certain, likely } = walk.demands();
  const reach = Math.max(home?.any ?? 0, ...(isTeam ? read.map(({ any }) => any) : []));
  if (certain !== undefined && certain.size > reach) {
    const { seq, stream } = certain;
    const message = `a checkpoint followed entry ${seq} of ${stream}, and none that covers it is here`;
    if (isTeam || home?.place.isRead !== true) findings.limit('checkpoint.elsewhere', message);
    else findings.problem('checkpoint.missing', `${message}: it was removed`, certain);
  } else if (likely !== undefined && likely.size > reach) {
    const left = `no checkpoint covers entry ${likely.seq} of ${likely.stream}, where the run was left`;
    const why = 'its process died there, or the checkpoint was removed';
    findings.limit('checkpoint.late', `${left}: ${why}`, likely);
  }
}

function fitsLog({ fits, checkpoint }: Placed): boolean {
  return fits(checkpoint);
}

function furthestOf(heard: readonly Placed[]): number {
  return heard.reduce((most, { checkpoint }) => Math.max(most, checkpoint.size), 0);
}

function asEntry({ body, ...entry }: LoggedEntry): Entry {
  return { ...entry, stream: LOG_STREAM, body: jsonIn(body) ?? null };
}

function armedIn(calls: readonly ArmedCall[]): string {
  const named = new Set(
    calls.map(({ verb, instance, at }) => `${verb} on ${instance} (${formatTime(at)} UTC)`),
  );
  return named.size === 0 ? '' : `; what was armed in them: ${[...named].slice(0, 5).join(', ')}`;
}
