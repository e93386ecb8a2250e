import type { CardOnRecord, ExpectedOrigin, RecoveryCard } from '../parts/recovery-data.ts';

/**
 * The time of the backup that a restore by this guid must report, from the record of its instance: that of
 * one `backup_id`; for the guid of the card, that of the newest backup then, or later. Undefined without a
 * record: then recoveries cannot be told apart.
 */
export function expectedOrigin(
  guid: string | undefined,
  record: Pick<CardOnRecord, 'card' | 'proven'> | undefined,
): ExpectedOrigin | undefined {
  const proven = record?.proven.find(({ backupId }) => backupId === guid && guid !== undefined);
  if (proven?.triggeredAt !== undefined) return { triggeredAt: proven.triggeredAt };
  const { backupGuid, newest } = record?.card ?? {};
  if (newest === undefined || guid === undefined) return undefined;
  const isCertain = newest.backupId === guid;
  if (!isCertain && backupGuid !== guid) return undefined;
  const { triggeredAt, startedAt, finishedAt } = newest;
  return {
    ...(triggeredAt && { triggeredAt }),
    ...(startedAt && { startedAt }),
    ...(finishedAt && { finishedAt }),
    ...(isCertain ? {} : { orNewer: true }),
  };
}

/** The lost instance by its card, and the size of the recovered data. */
export function expectedTarget<Name extends string | undefined>(
  instance: Name,
  card: Omit<RecoveryCard, 'preparedAt' | 'proven'> | undefined,
  guid: string | undefined,
) {
  return {
    source: {
      instance,
      instanceId: card?.instanceId,
      serviceId: card?.serviceId,
      planId: card?.planId,
      backupGuid: guid ?? card?.backupGuid,
    },
    needBytes: card?.newest?.size,
  };
}
