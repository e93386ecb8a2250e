import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import type { LabClock } from './clock.ts';
import type { InstanceData, TakenBackup } from './data/instance-data.ts';
import type { Host } from './host.ts';
import { type KeyRing, LabInstance, newKey } from './instance.ts';
import { PLAN_ID, SERVICE_ID } from './landscape.ts';
import type { LabBackup } from './manager/instance-backups.ts';
import type { BackupStore } from './manager/store.ts';
import type { TaskQueue } from './manager/task-queue.ts';
import type { InstanceMetrics } from './metrics.ts';
import { openSampleData } from './sample-data.ts';

export interface InstanceWish {
  /** Letters, digits, dots and dashes; different from all others. */
  readonly name: string;
  /** `standard` by default: no log is archived, and there is no point-in-time recovery. */
  readonly backupType?: BackupType;
  /** With the sample data, and applications that keep placing orders. */
  readonly sampleApp?: boolean;
  /** With a user's key in a file, and, if it is a source, a first backup under it. */
  readonly key?: boolean;
  /** By default a source where it has a sample application or a key. */
  readonly role?: 'source' | 'target';
  /** GUIDs; those of the lab's one service and plan by default. */
  readonly serviceId?: string;
  readonly planId?: string;
  /** For the config: the words by which plans select it, and the instance that it is recovered into. */
  readonly tags?: readonly string[];
  readonly target?: string;
}

/** A source has data to lose; a target has none. */
export function roleOf({ sampleApp, key, role }: InstanceWish): 'source' | 'target' {
  return role ?? (sampleApp === true || key === true ? 'source' : 'target');
}

export const DEFAULT_INSTANCES: readonly InstanceWish[] = [
  { name: 'orders', backupType: 'continuous_archiving', sampleApp: true, key: true },
  { name: 'orders-dr' },
];

/** A running instance with its sample data and first backup, and where its key is. */
interface MadeInstance {
  readonly instance: LabInstance;
  readonly wish: InstanceWish;
  readonly keyFile: string | undefined;
}

interface UserKey {
  readonly key: Secret;
  readonly file: string;
}

interface InstanceTools {
  readonly host: Host;
  readonly queue: TaskQueue;
  readonly clock: LabClock;
  /** Archived log goes here. */
  readonly folder: string;
  readonly userKey: (name: string) => Promise<UserKey>;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Makes all instances, as many at a time as there are processors: initialising data folders takes most of the
 * time. Rejects with `lab.instance` for invalid names, `lab.postgres`, or `lab.backup`.
 */
export async function makeInstances(
  wishes: readonly InstanceWish[],
  tools: InstanceTools,
): Promise<readonly MadeInstance[]> {
  checkNames(wishes);
  const made: MadeInstance[] = [];
  let next = 0;
  const work = async () => {
    while (next < wishes.length) {
      const at = next;
      next += 1;
      const wish = wishes[at];
      if (wish === undefined) return;
      tools.signal.throwIfAborted();
      made[at] = await makeInstance(wish, at + 1, tools);
    }
  };
  const workers = Array.from({ length: Math.max(2, availableParallelism()) }, work);
  const ends = await Promise.allSettled(workers);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return made;
}

async function makeInstance(wish: InstanceWish, id: number, tools: InstanceTools): Promise<MadeInstance> {
  const { host, queue, clock, folder, log } = tools;
  const { name, serviceId = SERVICE_ID, planId = PLAN_ID } = wish;
  const own = wish.key === true ? await tools.userKey(name) : undefined;
  const keys: KeyRing = { generated: newKey(), user: own?.key };
  const archive = { folder: join(folder, 'archive', name), key: () => keys.user ?? keys.generated };
  const archiving = wish.backupType === 'continuous_archiving';
  const data = await host.createData(name, archiving ? archive : undefined);
  const facts: InstanceFacts = { id, name, serviceId, planId, role: roleOf(wish) };
  const { store } = host;
  const metrics = host.metricsOf(data);
  const instance = new LabInstance(facts, { data, metrics, queue, store, clock, keys, log });
  if (wish.sampleApp === true) await openSampleData(data.query);
  if (own === undefined || facts.role === 'target') return { instance, wish, keyFile: own?.file };
  const first = instance.triggerBackup();
  await first.ended;
  if (first.backup.task.status !== 'done') {
    throw new LifeboatError('lab.backup', `the first backup of ${name} failed`, {
      hints: ['the line before says why; check free space: df -h'],
    });
  }
  return { instance, wish, keyFile: own.file };
}

export async function ownKey(folder: string, name: string): Promise<UserKey> {
  const [key, file] = [newKey(), join(folder, `${name}.key`)];
  await writeFile(file, key.reveal(), { mode: 0o600 });
  return { key, file };
}

function checkNames(wishes: readonly InstanceWish[]): void {
  const seen = new Set<string>();
  const wrong = wishes
    .map(({ name }) => name)
    .find((name) => !/^[a-z0-9][a-z0-9.-]{0,39}$/.test(name) || seen.size === seen.add(name).size);
  if (wrong === undefined && wishes.length > 0) return;
  const why =
    wrong === undefined ? 'a lab needs an instance' : `the instance name ${show(wrong)} does not work`;
  throw new LifeboatError('lab.instance', why, {
    hints: [
      'names have lower-case letters, digits, dots and dashes, at most 40 characters, and no two are the same',
    ],
    exitCode: EXIT.usage,
  });
}

export interface InstanceParts {
  readonly data: InstanceData<TakenBackup>;
  readonly metrics: InstanceMetrics;
  readonly queue: TaskQueue;
  readonly store: BackupStore;
  readonly clock: LabClock;
  /** Key under which the log is archived and backups are made until the user sets one. */
  readonly keys: KeyRing;
  readonly log: (line: string) => void;
}

export interface InstanceFacts {
  /** Internal id, lab-wide, from 1. */
  readonly id: number;
  readonly name: string;
  readonly serviceId: string;
  readonly planId: string;
  readonly role: 'source' | 'target';
}

export interface BackupSettings {
  readonly min_backup_count: number;
  /** Days. */
  readonly retention_time: number;
  readonly exclude_from_auto_backup: boolean;
}

export type BackupType = 'standard' | 'continuous_archiving';

/** A backup and where it is stored, of this or another instance. */
export interface Found {
  readonly owner: LabInstance;
  readonly backup: LabBackup | undefined;
}
