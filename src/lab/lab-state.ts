import type { LabClock } from './clock.ts';
import type { PlatformFace } from './cloud-foundry/platform-routes.ts';
import { FaultTable } from './faults.ts';
import type { Endpoint, Revision } from './http/endpoint.ts';
import { makeSessions, type Sessions, type Tokens } from './http/tokens.ts';
import type { LabInstance } from './instance.ts';
import type { Found } from './instance-plan.ts';
import type { Call } from './lab-contract.ts';
import type { DownloadRule } from './manager/instance-backups.ts';
import type { TaskQueue } from './manager/task-queue.ts';
import type { Schedule } from './schedule.ts';

/** The platform operator's settings, which may change while the lab runs. */
interface OperatorSettings {
  /** Milliseconds after which the platform's router ends an external request (section 8). */
  routerMs: number;
  /** Whether application developers may forbid maintenance updates (4.2 item 6). */
  updateBlocking: boolean;
  /** Which backups are offered for download. */
  downloads: DownloadRule;
}

/** The dependencies of the HTTP layer. */
interface LabParts {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly engine: string;
  readonly revision: Revision;
  readonly instances: readonly LabInstance[];
  readonly tokens: Tokens;
  readonly clock: LabClock;
  readonly queue: TaskQueue;
  readonly schedule: Schedule;
  readonly settings: OperatorSettings;
  /** Whether the dashboard address has a sign-on that redirects. */
  readonly sso: boolean;
  /** Undefined in a lab without an application platform. */
  readonly platform: PlatformFace | undefined;
  readonly closing: AbortSignal;
  readonly log: (line: string) => void;
}

/** Everything the HTTP layer sees. */
export interface LabState extends LabParts {
  readonly calls: Call[];
  readonly sessions: Sessions;
  readonly faults: FaultTable;
  instanceNamed(nameOrGuid: string): LabInstance | undefined;
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
  return {
    ...parts,
    calls: [],
    sessions: makeSessions(),
    faults,
    instanceNamed: (nameOrGuid) =>
      instances.find(({ name, guid }) => name === nameOrGuid || guid === nameOrGuid),
    backupsBehind: (reference) => {
      for (const owner of instances) {
        if (owner.backupGuid === reference) return () => ({ owner, backup: owner.backups.newestDone() });
        const backup = owner.backups.all.find(({ backupId }) => backupId === reference);
        if (backup !== undefined && backup.task.status !== 'deleted') return () => ({ owner, backup });
      }
      return undefined;
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
