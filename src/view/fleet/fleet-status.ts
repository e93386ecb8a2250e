import type { DiskFill, ListedBackup, Part } from './fleet-facts.ts';

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
  readonly ageSeconds: number | undefined;
  /** Undefined without an RPO, or where the age is not known. */
  readonly meetsRpo: boolean | undefined;
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

/** How a part of the status was found out. */
export interface PartAge {
  readonly state: Part<unknown>['state'];
  readonly ageSeconds?: number;
  readonly why?: string;
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
  /** The worst of both. */
  readonly recoverable: Verdict;
  /** What does not stand in the way, and should not stay so. One printable line each. */
  readonly cautions: readonly string[];
  readonly parts: Readonly<Record<'overview' | 'backups' | 'window' | 'record' | 'held', PartAge>> & {
    readonly disk?: PartAge;
  };
}
