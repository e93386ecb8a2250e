import type { FollowUp } from '../../../machines/parts/follow-up.ts';
import type { LastSeen } from '../../../machines/parts/recovery-data.ts';
import type { Ledger } from '../../store/projections/ledgers.ts';
import type { OpenCall } from '../../store/projections/pending-calls.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';

/**
 * What one source says of an instance. `known` and `failed` carry when they were said; `why` is one printable
 * line, lower case. `unasked`: nobody has asked yet. `missing`: the interface of the instance has no such
 * call.
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

/** A done backup as the service lists it. Times are the service's own, RFC 3339. */
export interface ListedBackup {
  readonly id: number;
  readonly backupId?: string | undefined;
  readonly triggeredAt?: string | undefined;
  /** Bytes. */
  readonly size?: number | undefined;
  readonly downloadable?: boolean | undefined;
}

/**
 * The disk of an instance that is nearest to its parachute, which stops the node when the disk is fuller than
 * the threshold.
 */
export interface DiskFill {
  /** Node and disk as the service names them; untrusted. */
  readonly name: string;
  /** 0 to 100; undefined where it is not reported. */
  readonly usedPercent: number | undefined;
  readonly threshold: number | undefined;
  /** The parachute has opened: the node is stopped. */
  readonly isOpen: boolean;
}

/** What the first block of a backup showed. It is no proof: what follows may be damaged. */
export interface BackupFit {
  readonly id: number;
  /** The fingerprint of the key that opens it; undefined where none of those held does. */
  readonly key?: string | undefined;
  /** How many keys were tried. */
  readonly tried: number;
}

/** What the journal knows of one instance. */
export interface InstanceRecord {
  readonly ledger: Ledger;
  readonly openRuns: readonly RunSummary[];
  /** Calls that change this instance and may have left, with no outcome on record. */
  readonly inDoubt: readonly OpenCall[];
  readonly followUps: readonly FollowUp[];
  /**
   * The newest proven run that recovered this instance, or recovered into it, as a rehearsal or in earnest.
   */
  readonly recovered?: RunSummary | undefined;
}

/** Everything that is asked about one instance. Each part is answered, or fails, by itself. */
export interface InstanceFacts {
  readonly name: string;
  readonly role: 'source' | 'target';
  /** Milliseconds. */
  readonly objectives: { readonly rto?: number | undefined; readonly rpo?: number | undefined };
  /** The state of the instance in the service's word. */
  readonly overview: Part<{ readonly state?: string | undefined }>;
  /**
   * The done backups, the one that was triggered last first. `skewMs`: how far the service's clock is ahead
   * of ours; undefined where it does not say.
   */
  readonly backups: Part<{
    readonly done: readonly ListedBackup[];
    readonly skewMs?: number | undefined;
    /** Rows of the list that could not be read, a sentence for each. */
    readonly unread?: readonly string[] | undefined;
  }>;
  /** What it listed before, as far as that was kept; only of one that does not list its backups now. */
  readonly seen?: LastSeen | undefined;
  /** The range of a point-in-time restore, RFC 3339; `none` without continuous archiving. */
  readonly window: Part<{ readonly start: string; readonly end: string } | 'none'>;
  /** `none` where the metrics report no parachute. Only asked where somebody wants to see it. */
  readonly disk?: Part<DiskFill | 'none'>;
  readonly record: Part<InstanceRecord>;
  /** What the first block of each backup showed that was tried; `failed` where none could be. */
  readonly fits?: Part<readonly BackupFit[]> | undefined;
  /** Fingerprints of the keys that the key store holds for the instance. */
  readonly held: Part<readonly string[]>;
}

/** The value of a part, where it has one. */
export function knownOf<Value>(part: Part<Value> | undefined): Value | undefined {
  return part?.state === 'known' ? part.value : undefined;
}

/** When the oldest of what is shown of an instance was read; undefined where nothing was. */
export function oldestOf({
  overview,
  backups,
  window,
  record,
}: Pick<InstanceFacts, 'overview' | 'backups' | 'window' | 'record'>): Date | undefined {
  const times = [overview, backups, window, record].flatMap((part) => ('at' in part ? [part.at] : []));
  return times.toSorted((one, other) => one.getTime() - other.getTime())[0];
}

/** Why there is no value, in words; undefined where there is one. */
export function whyUnknown(part: Part<unknown> | undefined): string | undefined {
  if (part === undefined || part.state === 'unasked') return 'waiting for the answer';
  if (part.state === 'failed') return `could not be read: ${part.why}`;
  return part.state === 'missing' ? 'the interface of this instance does not report it' : undefined;
}

/** An instance about which nothing was asked yet. */
export function nothingAsked(about: Pick<InstanceFacts, 'name' | 'role' | 'objectives'>): InstanceFacts {
  const unasked = { state: 'unasked' } as const;
  return { ...about, overview: unasked, backups: unasked, window: unasked, record: unasked, held: unasked };
}

/**
 * Whether something could be done now. `unknown`: it was not asked, could not be answered, or was never
 * proven. `empty`: a target that holds nothing of its own yet.
 */
export type Answer = 'yes' | 'no' | 'unknown' | 'empty';

/** One reason why the answer is not yes, with the answer that it makes. */
export interface Reason {
  readonly answer: 'no' | 'unknown';
  /** Stable and dotted: `key.not-held`. */
  readonly code: string;
  /** One printable line, lower case, no stop. */
  readonly text: string;
}

export interface Verdict {
  readonly answer: Answer;
  /** Those that say no first. Empty for `yes`. */
  readonly reasons: readonly Reason[];
}

/** A backup against the RPO. Ages in seconds, by the service's clock where it is known. */
export interface BackupStatus extends ListedBackup {
  /** Undefined also where its time lies ahead. */
  readonly ageSeconds: number | undefined;
  /** How far its time lies ahead of the service's clock, or of ours: one of the two is wrong. */
  readonly aheadSeconds?: number | undefined;
  /** Undefined without an RPO, or where the age is not known. */
  readonly meetsRpo: boolean | undefined;
}

/**
 * The newest backup that is known here of an instance that does not list its backups now: from what it listed
 * before, from its recovery card or from a proof. There may be newer ones, so it is not held against the RPO.
 */
export interface SeenStatus extends ListedBackup {
  /** By this machine's clock: that of the service is not known. */
  readonly ageSeconds: number | undefined;
  /** RFC 3339. */
  readonly seenAt: string;
  readonly seenAgeSeconds: number;
}

/** The backup that a recovery would take: the newest that opens. */
export interface OpenerStatus {
  readonly id: number;
  /** RFC 3339, by the service's clock. */
  readonly triggeredAt: string | undefined;
  readonly ageSeconds: number | undefined;
  readonly meetsRpo: boolean | undefined;
  /** `proven`: read to its last byte; `fits`: its first block opens, which is no proof. */
  readonly how: 'proven' | 'fits';
  /** The fingerprint of the key that opens it. */
  readonly key: string;
}

/** The newest backup that was opened with a key and read to its last byte. */
export interface ProvenStatus extends Omit<BackupStatus, 'size' | 'downloadable'> {
  /** RFC 3339, by the clock that stamps the journal. */
  readonly provenAt: string;
  readonly provenAgeSeconds: number;
  /** The fingerprint of the key that opened it. */
  readonly key: string;
  /** Whether the service still lists it; undefined where its list is not known. */
  readonly isListed: boolean | undefined;
}

/** The keys that the newest backup may have. */
export interface KeyStatus {
  /** `isHeld`: whether the key store has it; undefined where that is not known. */
  readonly possible: readonly {
    readonly fingerprint: string;
    readonly isHeld: boolean | undefined;
    readonly provenAt: string | undefined;
  }[];
  /** Whether each of them has opened a backup. */
  readonly isProven: boolean;
}

export interface CardStatus {
  readonly preparedAt: string;
  readonly ageSeconds: number;
  readonly key: string | undefined;
  readonly crossCheck: 'agrees' | 'unknown' | 'overridden';
}

/** The range of a point-in-time restore. */
export interface WindowStatus {
  readonly start: string;
  readonly end: string;
  /** From its newest point to now. */
  readonly ageSeconds: number | undefined;
  readonly meetsRpo: boolean | undefined;
}

/** Why an instance is not there, and when it was seen last. RFC 3339. */
export interface Absence {
  readonly why: string;
  readonly seenAt: string | undefined;
}

/** How a part of the status was found out. */
export interface PartAge {
  readonly state: Part<unknown>['state'];
  readonly ageSeconds?: number;
  readonly why?: string;
  /** Stable and dotted, of what failed. */
  readonly code?: string;
}

/**
 * One instance as the board shows it: every part with its age, and what follows from them. Times RFC 3339.
 */
export interface InstanceStatus {
  readonly name: string;
  readonly role: 'source' | 'target';
  readonly state: string | undefined;
  /** Seconds. */
  readonly rto: number | undefined;
  readonly rpo: number | undefined;
  readonly newestBackup: BackupStatus | undefined;
  /** Undefined where the list is known: then it is `newestBackup`. */
  readonly lastSeenBackup: SeenStatus | undefined;
  readonly provenBackup: ProvenStatus | undefined;
  readonly key: KeyStatus;
  readonly card: CardStatus | undefined;
  readonly window: WindowStatus | 'none' | undefined;
  /** Undefined where nobody asked, or it is not known. */
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
  /** Undefined where the journal could not be read. */
  readonly followUps: { readonly open: number; readonly overdue: number } | undefined;
  readonly openRuns: readonly string[];
  readonly inDoubt: number | undefined;
  /** Could a backup be brought back into the instance itself? */
  readonly inPlace: Verdict;
  /** Could the instance be brought back elsewhere, had it been lost? */
  readonly elsewhere: Verdict;
  /**
   * The worst of both; of one that is down or not found, whether it could be brought back elsewhere.
   */
  readonly recoverable: Verdict;
  /** Whether what could be brought back keeps the RPO; undefined where the config names none. */
  readonly objectives: Verdict | undefined;
  /** Whether applications can work with it now. */
  readonly inService: Verdict;
  readonly opener: OpenerStatus | undefined;
  /** Of one that does not answer. */
  readonly down: Absence | undefined;
  /** Of one whose address answers that there is no such instance. It may be a wrong address. */
  readonly notFound: Absence | undefined;
  /** What does not stand in the way, and should not stay so. One printable line each. */
  readonly cautions: readonly string[];
  readonly parts: Readonly<Record<'overview' | 'backups' | 'window' | 'record' | 'held', PartAge>> & {
    readonly disk?: PartAge;
  };
}
