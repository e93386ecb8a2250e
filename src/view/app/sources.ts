import { msOf } from '../../base/instant.ts';
import type { PlanEvaluation } from '../../plans/evaluation-schema.ts';
import type { KeyEpoch } from '../../store/projections/key-epochs.ts';
import type { ListedRun } from '../../store/projections/run-summary.ts';
import type { Part } from '../fleet/fleet-facts.ts';
import type { WorkersStatus } from '../fleet/workers-schema.ts';
import type { FollowUpRow } from '../view-follow-ups.ts';
import type { BackupList } from './backup-list.ts';
import type { DryRunFacts } from './dry-run-facts.ts';
import type { EntriesPage, EntriesWanted, OlderEntriesWanted } from './entries-page.ts';
import type { FleetRow } from './fleet-row.ts';
import type { LabFacts } from './lab-facts.ts';
import type { StartWish } from './start-wish.ts';

/** The facts that screens ask for: the key (`of`), and the value. */
export interface Sources {
  readonly home: { readonly of: null; readonly value: Home };
  /** Grows while answers arrive. */
  readonly fleet: { readonly of: null; readonly value: Fleet };
  readonly runs: { readonly of: null; readonly value: readonly RunRow[] };
  /** Undefined if the store has no workers. */
  readonly workers: { readonly of: null; readonly value: WorkersStatus | undefined };
  /** Of open runs and ledgers; the longest overdue first. */
  readonly followUps: { readonly of: null; readonly value: readonly FollowUpRow[] };
  /** The runs of this home's drills. */
  readonly drillRuns: { readonly of: null; readonly value: readonly RunRow[] };
  readonly instance: { readonly of: string; readonly value: InstanceDetail };
  readonly backups: { readonly of: string; readonly value: BackupList };
  readonly keys: { readonly of: null; readonly value: KeysFacts };
  readonly entries: { readonly of: EntriesWanted; readonly value: EntriesPage };
  readonly olderEntries: { readonly of: OlderEntriesWanted; readonly value: EntriesPage };
  /** Each attempt is made once. */
  readonly audit: { readonly of: AuditWanted; readonly value: AuditFacts };
  readonly dryRun: { readonly of: StartWish; readonly value: DryRunFacts };
  /** As typed: `14:32` or `10 minutes ago`. */
  readonly moment: { readonly of: string; readonly value: TypedMoment };
  /** By run id. */
  readonly report: { readonly of: string; readonly value: ReportText };
  /** Fails if the config names no lab. */
  readonly lab: { readonly of: null; readonly value: LabFacts };
  /** By the path as typed; fails with the problem. Never the secret. */
  readonly secretFile: { readonly of: string; readonly value: CheckedFile };
  /** A file with public keys, likewise. */
  readonly publicKeyFile: { readonly of: string; readonly value: CheckedFile };
}

/** By the number of the attempt. */
export interface AuditWanted extends AuditTrust {
  readonly attempt: number;
}

/** Pins a journal from outside. */
export interface AuditTrust {
  /** A path as typed. */
  readonly publicKey?: string;
  /** As copied into a ticket. */
  readonly anchor?: string;
}

/** Printable. */
export interface AuditFacts {
  readonly verdict: 'intact' | 'consistent' | 'not-intact';
  /** One sentence. */
  readonly words: string;
  /** Of the command. */
  readonly exitCode: number;
  readonly entries: number;
  readonly findings: readonly {
    readonly severity: 'problem' | 'limit' | 'note';
    readonly text: string;
  }[];
  /** The vault with the signing key is locked; its passphrase would pin the record. */
  readonly isLocked?: boolean;
}

/** `unread`: a pipe or a device, which can be read only once. */
export type CheckedFile = 'readable' | 'unread';

/** The moment, RFC 3339, or why there is none. */
export type TypedMoment = { readonly time: string } | { readonly problem: string };

export type SourceName = keyof Sources;

/** For a screen while it is shown. */
export type Need = { readonly [Name in SourceName]: NeedOf<Name> }[SourceName];

export interface NeedOf<Name extends SourceName> {
  readonly source: Name;
  readonly of: Sources[Name]['of'];
}

export interface Facts {
  /** The newest answer. After a known answer, `failed` keeps that answer in `before`, with its time. */
  get<Name extends SourceName>(source: Name, of: Sources[Name]['of']): Fact<Sources[Name]['value']>;
}

/** `isAsking`: a newer answer is on its way. */
export interface Fact<Value> {
  readonly part: Part<Value>;
  readonly isAsking: boolean;
  /** The last value, however old. */
  readonly last?: { readonly at: Date; readonly value: Value };
}

/** `answered` counts the instances. */
export interface Fleet {
  /** In the order of the config. Parts without an answer yet were not asked. */
  readonly instances: readonly FleetRow[];
  /** The same answers, judged at another time: ages grow and objectives are missed between answers. */
  readonly instancesAt?: (now: Date) => readonly FleetRow[];
  readonly answered: number;
  /** The next drill, in words. */
  readonly drills: string;
  /** First by the record, then by the last answers of all instances. */
  readonly plans?:
    | readonly Pick<PlanEvaluation, 'plan' | 'verdict' | 'reason' | 'instances' | 'checks'>[]
    | undefined;
  /** The time of an instance's oldest answer; instances without an answer are missing. */
  readonly answeredAt?: ReadonlyMap<string, Date>;
  /** For instances without an answer. */
  readonly askedAt?: ReadonlyMap<string, Date> | undefined;
  /** By the id of the open run; untrusted. */
  readonly startedBy?: ReadonlyMap<string, string>;
  /** Problems of all instances, such as a journal that was rolled back. */
  readonly troubles?: readonly Trouble[];
}

/** With what is safe to do. Each text is one printable line. */
export interface Trouble {
  readonly text: string;
  readonly hints: readonly string[];
}

/**
 * `emit` may be called several times, each time with everything known by then. Resolves when nothing more
 * will come; rejects with the reason if nothing is known.
 */
export type Loaders = {
  readonly [Name in SourceName]: (
    of: Sources[Name]['of'],
    emit: (value: Sources[Name]['value']) => void,
    signal: AbortSignal,
  ) => Promise<void>;
};

/** Never the key itself. Times RFC 3339. */
export interface KeyRow {
  readonly instance: string;
  readonly fingerprint: string;
  /** `unknown`: held, but in no ledger. */
  readonly state: KeyEpoch['state'] | 'unknown';
  readonly isHeld: boolean;
  /** In force since then. */
  readonly setAt: string | undefined;
  /** In force until then at the latest. */
  readonly endedAt: string | undefined;
  readonly provenAt: string | undefined;
  /** Backups opened with it, by the record. */
  readonly provenBackups: number;
  readonly isConfigured: boolean;
  /** Missing if the journal could not be read. */
  readonly custody?: KeyRowCustody | undefined;
}

export interface KeyRowCustody {
  /** In the words of NIST SP 800-57. */
  readonly state: string;
  /** Of the backups that were listed last, by a verify, a fit or their dates. */
  readonly needed: number;
  /** Of these: read to the end with it, and fitting by the first block. */
  readonly verified: number;
  readonly fitted: number;
  /** The newest sealed copies: places of the config, and the number of people they were sealed to. */
  readonly sealed?: { readonly places: readonly string[]; readonly people: number } | undefined;
  /** The time of its scheduled destruction. RFC 3339. */
  readonly endsAt?: string | undefined;
}

/** A person to whom keys are sealed, and the last proof that they can open a copy. */
export interface HolderRow {
  readonly name: string;
  readonly state: 'proven' | 'expired' | 'never';
  readonly provenAt?: string | undefined;
}

export interface KeysFacts {
  /** In words. */
  readonly store: string;
  readonly rows: readonly KeyRow[];
  /** Missing without sealed copies in the config, or if the journal could not be read. */
  readonly holders?: readonly HolderRow[] | undefined;
  /** Why the journal cannot be read; states are then unknown. */
  readonly unread?: string | undefined;
}

/** Each part is answered, or fails, by itself. Printable. */
export interface InstanceDetail {
  readonly name: string;
  /** Overview, objectives, backup configuration, point in time. */
  readonly groups: readonly DetailGroup[];
  readonly metrics: Part<InstanceMetrics>;
  /** Newest first. */
  readonly restores: Part<readonly RestoreRow[]>;
  /** Rows that could not be read, in words. */
  readonly unreadRestores?: readonly string[] | undefined;
}

export interface DetailGroup {
  readonly title: string;
  readonly rows: Part<readonly (readonly [label: string, value: string])[]>;
}

export interface InstanceMetrics {
  /** Each disk against its parachute. */
  readonly disks: readonly { readonly text: string; readonly isOpen: boolean }[];
  /** By path, in the service's order. */
  readonly series: readonly MetricCourse[];
}

/** Oldest value first. */
export interface MetricCourse {
  readonly path: string;
  readonly values: readonly number[];
  /** Of the newest value; RFC 3339. */
  readonly at: string;
}

/** Times RFC 3339. */
export interface RestoreRow {
  readonly id: number;
  readonly backupId?: number | undefined;
  readonly status: string;
  /** The moment to which the data was restored. */
  readonly restoredFrom?: string | undefined;
  readonly triggeredAt?: string | undefined;
  readonly finishedAt?: string | undefined;
}

/** `heldBy` is in words; undefined if no process holds the run. Printable. */
export type RunRow = ListedRun & { readonly heldBy?: string | undefined };

/** Until `now` while the run is open. */
export function secondsOfRun({ status, startedAt, lastAt }: RunRow, now: Date): number {
  const end = status === 'open' ? now.getTime() : msOf(lastAt);
  return Math.max(0, (end - msOf(startedAt)) / 1000);
}

export interface ReportText {
  readonly markdown: string;
  /** Writes the report to a file. */
  readonly command: string;
  readonly mode: ListedRun['mode'];
  /** The run's instance, and its target if that differs. */
  readonly instance: string;
}

/** In the current folder; `at` numbers further files of the run. */
export function reportFile(runId: string, at = 1): string {
  return `report-${runId}${at === 1 ? '' : `-${at}`}.html`;
}

export function reportCommand(runId: string): string {
  return `lifeboat report ${runId} --format html --out ${reportFile(runId)}`;
}

export interface HomeInstance {
  readonly name: string;
  readonly role: 'source' | 'target';
  /** Runs that change it are rehearsals. */
  readonly isRehearsal: boolean;
  readonly revision: string;
  /** Host and port of its API. */
  readonly place: string;
  /** Normalised: two instances with the same address are the same. */
  readonly address?: string;
}

export interface HomeLab {
  /** Host and port. */
  readonly place: string;
  /** Instances of the config at another address, which the lab cannot touch. */
  readonly elsewhere: readonly string[];
}

/** Why there is no lab screen. */
export const NO_LAB = 'the config names no lab: `lifeboat lab --out lifeboat.yaml` writes one that does';

/** From config and environment. */
export interface Home {
  readonly instances: readonly HomeInstance[];
  readonly operator: string;
  /** All applications in the config. */
  readonly apps?: readonly string[];
  /** The folder of keys and journal. */
  readonly folder: string;
  readonly config: string;
  /** A folder, or the address of a database without its password. */
  readonly store: string;
  /** Only in the config of a lab. */
  readonly lab?: HomeLab | undefined;
}

/** For the frame of a screen. */
export type Badge = 'LIVE' | 'REHEARSAL' | 'MIXED';

/** Undefined without a config that names instances. */
export function badgeOf(instances: readonly HomeInstance[] | undefined): Badge | undefined {
  if (instances === undefined || instances.length === 0) return undefined;
  const rehearsals = instances.filter(({ isRehearsal }) => isRehearsal).length;
  if (rehearsals === 0) return 'LIVE';
  return rehearsals === instances.length ? 'REHEARSAL' : 'MIXED';
}
