import type { Readable } from 'node:stream';
import type { LabClock } from './clock.ts';
import type { Platform, PlatformOptions } from './cloud-foundry/platform.ts';
import type { PlatformFace } from './cloud-foundry/platform-routes.ts';
import type { InstanceData } from './data/instance-data.ts';
import type { Query } from './engine/engine.ts';
import { type Fault, FaultTable } from './faults.ts';
import type { Endpoint, Revision } from './http/endpoint.ts';
import { makeSessions, type Sessions, type Tokens } from './http/tokens.ts';
import type { LabInstance } from './instance.ts';
import type { Found, InstanceWish } from './instance-plan.ts';
import { type DownloadRule, guidOfBackup } from './manager/instance-backups.ts';
import type { TaskQueue } from './manager/task-queue.ts';
import type { Scenario } from './scenarios/scenario.ts';
import type { Schedule } from './schedule.ts';

/** The platform operator's settings, which may change while the lab runs. */
interface OperatorSettings {
  /** Milliseconds after which the platform's router ends an external request (section 8). */
  routerMs: number;
  /** Whether application developers may forbid maintenance updates (4.2 item 6). */
  updateBlocking: boolean;
  downloads: DownloadRule;
}

interface LabParts {
  readonly origin: string;
  readonly engine: string;
  /** Whether there are no databases: then every answer says so. */
  readonly isSimulated: boolean;
  readonly revision: Revision;
  readonly instances: readonly LabInstance[];
  readonly tokens: Tokens;
  readonly clock: LabClock;
  readonly queue: TaskQueue;
  readonly schedule: Schedule;
  readonly settings: OperatorSettings;
  readonly sso: boolean;
  /** Undefined in a lab without an application platform. */
  readonly platform: PlatformFace | undefined;
  readonly closing: AbortSignal;
  readonly log: (line: string) => void;
}

/** Everything the HTTP layer sees. */
export interface LabState extends LabParts {
  readonly calls: CallLog;
  readonly sessions: Sessions;
  readonly faults: FaultTable;
  instanceNamed(nameOrGuid: string): LabInstance | undefined;
  instanceOf(guid: string | undefined): LabInstance | undefined;
  /**
   * What a `backup_guid` stands for: the newest backup of an instance at each call, or, with a `backup_id`,
   * that one (domain: fork). Lost instances count: their backups are in the store. Undefined if unknown.
   */
  backupsBehind(reference: string): (() => Found) | undefined;
  /** Whether developers may forbid maintenance updates; `false` also lifts what they have forbidden. */
  setUpdateBlocking(isAllowed: boolean): void;
  /** Ends all faults and releases the queued tasks that a fault holds. */
  clearFaults(): void;
}

export function makeLabState(parts: LabParts, endpoints: readonly Endpoint[]): LabState {
  const { instances, settings, queue } = parts;
  const faults = new FaultTable(endpoints, instances);
  const byGuid = new Map<string, LabInstance>(instances.map((instance) => [instance.guid, instance]));
  const byName = new Map(instances.map((instance) => [instance.name, instance]));
  const byBackupGuid = new Map<string, LabInstance>(
    instances.map((instance) => [instance.backupGuid, instance]),
  );
  return {
    ...parts,
    calls: new CallLog(),
    sessions: makeSessions(),
    faults,
    instanceNamed: (nameOrGuid) => byName.get(nameOrGuid) ?? byGuid.get(nameOrGuid),
    instanceOf: (guid) => byGuid.get(guid ?? ''),
    backupsBehind: (reference) => {
      const named = byBackupGuid.get(reference);
      if (named !== undefined) return () => ({ owner: named, backup: named.backups.newestDone() });
      const owner = byBackupGuid.get(guidOfBackup(reference));
      const backup = owner?.backups.all.find(({ backupId }) => backupId === reference);
      if (owner === undefined || backup === undefined || backup.task.status === 'deleted') return undefined;
      return () => ({ owner, backup });
    },
    setUpdateBlocking: (isAllowed) => {
      settings.updateBlocking = isAllowed;
      if (isAllowed) return;
      for (const instance of instances) {
        const { setting } = instance.upkeep;
        if (!setting.allowed) instance.changeUpdateSetting({ ...setting, allowed: true });
      }
    },
    clearFaults: () => {
      faults.clear();
      queue.release();
    },
  };
}

/** Instances without databases, for a landscape larger than a machine can hold. */
export interface SimulatedOptions {
  /** How many sources there are, `sim-00001` and so on; each has a target beside it, `sim-00001-dr`. */
  readonly sources: number;
  /** How long a task takes in real milliseconds, at least and at most; nothing by default. */
  readonly taskMs?: readonly [least: number, most: number];
  /** Decides how long each task takes; 1 by default. */
  readonly seed?: number;
}

export interface LabOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly revision?: Revision;
  /** In place of `instances`, on no PostgreSQL and without a platform. */
  readonly simulated?: SimulatedOptions;
  /** By default `orders` with the sample application, a key and archiving, and an empty `orders-dr`. */
  readonly instances?: readonly InstanceWish[];
  /** For tokens, keys and backups: empty or new, removed at the end. A temporary folder by default. */
  readonly folder?: string;
  readonly faults?: readonly Fault[];
  /** Begins when the whole lab answers, and ends the `faults` above. */
  readonly scenario?: Scenario;
  /** Orders a second of each sample application: 5 by default; with 0 only the first ones exist. */
  readonly sampleApp?: { readonly rowsPerSecond: number };
  /** A platform with applications that use the databases; on by default; `false` turns it off. */
  readonly platform?: PlatformOptions | false;
  /** A shell command, for the config, that prints what `querySampleData` returns; none by default. */
  readonly queryCommand?: (instance: string, folder: string) => string;
  /** On by default. Off, databases start and back up faster, and do not survive a crash of the machine. */
  readonly fsync?: boolean;
  /** The data folder of an empty database to copy; by default the lab makes one. */
  readonly emptyDatabase?: string | undefined;
  /** Tasks that the Backup Manager runs at once; 4 by default. */
  readonly workers?: number;
  /** Seconds of the lab's clock between scheduled backups of each instance; none by default. */
  readonly backupEvery?: number;
  /** Seconds of the lab's clock between maintenance of each instance that allows it; none by default. */
  readonly maintenanceEvery?: number;
  /** Whether the dashboard address has a sign-on that redirects and sets a cookie; on by default. */
  readonly sso?: boolean;
  /** Milliseconds until the platform's router ends an external request (section 8); 15 minutes by default. */
  readonly routerMs?: number;
  /** Whether revision 61 lets application developers forbid maintenance updates; on by default. */
  readonly updateBlocking?: boolean;
  /** Which backups are offered for download; those under the present key by default. */
  readonly downloads?: DownloadRule;
  readonly log?: (line: string) => void;
  /** Stops the start, or closes the lab. */
  readonly signal?: AbortSignal;
}

/** A temporary database from a backup, beside the instances. */
export interface Scratch {
  readonly query: Query;
  close(): Promise<void>;
}

export interface Lab {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly revision: Revision;
  readonly folder: string;
  /** The full token; `token-readonly` beside it is read-only. */
  readonly tokenFile: string;
  /** The key of the first instance that has one, and of its first backup; otherwise the file is missing. */
  readonly keyFile: string;
  /** A lifeboat.yaml for all instances, also written to the folder. */
  readonly configYaml: string;
  readonly instances: readonly {
    readonly name: string;
    readonly guid: string;
    /** As the superuser; rejects while the server is down. */
    readonly query: Query;
    /** Restorable times now, by this machine's clock; undefined without archiving or a base backup. */
    readonly range: InstanceData['range'];
    readonly keyFile: string | undefined;
  }[];
  readonly clock: LabClock;
  /** The applications' state; undefined without a platform. */
  readonly platform: Pick<Platform, 'appStates' | 'appsReach'> | undefined;
  /** Takes an instance (name or GUID) away or brings it back; rejects with `lab.instance` if unknown. */
  disaster(instance: string, lost: boolean): Promise<void>;
  /** Adds a fault; throws `lab.fault` for one that could never happen. */
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Resolves when no task of the service is running. */
  atRest(): Promise<void>;
  /** Begins a scenario and ends the one before; throws `lab.scenario` or `lab.fault`. */
  play(scenario: Scenario): void;
  /** Ends the scenario's timeline: resolves when no step is under way and none will follow. */
  endTimeline(): Promise<void>;
  /** Mutating calls that the service carried out, in order; crash tests count them. */
  calls(): readonly Call[];
  /** How often each change of each instance was carried out: all of them, however many there were. */
  counts(): Readonly<Record<string, CallCounts>>;
  /** Starts a PostgreSQL on the plain tar of a backup; rejects with `lab.content` or `lab.postgres`. */
  openScratch(content: Readable, options: { readonly name: string }): Promise<Scratch>;
  /** Ends everything and removes every file. Safe to call twice. */
  close(): Promise<void>;
}

/** A mutating call that the service carried out, even if its answer was lost. */
export interface Call {
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Method and path below the instance: `POST /backups`. */
  readonly endpoint: string;
  readonly instance: string;
  /** The id that it created or the settings that it changed. A key is `sha256:` and 12 hex digits. */
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

type CallCounts = Readonly<Record<string, number>>;

/** The calls of a long run at ten thousand instances would fill the memory; their counts do not. */
const KEPT = 10_000;

/** What the service has changed: the latest calls whole, and all of them counted. */
class CallLog {
  #latest: Call[] = [];
  readonly #counts = new Map<string, Map<string, number>>();

  add(call: Call): void {
    this.#latest.push(call);
    // Seldom, because each time moves all that are kept.
    if (this.#latest.length >= 2 * KEPT) this.#latest = this.#latest.slice(-KEPT);
    const counts = this.#counts.get(call.instance) ?? new Map<string, number>();
    counts.set(call.endpoint, (counts.get(call.endpoint) ?? 0) + 1);
    this.#counts.set(call.instance, counts);
  }

  /** The latest ones, oldest first; all of them if they are not more than ten thousand. */
  get latest(): readonly Call[] {
    return this.#latest.slice(-KEPT);
  }

  /** Of each instance that was changed, by its name. */
  get counts(): Readonly<Record<string, CallCounts>> {
    return Object.fromEntries([...this.#counts].map(([name, counts]) => [name, Object.fromEntries(counts)]));
  }

  countsOf(name: string): CallCounts {
    return Object.fromEntries(this.#counts.get(name) ?? []);
  }

  get total(): CallCounts {
    const total: Record<string, number> = {};
    for (const counts of this.#counts.values())
      for (const [endpoint, count] of counts) total[endpoint] = (total[endpoint] ?? 0) + count;
    return total;
  }
}
