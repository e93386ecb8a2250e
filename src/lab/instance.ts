import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Secret } from '../base/secret.ts';
import type { LabClock } from './clock.ts';
import type { InstanceData, TakenBackup } from './data/instance-data.ts';
import type { BackupSettings, BackupType, Found, InstanceFacts, InstanceParts } from './instance-plan.ts';
import {
  type DownloadRule,
  InstanceBackups,
  InstanceRestores,
  type LabBackup,
  type LabRestore,
} from './manager/instance-backups.ts';
import { openBackup } from './manager/store.ts';
import type { Outcome } from './manager/task-queue.ts';
import type { InstanceMetrics } from './metrics.ts';

/** One data-service instance of the lab: its data, its backups and restores, its keys, its bindings. */
export class LabInstance {
  readonly guid = newGuid();
  /** The GUID by which the Backup Manager refers to the backups of this instance. */
  readonly backupGuid = newGuid();
  readonly facts: InstanceFacts;
  readonly createdAt: Date;
  readonly data: InstanceData<TakenBackup>;
  readonly bindings: InstanceBindings;
  readonly metrics: InstanceMetrics;
  readonly backups: InstanceBackups<TakenBackup>;
  readonly restores: InstanceRestores;
  /** While it is busy, the state is `deploying`. */
  readonly upkeep: Upkeep;
  readonly #clock: LabClock;
  readonly #keys: KeyRing;
  #updatedAt: Date;
  #settings: BackupSettings = { min_backup_count: 5, retention_time: 30, exclude_from_auto_backup: false };
  #life = new AbortController();
  #end: 'lost' | 'deleted' | undefined;
  /** Until the first operation on it is over. */
  #isFresh = true;
  readonly #recheck: () => void;

  constructor(facts: InstanceFacts, { data, metrics, queue, store, clock, keys, log }: InstanceParts) {
    const life = () => this.#life.signal;
    this.facts = facts;
    this.data = data;
    this.#clock = clock;
    this.#recheck = () => queue.recheck();
    this.#keys = keys;
    this.createdAt = clock.now();
    this.#updatedAt = this.createdAt;
    this.bindings = new InstanceBindings(data, clock.now);
    this.metrics = metrics;
    this.upkeep = new Upkeep({
      data,
      isGone: () => this.gone,
      ended: () => {
        this.#isFresh = false;
        this.#updatedAt = clock.now();
        queue.recheck();
      },
      log: (line) => log(`${facts.name}: ${line}`),
    });
    this.backups = new InstanceBackups<TakenBackup>(
      {
        name: facts.name,
        backupGuid: this.backupGuid,
        take: (label) => data.baseBackup(label),
        describe: ({ manifest }) => manifest,
        kept: ({ backupId }, known) => (data.archiving ? data.keepBackup(backupId, known) : undefined),
        forgotten: async ({ backupId }) => (data.archiving ? await data.forgetBackup(backupId) : undefined),
        retention: () => this.#settings,
        // A task of an instance that is gone starts at once, and fails.
        isReady: () => this.gone || !(this.upkeep.isBusy || this.restores.isRunning),
        life,
      },
      { queue, store, now: clock.now },
    );
    this.restores = new InstanceRestores({
      name: facts.name,
      queue,
      atRest: () => !this.upkeep.isBusy,
      ended: () => {
        this.#isFresh = false;
      },
      life,
    });
  }

  get id(): number {
    return this.facts.id;
  }

  get name(): string {
    return this.facts.name;
  }

  get role(): InstanceFacts['role'] {
    return this.facts.role;
  }

  get backupType(): BackupType {
    return this.data.archiving ? 'continuous_archiving' : 'standard';
  }

  /**
   * A state of section 3, which does not say which is when. Here: `provisioned` as it was made, `deploying`
   * in an operation or restore, `available` after one, `failed` when no server runs, `deleted` for ever.
   */
  get state(): 'provisioned' | 'available' | 'deploying' | 'failed' | 'deleted' {
    if (this.deleted) return 'deleted';
    if (this.upkeep.isBusy || this.restores.isRunning) return 'deploying';
    if (!this.data.running) return 'failed';
    return this.#isFresh ? 'provisioned' : 'available';
  }

  get updatedAt(): Date {
    return this.#updatedAt;
  }

  get settings(): BackupSettings {
    return this.#settings;
  }

  /** Applies the given settings. A shorter retention deletes expired backups at once. */
  changeSettings(
    change: { readonly [Name in keyof BackupSettings]?: BackupSettings[Name] | undefined },
  ): void {
    this.#settings = {
      min_backup_count: change.min_backup_count ?? this.#settings.min_backup_count,
      retention_time: change.retention_time ?? this.#settings.retention_time,
      exclude_from_auto_backup: change.exclude_from_auto_backup ?? this.#settings.exclude_from_auto_backup,
    };
    this.#updatedAt = this.#clock.now();
    this.backups.prune();
  }

  /** Replaces the user's key; earlier backups keep theirs. */
  setKey(key: Secret): void {
    this.#keys.user = key;
    this.#updatedAt = this.#clock.now();
  }

  changeUpdateSetting(setting: UpdateSetting): void {
    this.upkeep.setting = setting;
    this.#updatedAt = this.#clock.now();
  }

  /** Whether the service offers this backup for download: whole, and made under a key of the user's. */
  isDownloadable({ task, key }: LabBackup, rule: DownloadRule): boolean {
    const { user, generated } = this.#keys;
    if (task.status !== 'done' || user === undefined) return false;
    return rule === 'own-key' ? !key.equals(generated) : key.equals(user);
  }

  triggerBackup(outcome?: Outcome): { readonly backup: LabBackup; readonly ended: Promise<void> } {
    return this.backups.trigger(this.#keys.user ?? this.#keys.generated, outcome);
  }

  /** Queues the restore of a backup of this instance, under the key that the Backup Manager holds for it. */
  restore(backup: LabBackup, outcome?: Outcome): LabRestore {
    return this.recover(() => ({ owner: this, backup }), backup.key, outcome);
  }

  /**
   * Queues a restore of any instance's backup, under the given key. `find` is called when the task runs.
   * Without a backup, with a wrong key or an unusable file the task fails, and this instance is unchanged.
   */
  recover(find: () => Found, key: Secret, outcome?: Outcome): LabRestore {
    return this.restores.trigger(
      {
        expected: find().backup,
        work: async (signal, chosen) => {
          const { owner, backup } = find();
          if (backup?.task.status !== 'done') throw new Error('there is no backup that could be restored');
          chosen(backup);
          const content = openBackup(owner.backups.read(backup), key, signal);
          await this.data.restoreBackup(content, owner === this ? 'own' : 'other');
          this.#updatedAt = this.#clock.now();
        },
      },
      outcome,
    );
  }

  /** The range for a restore to a time, in the service's time; undefined without archiving or a backup. */
  async pitrRange(): Promise<{ readonly start: Date; readonly end: Date } | undefined> {
    const range = await this.data.range();
    if (range === undefined) return undefined;
    return { start: this.#clock.fromReal(range.start), end: this.#clock.fromReal(range.end) };
  }

  /** Queues a restore to a point in time, in the service's time. Outside of the range the task fails. */
  restoreTo(time: Date, outcome?: Outcome): LabRestore {
    return this.restores.trigger(
      {
        expected: this.backups.newestDone(time),
        pointInTime: time,
        work: async (signal, chosen) => {
          const named = (backupId: string) => {
            const backup = this.backups.all.find((candidate) => candidate.backupId === backupId);
            if (backup === undefined) throw new Error(`the backup ${backupId} is not in the store`);
            return backup;
          };
          const open = (backupId: string) => {
            const backup = named(backupId);
            return openBackup(this.backups.read(backup), backup.key, signal);
          };
          const { backupId } = await this.data.restoreTo(this.#clock.toReal(time), open);
          chosen(named(backupId));
          this.#updatedAt = this.#clock.now();
        },
      },
      outcome,
    );
  }

  /** Unreachable: a router answers in its place. */
  get lost(): boolean {
    return this.#end === 'lost';
  }

  /** Removed from the service, which keeps its records and backups. */
  get deleted(): boolean {
    return this.#end === 'deleted';
  }

  /** Lost or deleted: there is no server, and there will be none. */
  get gone(): boolean {
    return this.#end !== undefined;
  }

  /** A disaster: the server is killed and the instance unreachable. Its tasks fail; its backups stay. */
  async lose(): Promise<void> {
    if (!this.deleted) await this.#finish('lost');
  }

  /** Removes it: its server and its work end for good. Its backups stay. Safe to call twice. */
  async delete(): Promise<void> {
    if (this.deleted) return;
    this.#updatedAt = this.#clock.now();
    await this.#finish('deleted');
  }

  async #finish(how: 'lost' | 'deleted'): Promise<void> {
    this.#end = how;
    this.#life.abort(new Error(`the instance ${this.name} is ${how}`));
    this.#recheck();
    await this.data.kill();
  }

  /** Ends the disaster: the server recovers what was committed, and the instance is reachable again. */
  async bringBack(): Promise<void> {
    if (!this.lost) return;
    await this.data.start();
    // It may have been deleted in the meantime.
    if (!this.lost) return await this.data.kill();
    this.#end = undefined;
    this.#isFresh = false;
    this.#life = new AbortController();
  }
}

/** The lab operator's requirements for a user's key. */
export const MIN_KEY_LENGTH = 16;

/** The current key. Without a user's key the Backup Manager uses its own, which is never disclosed. */
export interface KeyRing {
  readonly generated: Secret;
  user: Secret | undefined;
}

/** 32 random bytes in base64url: 43 characters that no shell touches. */
export function newKey(): Secret {
  return new Secret(randomBytes(32).toString('base64url'));
}

/** Flat: Node's own is a rope of sixteen parts with ten times the memory, and a lab may have thousands. */
function newGuid(): string {
  return Buffer.from(randomUUID()).toString('latin1');
}

/** Makes a key recognisable in the ledger. */
export function keyMark(key: Secret): string {
  return `sha256:${createHash('sha256').update(key.reveal()).digest('hex').slice(0, 12)}`;
}

/** One application's credentials for an instance. Only the application knows the password. */
interface Binding {
  readonly id: string;
  readonly app: string;
  readonly user: string;
  readonly createdAt: Date;
}

export type Credentials = Awaited<ReturnType<InstanceData['bind']>>;

/** The bindings. A restore makes their passwords unknown; as on a platform, entries stay until unbound. */
class InstanceBindings {
  readonly #data: Pick<InstanceData, 'bind' | 'unbind'>;
  readonly #now: () => Date;
  readonly #bindings = new Map<string, Binding>();

  constructor(data: Pick<InstanceData, 'bind' | 'unbind'>, now: () => Date) {
    this.#data = data;
    this.#now = now;
  }

  /** Oldest first. */
  get all(): readonly Binding[] {
    return [...this.#bindings.values()];
  }

  /** Creates a database user for an application. Rejects while the server is down. */
  async create(app: string): Promise<{ readonly binding: Binding; readonly credentials: Credentials }> {
    const credentials = await this.#data.bind();
    const binding = { id: randomUUID(), app, user: credentials.user, createdAt: this.#now() };
    this.#bindings.set(binding.id, binding);
    return { binding, credentials };
  }

  /** Drops the user; false if there is no such binding. While the server is down: rejects, keeps it. */
  async delete(id: string): Promise<boolean> {
    const binding = this.#bindings.get(id);
    if (binding === undefined) return false;
    await this.#data.unbind(binding.user);
    return this.#bindings.delete(id);
  }
}

/** Actions on an instance's process, not its data (endpoints 13 to 15 of service-api.md). */
export type UpkeepAction = 'restart' | 'recreate' | 'update';

interface AvailableUpdate {
  readonly name: string;
  readonly type: string;
  readonly version: string;
}

/** Whether the instance may be updated (section 2.5), by the lab's own maintenance or on request. */
interface UpdateSetting {
  readonly type: string;
  readonly allowed: boolean;
}

interface UpkeepParts {
  readonly data: Pick<InstanceData, 'stop' | 'start'>;
  /** While the instance is lost or deleted, nothing may start its server. */
  readonly isGone: () => boolean;
  /** Called when an action has ended, successfully or not. */
  readonly ended: () => void;
  readonly log: (line: string) => void;
}

/** Restarts, recreations and updates of one instance, one at a time and in order. */
class Upkeep {
  readonly #parts: UpkeepParts;
  #underWay: readonly UpkeepAction[] = [];
  #last: Promise<void> = Promise.resolve();
  #updates: readonly AvailableUpdate[] = PENDING;
  setting: UpdateSetting = { type: 'general', allowed: true };

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  get updates(): readonly AvailableUpdate[] {
    return this.#updates;
  }

  get isBusy(): boolean {
    return this.#underWay.length > 0;
  }

  isDoing(action: UpkeepAction): boolean {
    return this.#underWay.includes(action);
  }

  /** Begins an action, which ends when a new process accepts connections. */
  begin(action: UpkeepAction): void {
    this.#underWay = [...this.#underWay, action];
    this.#last = this.#last.then(() => this.#replaceProcess(action));
  }

  async #replaceProcess(action: UpkeepAction): Promise<void> {
    const { data, isGone, ended, log } = this.#parts;
    try {
      await data.stop();
      if (isGone()) throw new Error('the instance is gone');
      await data.start();
      if (action === 'update') this.#updates = [];
    } catch (error) {
      log(`${action} failed: ${String(error)}`);
    } finally {
      const at = this.#underWay.indexOf(action);
      this.#underWay = this.#underWay.toSpliced(at, 1);
      ended();
    }
  }
}

/** The updates that a new instance lacks. */
const PENDING: readonly AvailableUpdate[] = [
  { name: 'postgresql', type: 'release', version: '18.4.1' },
  { name: 'stemcell', type: 'stemcell', version: '1.785' },
];
