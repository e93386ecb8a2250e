import type { LostInstance, TargetIdentity } from '../../machines/parts/recovery-data.ts';
import type { Backup, Restore } from '../service/schemas.ts';
import type { TargetRoom } from './target-disk.ts';

/** Everything that was seen of the target. */
export interface SeenTarget {
  readonly name: string;
  readonly source: LostInstance | undefined;
  /** The config gives both the same address, however it is spelt. */
  readonly isAtSource: boolean;
  readonly identity: TargetIdentity;
  readonly backups: readonly Backup[];
  readonly restores: readonly Restore[];
  readonly unseenApps: number;
  readonly room: TargetRoom;
}
