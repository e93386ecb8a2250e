import type { FollowUp } from '../../../machines/parts/follow-up.ts';
import type { LastSeen } from '../../../machines/parts/recovery-data.ts';
import { dateAt } from '../../base/date.ts';
import type { Ledger } from '../../store/projections/ledgers.ts';
import type { OpenCall } from '../../store/projections/pending-calls.ts';
import type { RunSummary } from '../../store/projections/runs.ts';
import type { Fact, Fleet } from '../app/sources.ts';

/**
 * What one source says about an instance. `known` and `failed` say when; `why` is one printable line, lower
 * case. `unasked`: not asked yet. `missing`: the instance's interface has no such call.
 */
export type Part<Value> =
  | { readonly state: 'known'; readonly at: Date; readonly value: Value }
  | {
      readonly state: 'failed';
      readonly at: Date;
      readonly code: string;
      readonly why: string;
      /** What is safe to do next. */
      readonly hints?: readonly string[];
    }
  | { readonly state: 'missing' }
  | { readonly state: 'unasked' };

/** A completed backup as the service lists it. Times are the service's own, RFC 3339. */
export interface ListedBackup {
  readonly id: number;
  readonly backupId?: string | undefined;
  readonly triggeredAt?: string | undefined;
  readonly size?: number | undefined;
  readonly downloadable?: boolean | undefined;
}

/** The disk nearest to its parachute size, the fill at which the node is stopped. */
export interface DiskFill {
  /** Node and disk as the service names them; untrusted. */
  readonly name: string;
  /** 0 to 100; undefined if it is not reported. */
  readonly usedPercent: number | undefined;
  readonly threshold: number | undefined;
  /** The node was stopped because the disk was too full. */
  readonly isOpen: boolean;
}

/** What the first block of a backup showed. It is no proof: later blocks may be damaged. */
export interface BackupFit {
  readonly id: number;
  /** Fingerprint of the key that opens it; undefined if none of the held keys does. */
  readonly key?: string | undefined;
  /** How many keys were tried. */
  readonly tried: number;
}

/** What the journal knows of one instance. */
export interface InstanceRecord {
  readonly ledger: Ledger;
  readonly openRuns: readonly RunSummary[];
  /** Calls that change this instance and may have been sent, without an outcome on record. */
  readonly inDoubt: readonly OpenCall[];
  readonly followUps: readonly FollowUp[];
  /** The newest proven run that recovered this instance or recovered into it, as a rehearsal or live. */
  readonly recovered?: RunSummary | undefined;
}

/** All facts about one instance. Each part is known, or fails, by itself. */
export interface InstanceFacts {
  readonly name: string;
  readonly role: 'source' | 'target';
  /** Milliseconds. */
  readonly objectives: { readonly rto?: number | undefined; readonly rpo?: number | undefined };
  /** The instance's state as the service calls it. */
  readonly overview: Part<{ readonly state?: string | undefined }>;
  /**
   * The completed backups, the last triggered first. `skewMs`: how far the service's clock is ahead of ours;
   * undefined if it does not say.
   */
  readonly backups: Part<{
    readonly done: readonly ListedBackup[];
    readonly skewMs?: number | undefined;
    /** List rows that could not be read, a sentence for each. */
    readonly unread?: readonly string[] | undefined;
  }>;
  /** The last list of backups that was kept; only if it does not list them now. */
  readonly seen?: LastSeen | undefined;
  /** The range of a point-in-time restore, RFC 3339; `none` without continuous archiving. */
  readonly window: Part<{ readonly start: string; readonly end: string } | 'none'>;
  /** `none` if the metrics report no parachute. Only requested where it is shown. */
  readonly disk?: Part<DiskFill | 'none'>;
  readonly record: Part<InstanceRecord>;
  /** What the first block of each tried backup showed; `failed` if none could be tried. */
  readonly fits?: Part<readonly BackupFit[]> | undefined;
  /** Fingerprints of the keys that the key store holds for the instance. */
  readonly held: Part<readonly string[]>;
}

/** The value of a part, if it has one. */
export function knownOf<Value>(part: Part<Value> | undefined): Value | undefined {
  return part?.state === 'known' ? part.value : undefined;
}

/** When the oldest shown fact of an instance was read; undefined if none was. */
export function oldestOf({
  overview,
  backups,
  window,
  record,
}: Pick<InstanceFacts, 'overview' | 'backups' | 'window' | 'record'>): Date | undefined {
  const times = [overview, backups, window, record].flatMap((part) => ('at' in part ? [part.at] : []));
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0];
}

/** Why there is no value, in words; undefined if there is one. */
export function whyUnknown(part: Part<unknown> | undefined): string | undefined {
  if (part === undefined || part.state === 'unasked') return 'waiting for the answer';
  if (part.state === 'failed') return `could not be read: ${part.why}`;
  return part.state === 'missing' ? 'the interface of this instance does not report it' : undefined;
}

/** An instance that was not asked anything yet. */
export function nothingAsked(about: Pick<InstanceFacts, 'name' | 'role' | 'objectives'>): InstanceFacts {
  const unasked = { state: 'unasked' } as const;
  return { ...about, overview: unasked, backups: unasked, window: unasked, record: unasked, held: unasked };
}

/**
 * Whether something could be done now. `unknown`: not asked, not answered, or never proven. `empty`: a target
 * without data of its own.
 */
export type Answer = 'yes' | 'no' | 'unknown' | 'empty';

/** One reason why the answer is not yes, and the answer that it leads to. */
export interface Reason {
  readonly answer: 'no' | 'unknown';
  /** Stable and dotted: `key.not-held`. */
  readonly code: string;
  /** One printable line, lower case, no full stop. */
  readonly text: string;
}

export interface Verdict {
  readonly answer: Answer;
  /** Those that lead to no come first. Empty for `yes`. */
  readonly reasons: readonly Reason[];
}

/** A backup judged by the RPO. Ages in seconds, by the service's clock if it is known. */
export interface BackupStatus extends ListedBackup {
  /** Also undefined if its time lies in the future. */
  readonly ageSeconds: number | undefined;
  /** How far its time lies in the future of the service's clock, or of ours: one of the clocks is wrong. */
  readonly aheadSeconds?: number | undefined;
  /** Undefined without an RPO, or if the age is unknown. */
  readonly meetsRpo: boolean | undefined;
}

/**
 * The newest known backup of an instance that does not list its backups now: from an earlier list, its
 * recovery card, or a proof. Newer ones may exist, so it is not judged by the RPO.
 */
export interface SeenStatus extends ListedBackup {
  /** By this machine's clock, because the service's is unknown. */
  readonly ageSeconds: number | undefined;
  /** RFC 3339. */
  readonly seenAt: string;
  readonly seenAgeSeconds: number;
}

/** The backup that a recovery would take: the newest one that opens. */
export interface OpenerStatus {
  readonly id: number;
  /** RFC 3339, by the service's clock. */
  readonly triggeredAt: string | undefined;
  readonly ageSeconds: number | undefined;
  readonly meetsRpo: boolean | undefined;
  /** `proven`: read to its last byte; `fits`: its first block opens, which is no proof. */
  readonly how: 'proven' | 'fits';
  /** Fingerprint of the key that opens it. */
  readonly key: string;
}

/** The newest backup that was opened with a key and read to its last byte. */
export interface ProvenStatus extends Omit<BackupStatus, 'size' | 'downloadable'> {
  /** RFC 3339, by the clock that stamps the journal. */
  readonly provenAt: string;
  readonly provenAgeSeconds: number;
  /** Fingerprint of the key that opened it. */
  readonly key: string;
  /** Whether the service still lists it; undefined if its list is unknown. */
  readonly isListed: boolean | undefined;
}

/** The keys that the newest backup may have. */
export interface KeyStatus {
  /** `isHeld`: whether the key store has it; undefined if unknown. */
  readonly possible: readonly {
    readonly fingerprint: string;
    readonly isHeld: boolean | undefined;
    readonly provenAt: string | undefined;
  }[];
  /** Whether each of them has opened a backup. */
  readonly isProven: boolean;
}

interface CardStatus {
  readonly preparedAt: string;
  readonly ageSeconds: number;
  readonly key: string | undefined;
  readonly crossCheck: 'agrees' | 'unknown' | 'overridden';
}

export interface WindowStatus {
  readonly start: string;
  readonly end: string;
  /** From its newest point to now. */
  readonly ageSeconds: number | undefined;
  readonly meetsRpo: boolean | undefined;
}

/** Why an instance is gone, and when it was last seen. RFC 3339. */
interface Absence {
  readonly why: string;
  readonly seenAt: string | undefined;
}

/** How a part of the status was found out. */
export interface PartAge {
  readonly state: Part<unknown>['state'];
  readonly ageSeconds?: number;
  readonly why?: string;
  /** The code of the failure, stable and dotted. */
  readonly code?: string;
}

/** One instance as the board shows it: every part with its age, and the verdicts. Times RFC 3339. */
export interface InstanceStatus {
  readonly name: string;
  readonly role: 'source' | 'target';
  readonly state: string | undefined;
  readonly rto: number | undefined;
  readonly rpo: number | undefined;
  readonly newestBackup: BackupStatus | undefined;
  /** Undefined if the list is known; the newest is then `newestBackup`. */
  readonly lastSeenBackup: SeenStatus | undefined;
  readonly provenBackup: ProvenStatus | undefined;
  readonly key: KeyStatus;
  readonly card: CardStatus | undefined;
  readonly window: WindowStatus | 'none' | undefined;
  /** Undefined if it was not requested or is unknown. */
  readonly disk?: DiskFill | 'none' | undefined;
  readonly recovered:
    | {
        readonly run: string;
        readonly runbook: string;
        readonly mode: 'LIVE' | 'REHEARSAL';
        readonly at: string;
        readonly ageSeconds: number;
      }
    | undefined;
  /** Undefined if the journal could not be read. */
  readonly followUps: { readonly open: number; readonly overdue: number } | undefined;
  readonly openRuns: readonly string[];
  readonly inDoubt: number | undefined;
  /** Could a backup be restored into the instance itself? */
  readonly inPlace: Verdict;
  /** Could the instance be recovered elsewhere if it were lost? */
  readonly elsewhere: Verdict;
  /** The worse of both; for one that is down or not found, `elsewhere`. */
  readonly recoverable: Verdict;
  /** Whether the recoverable data meets the RPO; undefined without an RPO. */
  readonly objectives: Verdict | undefined;
  /** Whether applications can use it now. */
  readonly inService: Verdict;
  readonly opener: OpenerStatus | undefined;
  /** Set if it does not answer. */
  readonly down: Absence | undefined;
  /** Set if its address answers that there is no such instance. The address may be wrong. */
  readonly notFound: Absence | undefined;
  /** Notes that rule nothing out but should be dealt with. One printable line each. */
  readonly cautions: readonly string[];
  readonly parts: Readonly<Record<'overview' | 'backups' | 'window' | 'record' | 'held', PartAge>> & {
    readonly disk?: PartAge;
  };
}

/** A judgement is reused for this many milliseconds. */
const HOLDS_MS = 5_000;

const judged = new WeakMap<Fleet, { readonly atMs: number; readonly fleet: Fleet }>();

/**
 * The fleet's last answers judged now, to 5 seconds. Returns the same object within the same 5 seconds, so
 * that memoised drawing is reused.
 */
export function fleetAt(fleet: Fleet, now: Date): Fleet {
  if (fleet.instancesAt === undefined) return fleet;
  const atMs = Math.floor(now.getTime() / HOLDS_MS) * HOLDS_MS;
  const known = judged.get(fleet);
  if (known?.atMs === atMs) return known.fleet;
  // An answer may be newer than the last full 5 seconds.
  const next = { ...fleet, instances: fleet.instancesAt(known === undefined ? now : dateAt(atMs)) };
  judged.set(fleet, { atMs, fleet: next });
  return next;
}

/** The known fleet, with its last answers judged now. */
export function factAt(fact: Fact<Fleet>, now: Date): Fact<Fleet> {
  const { last } = fact;
  return last === undefined ? fact : { ...fact, last: { ...last, value: fleetAt(last.value, now) } };
}
