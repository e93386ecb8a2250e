import type { Call } from './calls.ts';
import type { LabClock } from './clock.ts';
import type { PlatformFace } from './cloud-foundry/platform-routes.ts';
import { FaultTable } from './faults.ts';
import type { Endpoint, Revision } from './http/endpoint.ts';
import { makeSessions } from './http/sessions.ts';
import type { Tokens } from './http/tokens.ts';
import type { LabInstance } from './instance.ts';
import type { Found } from './instance-parts.ts';
import type { TaskQueue } from './manager/task-queue.ts';
import type { Schedule } from './schedule.ts';

/** What the operator of the platform decides, and may change while the lab runs. */
export interface OperatorSettings {
  /** After so many milliseconds the platform's router ends an external request (section 8). */
  routerMs: number;
  /** Whether application developers may forbid maintenance updates (4.2 item 6). */
  updateBlocking: boolean;
}

/** Everything the HTTP layer sees. */
export class LabState {
  readonly calls: Call[] = [];
  readonly sessions = makeSessions();
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly engine: string;
  readonly revision: Revision;
  readonly instances: readonly LabInstance[];
  readonly tokens: Tokens;
  readonly faults: FaultTable;
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

  constructor(
    parts: Pick<
      LabState,
      | 'origin'
      | 'engine'
      | 'revision'
      | 'instances'
      | 'tokens'
      | 'clock'
      | 'queue'
      | 'schedule'
      | 'settings'
      | 'sso'
      | 'platform'
      | 'closing'
      | 'log'
    > & { readonly endpoints: readonly Endpoint[] },
  ) {
    this.origin = parts.origin;
    this.engine = parts.engine;
    this.revision = parts.revision;
    this.instances = parts.instances;
    this.tokens = parts.tokens;
    this.faults = new FaultTable(parts.endpoints, parts.instances);
    this.clock = parts.clock;
    this.queue = parts.queue;
    this.schedule = parts.schedule;
    this.settings = parts.settings;
    this.sso = parts.sso;
    this.platform = parts.platform;
    this.closing = parts.closing;
    this.log = parts.log;
  }

  instanceNamed(nameOrGuid: string): LabInstance | undefined {
    return this.instances.find(({ name, guid }) => name === nameOrGuid || guid === nameOrGuid);
  }

  /**
   * What a `backup_guid` stands for: the newest backup of an instance, asked anew at each call, or, given a
   * `backup_id`, just that one (domain: fork). Lost instances count: their backups are in the store.
   * Undefined when nothing is known under it.
   */
  backupsBehind(reference: string): (() => Found) | undefined {
    for (const owner of this.instances) {
      if (owner.backupGuid === reference) return () => ({ owner, backup: owner.newestDone() });
      const backup = owner.backups.find(({ backupId }) => backupId === reference);
      if (backup !== undefined && backup.task.status !== 'deleted') return () => ({ owner, backup });
    }
    return undefined;
  }

  /**
   * Lets application developers forbid maintenance updates, or no more: then what they have forbidden is
   * allowed again.
   */
  setUpdateBlocking(isAllowed: boolean): void {
    this.settings.updateBlocking = isAllowed;
    if (isAllowed) return;
    for (const instance of this.instances) {
      const { updateSetting } = instance;
      if (!updateSetting.allowed) instance.changeUpdateSetting({ ...updateSetting, allowed: true });
    }
  }

  /** Adds a fault; throws `lab.fault` for one that could never happen. */
  fault(fault: unknown): void {
    this.faults.add(fault);
  }

  /** Ends all faults; tasks that one of them holds in the queue go on. */
  clearFaults(): void {
    this.faults.clear();
    this.queue.release();
  }
}
