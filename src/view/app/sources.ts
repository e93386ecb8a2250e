import { msOf } from '../../base/instant.ts';
import type { PlanEvaluation } from '../../plans/evaluation-schema.ts';
import type { KeyEpoch } from '../../store/projections/key-epochs.ts';
import type { ListedRun } from '../../store/projections/run-summary.ts';
import type { Part } from '../fleet/fleet-facts.ts';
import type { InstanceStatus } from '../fleet/status-schema.ts';
import type { WorkersStatus } from '../fleet/workers-schema.ts';
import type { FollowUpRow } from '../view-follow-ups.ts';
import type { BackupList } from './backup-list.ts';
import type { DryRunFacts } from './dry-run-facts.ts';
import type { EntriesPage, EntriesWanted, OlderEntriesWanted } from './entries-page.ts';
import type { LabFacts } from './lab-facts.ts';
import type { StartWish } from './start-wish.ts';

/** What the screens of the app may need to know: what identifies it (`of`), and its value. */
export interface Sources {
  readonly home: { readonly of: null; readonly value: Home };
  /** Every instance and its record; grows while answers arrive. */
  readonly fleet: { readonly of: null; readonly value: Fleet };
  readonly runs: { readonly of: null; readonly value: readonly RunRow[] };
  /** The workers of a team, and what waits for them; undefined where a store has none. */
  readonly workers: { readonly of: null; readonly value: WorkersStatus | undefined };
  /** What recoveries have left to do, in open runs and in ledgers; the longest overdue first. */
  readonly followUps: { readonly of: null; readonly value: readonly FollowUpRow[] };
  /** The runs of the drills of this home. */
  readonly drillRuns: { readonly of: null; readonly value: readonly RunRow[] };
  readonly instance: { readonly of: string; readonly value: InstanceDetail };
  readonly backups: { readonly of: string; readonly value: BackupList };
  readonly keys: { readonly of: null; readonly value: KeysFacts };
  /** The newest entries of the journal. */
  readonly entries: { readonly of: EntriesWanted; readonly value: EntriesPage };
  /** A page of older ones. */
  readonly olderEntries: { readonly of: OlderEntriesWanted; readonly value: EntriesPage };
  /** The findings of an audit of the journal; each attempt is made once. */
  readonly audit: { readonly of: AuditWanted; readonly value: AuditFacts };
  readonly dryRun: { readonly of: StartWish; readonly value: DryRunFacts };
  /** A moment of the past as typed, such as `14:32` or `10 minutes ago`. */
  readonly moment: { readonly of: string; readonly value: TypedMoment };
  /** The report of a run, by its id. */
  readonly report: { readonly of: string; readonly value: ReportText };
  /** The lab that the config names; fails if it names none. */
  readonly lab: { readonly of: null; readonly value: LabFacts };
  /** A file with a secret, by its path as typed; fails with what is wrong with it. Never the secret. */
  readonly secretFile: { readonly of: string; readonly value: CheckedFile };
  /** A file with public keys, likewise. */
  readonly publicKeyFile: { readonly of: string; readonly value: CheckedFile };
}

/** An audit by the number of its attempt, with what comes from outside the journal. */
export interface AuditWanted extends AuditTrust {
  readonly attempt: number;
}

/** What pins a journal from outside. */
export interface AuditTrust {
  /** The path of a file with public keys, as typed. */
  readonly publicKey?: string;
  /** As copied into a ticket. */
  readonly anchor?: string;
}

/** What `lifeboat audit verify` found. Every text is printable. */
export interface AuditFacts {
  readonly verdict: 'intact' | 'consistent' | 'not-intact';
  /** The verdict as one sentence. */
  readonly words: string;
  /** The exit code of the command. */
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

/** The meaning of a text now: the moment, RFC 3339, or why it has none. */
export type TypedMoment = { readonly time: string } | { readonly problem: string };

export type SourceName = keyof Sources;

/** What a screen needs to know while it is shown. */
export type Need = { readonly [Name in SourceName]: NeedOf<Name> }[SourceName];

export interface NeedOf<Name extends SourceName> {
  readonly source: Name;
  readonly of: Sources[Name]['of'];
}

/** Everything the app knows now. */
export interface Facts {
  /**
   * The newest answer to a need. After a known answer, `failed` keeps that answer in `before`, with its time.
   */
  get<Name extends SourceName>(source: Name, of: Sources[Name]['of']): Fact<Sources[Name]['value']>;
}

/** An answer with its age. `isAsking`: a newer one is on its way. */
export interface Fact<Value> {
  readonly part: Part<Value>;
  readonly isAsking: boolean;
  /** The last value, however old. */
  readonly last?: { readonly at: Date; readonly value: Value };
}

/** Each instance of the config, and how many have answered. */
export interface Fleet {
  /** In the order of the config. Parts without an answer yet were not asked. */
  readonly instances: readonly InstanceStatus[];
  /** The same answers, judged at another time: between two answers ages grow and objectives are missed. */
  readonly instancesAt?: (now: Date) => readonly InstanceStatus[];
  readonly answered: number;
  /** When the next drill is due, in words. */
  readonly drills: string;
  /** The plan files: by the record at first, then by the last answers of all instances. */
  readonly plans?:
    | readonly Pick<PlanEvaluation, 'plan' | 'verdict' | 'reason' | 'instances' | 'checks'>[]
    | undefined;
  /** When the oldest answer of each instance came; instances without an answer are missing. */
  readonly answeredAt?: ReadonlyMap<string, Date>;
  /** Since when the instances without an answer are asked. */
  readonly askedAt?: ReadonlyMap<string, Date> | undefined;
  /** Who began each open run, by its id; untrusted. */
  readonly startedBy?: ReadonlyMap<string, string>;
  /** Problems of all instances alike, such as a journal that was rolled back. */
  readonly troubles?: readonly Trouble[];
}

/** A problem, and what is safe to do. Each text is one printable line. */
export interface Trouble {
  readonly text: string;
  readonly hints: readonly string[];
}

/**
 * How each source is asked. `emit` may be called several times, each time with everything known by then; the
 * promise resolves when nothing more will come, and rejects with the reason if nothing is known.
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
  /** `unknown`: it is held, but no ledger names it. */
  readonly state: KeyEpoch['state'] | 'unknown';
  readonly isHeld: boolean;
  /** The start of its time in force. */
  readonly setAt: string | undefined;
  /** The latest possible end of its time in force. */
  readonly endedAt: string | undefined;
  readonly provenAt: string | undefined;
  /** How many backups were opened with it, according to the record. */
  readonly provenBackups: number;
  /** Whether the config names its instance. */
  readonly isConfigured: boolean;
  /** What becomes of it; missing where the journal could not be read. */
  readonly custody?: KeyRowCustody | undefined;
}

/** What is on record about the custody of a key, and what needs it. */
export interface KeyRowCustody {
  /** In the words of NIST SP 800-57. */
  readonly state: string;
  /** How many of the backups that were listed last need it, by a verify, a fit or their dates. */
  readonly needed: number;
  /** Of these, how many were read to their end with it, and how many it fits by their first block. */
  readonly verified: number;
  readonly fitted: number;
  /**
   * Where its newest sealed copies are, by the names of the config, and how many people they were sealed to.
   */
  readonly sealed?: { readonly places: readonly string[]; readonly people: number } | undefined;
  /** When it is to be destroyed. RFC 3339. */
  readonly endsAt?: string | undefined;
}

/** A person to whom keys are sealed, and whether they have shown that they can open a copy. */
export interface HolderRow {
  readonly name: string;
  readonly state: 'proven' | 'expired' | 'never';
  readonly provenAt?: string | undefined;
}

export interface KeysFacts {
  /** Which key store, in words. */
  readonly store: string;
  readonly rows: readonly KeyRow[];
  /** Missing where the config keeps no sealed copies, or where the journal could not be read. */
  readonly holders?: readonly HolderRow[] | undefined;
  /** Why the journal cannot be read; states are then unknown. */
  readonly unread?: string | undefined;
}

/** One instance; each part is answered, or fails, by itself. Every text is printable. */
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
  /** By path, in the service's order. */
  readonly series: readonly MetricCourse[];
}

/** The history of one measurement, oldest value first. */
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
  /** The moment to which the data was restored. */
  readonly restoredFrom?: string | undefined;
  readonly triggeredAt?: string | undefined;
  readonly finishedAt?: string | undefined;
}

/** A run in a list, with its holder in words; undefined if no process holds it. Printable. */
export type RunRow = ListedRun & { readonly heldBy?: string | undefined };

/** Seconds that a run has taken, to `now` while it is open. */
export function secondsOfRun({ status, startedAt, lastAt }: RunRow, now: Date): number {
  const end = status === 'open' ? now.getTime() : msOf(lastAt);
  return Math.max(0, (end - msOf(startedAt)) / 1000);
}

/** The report of a run, as Markdown. */
export interface ReportText {
  readonly markdown: string;
  /** The command that writes it to a file. */
  readonly command: string;
  readonly mode: ListedRun['mode'];
  /** The run's instance, and its target if that is another one. */
  readonly instance: string;
}

/** The file for the report of a run, in the current folder; `at` numbers further files of its kind. */
export function reportFile(runId: string, at = 1): string {
  return `report-${runId}${at === 1 ? '' : `-${at}`}.html`;
}

/** The command that writes it there. */
export function reportCommand(runId: string): string {
  return `lifeboat report ${runId} --format html --out ${reportFile(runId)}`;
}

/** An instance as the config names it. */
export interface HomeInstance {
  readonly name: string;
  readonly role: 'source' | 'target';
  /** A run that changes it is a rehearsal. */
  readonly isRehearsal: boolean;
  /** The revision of its API, as the config names it. */
  readonly revision: string;
  /** The address of its API, for people: host and port. */
  readonly place: string;
  /** The normalised address: two instances that share it are the same. */
  readonly address?: string;
}

/** The lab that the config names. */
export interface HomeLab {
  /** Host and port. */
  readonly place: string;
  /** Instances of the config at another address: the lab cannot touch them. */
  readonly elsewhere: readonly string[];
}

/** Why there is no lab screen. */
export const NO_LAB = 'the config names no lab: `lifeboat lab --out lifeboat.yaml` writes one that does';

/** What config and environment say. */
export interface Home {
  readonly instances: readonly HomeInstance[];
  readonly operator: string;
  /** The names of all applications in the config. */
  readonly apps?: readonly string[];
  /** The folder of keys and journal. */
  readonly folder: string;
  readonly config: string;
  /** Where the journal is: a folder, or the address of a database without its password. */
  readonly store: string;
  /** Only a config for a lab names one. */
  readonly lab?: HomeLab | undefined;
}

/** What the frame of a screen says: live, rehearsal, or both. */
export type Badge = 'LIVE' | 'REHEARSAL' | 'MIXED';

/** What is at stake on a screen over these; undefined if the config is not read, or names none. */
export function badgeOf(instances: readonly HomeInstance[] | undefined): Badge | undefined {
  if (instances === undefined || instances.length === 0) return undefined;
  const rehearsals = instances.filter(({ isRehearsal }) => isRehearsal).length;
  if (rehearsals === 0) return 'LIVE';
  return rehearsals === instances.length ? 'REHEARSAL' : 'MIXED';
}
