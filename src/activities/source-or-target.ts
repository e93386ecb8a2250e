import type { LostInstance, TargetIdentity } from '../../machines/parts/recovery-data.ts';
import { LifeboatError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
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

/**
 * Whether the target is the source itself. The same name or address in the config says so, and backups whose
 * ids begin with the source's guid (domain 1.2). The same id within the same service need not: instances of
 * another region count from 1 as well. It counts when nothing contradicts it, which the source with its
 * backups would not; else it is a warning.
 */
export function sourceOrTarget({ name, source, isAtSource, identity, backups }: SeenTarget): {
  readonly blockers: readonly Failure[];
  readonly warnings: readonly string[];
} {
  if (source === undefined) return { blockers: [], warnings: [] };
  if (source.instance === name) return found(name, 'it has the same name');
  if (isAtSource) return found(name, `the config gives it the address of ${source.instance}`);
  const guid = source.backupGuid?.replace(/-\d{10,}$/u, '').toLowerCase();
  const ids = backups.flatMap(({ backup_id }) => (backup_id === undefined ? [] : [backup_id.toLowerCase()]));
  if (guid !== undefined && ids.some((id) => id === guid || id.startsWith(`${guid}-`)))
    return found(name, 'its backups are those of the source');
  const isTwin =
    source.instanceId !== undefined &&
    source.instanceId === identity.instanceId &&
    (source.serviceId === undefined || source.serviceId === identity.serviceId);
  if (!isTwin) return { blockers: [], warnings: [] };
  const isContradicted = backups.length === 0 || (guid !== undefined && ids.length > 0);
  if (!isContradicted) return found(name, 'it has the same id');
  return {
    blockers: [],
    warnings: [
      `target ${name} has the same id as the source: right in another region, a mistake if both addresses lead to one instance`,
    ],
  };
}

function found(name: string, why: string) {
  const failure = new LifeboatError('target.is-source', `target ${name} is the source itself: ${why}`, {
    hints: ['choose another instance; to restore an instance in place there is restore-backup'],
    evidence: { why },
  });
  return { blockers: [failure.toFailure()], warnings: [] };
}
