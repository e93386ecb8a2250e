import type { TargetIdentity } from '../../machines/parts/recovery-verbs.ts';
import type { Backup, Restore } from '../service/schemas.ts';
import type { TargetRoom } from './target-disk.ts';

/** The instance that is lost, as far as it is known without asking it. */
export interface Source {
  /** Its name in the config, where it is in it. */
  readonly instance?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly serviceId?: string | undefined;
  readonly planId?: string | undefined;
  /** The guid, or a `backup_id`, that the recovery takes: backups of the source itself begin with it (domain 1.2). */
  readonly backupGuid?: string | undefined;
}

/** Everything that was seen of the target. */
export interface SeenTarget {
  readonly name: string;
  readonly source: Source | undefined;
  /** The config gives both the same address, however it is spelt. */
  readonly isAtSource: boolean;
  readonly identity: TargetIdentity;
  readonly backups: readonly Backup[];
  readonly restores: readonly Restore[];
  readonly unseenApps: number;
  readonly room: TargetRoom;
}
