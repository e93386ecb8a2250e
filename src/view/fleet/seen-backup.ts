import type { BackupFacts } from '../../../machines/parts/task-data.ts';
import { instantOf, msOf } from '../../base/instant.ts';
import { type InstanceFacts, knownOf, type ListedBackup, type SeenStatus } from './fleet-facts.ts';

type Seen = ListedBackup & Pick<SeenStatus, 'seenAt'>;

/** See `SeenStatus`; undefined where nothing is kept, or the list is known. Pure. */
export function seenStatus({ backups, seen, record }: InstanceFacts, now: Date): SeenStatus | undefined {
  if (backups.state !== 'failed') return undefined;
  const { card, proven = [] } = knownOf(record)?.ledger ?? {};
  const all: readonly Seen[] = [
    ...(seen?.backups ?? []).map((backup) => seenBackup(backup, seen?.at ?? '')),
    ...(card?.newest === undefined ? [] : [seenBackup(card.newest, card.preparedAt)]),
    ...proven.map(({ id, backupId, triggeredAt, provenAt }) => ({
      ...{ id, backupId, triggeredAt, seenAt: provenAt },
    })),
  ];
  const [newest] = all.toSorted(
    (one, other) => timeOf(other) - timeOf(one) || msOf(other.seenAt) - msOf(one.seenAt),
  );
  if (newest === undefined) return undefined;
  const since = (at: number) => Math.max(0, (now.getTime() - at) / 1000);
  const triggeredAt = instantOf(newest.triggeredAt);
  return {
    ...newest,
    ageSeconds: triggeredAt === undefined ? undefined : since(triggeredAt),
    seenAgeSeconds: since(msOf(newest.seenAt)),
  };
}

/** The earliest of its times: a later one would make the data look younger than it is. */
function seenBackup(
  { id, backupId, size, downloadable, triggeredAt, startedAt, finishedAt }: BackupFacts,
  seenAt: string,
): Seen {
  return { id, backupId, triggeredAt: triggeredAt ?? startedAt ?? finishedAt, size, downloadable, seenAt };
}

function timeOf({ triggeredAt }: ListedBackup): number {
  return instantOf(triggeredAt) ?? 0;
}
