import type { BackupFacts } from '../../../machines/parts/task-data.ts';
import { instantOf, msOf } from '../../base/instant.ts';
import { type InstanceFacts, knownOf } from './fleet-facts.ts';
import type { InstanceStatus, ListedBackup, SeenStatus } from './status-schema.ts';

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

/** The backups that it listed last, where that was kept. */
export function seenBackups(seen: InstanceFacts['seen']): readonly ListedBackup[] | undefined {
  return seen?.backups.map((backup) => seenBackup(backup, seen.at));
}

/** Failures that say that the instance, or the region that it is in, does not answer. */
const AWAY: ReadonlySet<string> = new Set([
  'service.unreachable',
  'service.timeout',
  'service.reset',
  'service.error',
  'answer.late',
]);

const NOT_FOUND = 'service.not-found';

/**
 * Why it is not there: it answers neither what it is nor which backups it has, or its address answers that
 * there is no such instance. Neither where it does.
 */
export function absenceOf({
  overview,
  backups,
  seen,
}: InstanceFacts): Pick<InstanceStatus, 'down' | 'notFound'> {
  const there = { down: undefined, notFound: undefined };
  if (backups.state !== 'failed' || overview.state === 'known') return there;
  const codes = [backups.code, ...(overview.state === 'failed' ? [overview.code] : [])];
  const absence = { why: backups.why, seenAt: seen?.at };
  if (codes.every((code) => code === NOT_FOUND)) return { ...there, notFound: absence };
  return codes.every((code) => AWAY.has(code) || code === NOT_FOUND) ? { ...there, down: absence } : there;
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
