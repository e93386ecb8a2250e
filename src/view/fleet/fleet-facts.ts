import type { FollowUp } from '../../../machines/parts/follow-up.ts';
import type { LastSeen } from '../../../machines/parts/recovery-data.ts';
import type { Ledger } from '../../store/projections/ledgers.ts';
import type { OpenCall } from '../../store/projections/pending-calls.ts';
import type { RunSummary } from '../../store/projections/run-summary.ts';
import type { ListedBackup } from './status-schema.ts';

/**
 * What one source says of an instance. `known` and `failed` carry when they were said; `why` is one printable
 * line, lower case. `unasked`: not asked yet. `missing`: the interface of the instance has no such
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
  /** `none` where the metrics report no parachute. Asked only for a screen that shows it. */
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
