import { msOf } from '../../base/instant.ts';
import type { KeyEpoch } from '../../store/projections/key-epochs.ts';
import type { ListedRun } from '../../store/projections/run-summary.ts';
import type { Part } from '../fleet/fleet-facts.ts';
import type { InstanceStatus } from '../fleet/status-schema.ts';
import type { FollowUpRow } from '../view-follow-ups.ts';
import type { BackupList } from './backup-list.ts';
import type { DryRunFacts } from './dry-run-facts.ts';
import type { EntriesPage, EntriesWanted, OlderEntriesWanted } from './entries-page.ts';
import type { LabFacts } from './lab-facts.ts';
import type { StartWish } from './start-wish.ts';

/** What the screens of the app may need to know: what names it (`of`), and what is then known (`value`). */
export interface Sources {
  /** What config and environment say. */
  readonly home: { readonly of: null; readonly value: Home };
  /** What every instance and its record say; grows while answers arrive. */
  readonly fleet: { readonly of: null; readonly value: Fleet };
  readonly runs: { readonly of: null; readonly value: readonly RunRow[] };
  /** What recoveries have left to do, in open runs and in ledgers; what is overdue longest comes first. */
  readonly followUps: { readonly of: null; readonly value: readonly FollowUpRow[] };
  /** The runs of the drills that were made from this home. */
  readonly drillRuns: { readonly of: null; readonly value: readonly RunRow[] };
  readonly instance: { readonly of: string; readonly value: InstanceDetail };
  /** All backups of one instance, by its name. */
  readonly backups: { readonly of: string; readonly value: BackupList };
  readonly keys: { readonly of: null; readonly value: KeysFacts };
  /** The newest entries of the journal. */
  readonly entries: { readonly of: EntriesWanted; readonly value: EntriesPage };
  /** A page of older ones. */
  readonly olderEntries: { readonly of: OlderEntriesWanted; readonly value: EntriesPage };
  /** What an audit of the journal finds; each try is made once. */
  readonly audit: { readonly of: AuditWanted; readonly value: AuditFacts };
  readonly dryRun: { readonly of: StartWish; readonly value: DryRunFacts };
  /** A moment of the past as typed, such as `14:32` or `10 minutes ago`. */
  readonly moment: { readonly of: string; readonly value: TypedMoment };
  /** The report of a run, by its id. */
  readonly report: { readonly of: string; readonly value: ReportText };
  /** The lab that the config names; fails where it names none. */
  readonly lab: { readonly of: null; readonly value: LabFacts };
  /** A file with a secret, by its path as it is typed; fails with what is wrong with it. Never the secret. */
  readonly secretFile: { readonly of: string; readonly value: CheckedFile };
  /** A file with public keys, in the same way. */
  readonly publicKeyFile: { readonly of: string; readonly value: CheckedFile };
}

/** An audit by the number of its try, and what it gets from outside of the journal. */
export interface AuditWanted extends AuditTrust {
  readonly attempt: number;
}

/** What pins a journal from outside of it. */
export interface AuditTrust {
  /** The path of a file with public keys, as it is typed. */
  readonly publicKey?: string;
  /** As it was copied into a ticket. */
  readonly anchor?: string;
}

/** What `lifeboat audit verify` found. Every text is printable. */
export interface AuditFacts {
  readonly verdict: 'intact' | 'consistent' | 'not-intact';
  /** The verdict as one sentence. */
  readonly words: string;
  /** With which exit code the command ends. */
  readonly exitCode: number;
  readonly entries: number;
  readonly findings: readonly {
    readonly severity: 'problem' | 'limit' | 'note';
    readonly text: string;
  }[];
  /** The vault with the signing key is not open, and its passphrase would pin the record. */
  readonly isLocked?: boolean;
}

/** `unread`: a pipe or a device, which can be read only once. */
export type CheckedFile = 'readable' | 'unread';

/** What a text means now: the moment, RFC 3339, or why it means none. */
export type TypedMoment = { readonly time: string } | { readonly problem: string };

export type SourceName = keyof Sources;

/** Something that a screen needs to know as long as it is shown. */
export type Need = { readonly [Name in SourceName]: NeedOf<Name> }[SourceName];

export interface NeedOf<Name extends SourceName> {
  readonly source: Name;
  readonly of: Sources[Name]['of'];
}

/** Everything the app knows now. */
export interface Facts {
  /**
   * The newest answer to a need. `failed` after an answer was known keeps that answer in `before`, with when
   * it was given.
   */
  get<Name extends SourceName>(source: Name, of: Sources[Name]['of']): Fact<Sources[Name]['value']>;
}

/** An answer with its age. `isAsking`: a newer one is under way. */
export interface Fact<Value> {
  readonly part: Part<Value>;
  readonly isAsking: boolean;
  /** The last value there was, however old. */
  readonly last?: { readonly at: Date; readonly value: Value };
}

/** Each instance of the config, and how many have answered. */
export interface Fleet {
  /** In the order of the config. What has not answered yet has parts that were not asked. */
  readonly instances: readonly InstanceStatus[];
  /** The same answers, judged at another time: ages grow, and objectives are missed, between two answers. */
  readonly instancesAt?: (now: Date) => readonly InstanceStatus[];
  readonly answered: number;
  /** When the next drill is due, in words. */
  readonly drills: string;
  /** When the oldest answer of each instance came; those that gave none yet are missing. */
  readonly answeredAt?: ReadonlyMap<string, Date>;
  /** Since when those are asked that have not answered yet. */
  readonly askedAt?: ReadonlyMap<string, Date> | undefined;
  /** Who began each open run, by its id; untrusted. */
  readonly startedBy?: ReadonlyMap<string, string>;
  /** What is wrong for all instances alike, such as a journal that was rolled back. */
  readonly troubles?: readonly Trouble[];
}

/** Something that is wrong, and what is safe to do. Each text is one printable line. */
export interface Trouble {
  readonly text: string;
  readonly hints: readonly string[];
}

/**
 * How each source is asked. `emit` may be called several times, each time with all that is known by then; the
 * promise resolves when nothing more will come, and rejects with why nothing could be learned.
 */
export type Loaders = {
  readonly [Name in SourceName]: (
    of: Sources[Name]['of'],
    emit: (value: Sources[Name]['value']) => void,
    signal: AbortSignal,
  ) => Promise<void>;
};

/** A key by its fingerprint; never the key. Times RFC 3339. */
export interface KeyRow {
  readonly instance: string;
  readonly fingerprint: string;
  /** `unknown`: it is held, and no ledger names it. */
  readonly state: KeyEpoch['state'] | 'unknown';
  readonly isHeld: boolean;
  /** Since when it is or was in force. */
  readonly setAt: string | undefined;
  /** Until when it can have been in force. */
  readonly endedAt: string | undefined;
  readonly provenAt: string | undefined;
  /** How many backups were opened with it, as far as the record goes. */
  readonly provenBackups: number;
  /** Whether the config names its instance. */
  readonly isConfigured: boolean;
}

export interface KeysFacts {
  /** Which key store, in words. */
  readonly store: string;
  readonly rows: readonly KeyRow[];
  /** Why the journal cannot be read: nothing is known of states then. */
  readonly unread?: string | undefined;
}

/**
 * One instance, as far as it answers; each part is answered, or fails, by itself. Every text is printable.
 */
export interface InstanceDetail {
  readonly name: string;
  /** Overview, objectives, backup configuration, point in time. */
  readonly groups: readonly DetailGroup[];
  readonly metrics: Part<InstanceMetrics>;
  /** The newest first. */
  readonly restores: Part<readonly RestoreRow[]>;
  /** Rows of the list of restores that could not be read, in words. */
  readonly unreadRestores?: readonly string[] | undefined;
}

/** Facts under a title, each a label and its value. */
export interface DetailGroup {
  readonly title: string;
  readonly rows: Part<readonly (readonly [label: string, value: string])[]>;
}

export interface InstanceMetrics {
  /** Each disk against its parachute, in words. */
  readonly disks: readonly { readonly text: string; readonly isOpen: boolean }[];
  /** By path, in the order in which the service names them. */
  readonly series: readonly MetricCourse[];
}

/** The course of one measurement, the oldest value first. */
export interface MetricCourse {
  readonly path: string;
  readonly values: readonly number[];
  /** When the newest was measured; RFC 3339. */
  readonly at: string;
}

/** A restore as the service lists it. Times RFC 3339. */
export interface RestoreRow {
  readonly id: number;
  readonly backupId?: number | undefined;
  readonly status: string;
  /** To which moment the data was brought back. */
  readonly restoredFrom?: string | undefined;
  readonly triggeredAt?: string | undefined;
  readonly finishedAt?: string | undefined;
}

/** A run in a list, with who holds it now, in words; undefined where no process does. Printable. */
export type RunRow = ListedRun & { readonly heldBy?: string | undefined };

/** Seconds that a run has taken, to `now` while it is open. */
export function secondsOfRun({ status, startedAt, lastAt }: RunRow, now: Date): number {
  const end = status === 'open' ? now.getTime() : msOf(lastAt);
  return Math.max(0, (end - msOf(startedAt)) / 1000);
}

/** The report of a run, as Markdown. */
export interface ReportText {
  readonly markdown: string;
  /** The command that writes it into a file. */
  readonly command: string;
  readonly mode: ListedRun['mode'];
  /** The instance that the run is about, with the one that it goes into where that is another one. */
  readonly instance: string;
}

/** The file that the report of a run is written into, in the current folder; the `at`th name of its kind. */
export function reportFile(runId: string, at = 1): string {
  return `report-${runId}${at === 1 ? '' : `-${at}`}.html`;
}

/** The command that writes it there. */
export function reportCommand(runId: string): string {
  return `lifeboat report ${runId} --format html --out ${reportFile(runId)}`;
}

/** One instance as the config has it. */
export interface HomeInstance {
  readonly name: string;
  readonly role: 'source' | 'target';
  /** A run that changes it is a rehearsal. */
  readonly isRehearsal: boolean;
  /** The revision of its API, as the config names it. */
  readonly revision: string;
  /** Where its API is, for people: host and port. */
  readonly place: string;
  /** The whole address without its spelling: two instances that share it are one. */
  readonly address?: string;
}

/** The lab that the config names. */
export interface HomeLab {
  /** Host and port. */
  readonly place: string;
  /** Instances of the config that are somewhere else: the lab cannot touch them. */
  readonly elsewhere: readonly string[];
}

/** Why there is no screen of a lab. */
export const NO_LAB = 'the config names no lab: `lifeboat lab --out lifeboat.yaml` writes one that does';

/** What config and environment say. */
export interface Home {
  readonly instances: readonly HomeInstance[];
  readonly operator: string;
  /** The names of all applications that the config names. */
  readonly apps?: readonly string[];
  /** The folder of keys and journal. */
  readonly folder: string;
  readonly config: string;
  /** Where the journal is: a folder, or the address of a database without its password. */
  readonly store: string;
  /** Only a config for a lab names one; there is no other way to know a lab. */
  readonly lab?: HomeLab | undefined;
}

/** What the frame of a screen says: the real thing, a rehearsal, or some of both. */
export type Badge = 'LIVE' | 'REHEARSAL' | 'MIXED';

/** What is at stake on a screen over these; undefined where the config is not read, or names none. */
export function badgeOf(instances: readonly HomeInstance[] | undefined): Badge | undefined {
  if (instances === undefined || instances.length === 0) return undefined;
  const rehearsals = instances.filter(({ isRehearsal }) => isRehearsal).length;
  if (rehearsals === 0) return 'LIVE';
  return rehearsals === instances.length ? 'REHEARSAL' : 'MIXED';
}
