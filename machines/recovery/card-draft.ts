import type { CardDraft } from '../parts/recovery-verbs.ts';
import type { RecoveryContext } from './context.ts';
import { isGuidOf, provenOnRecord, restoredSide } from './weigh.ts';

/** The card of the instance that this run restored, as it is after the restore. */
export function renewedCard(context: RecoveryContext): CardDraft {
  const { facts, onRecord, targetFacts, fresh, guid = '' } = context;
  const checked = { crossCheck: isGuidOf(guid, fresh.backup?.backupId) ? 'agrees' : 'unknown' } as const;
  const newest = fresh.backup === undefined ? {} : { newest: fresh.backup };
  if (restoredSide(context) === 'target') {
    const { instanceId, serviceId, planId } = targetFacts?.identity ?? {};
    return { backupGuid: guid, ...defined({ instanceId, serviceId, planId }), ...checked, ...newest };
  }
  const before = onRecord?.card;
  const fingerprint = facts?.currentKey ?? before?.fingerprint;
  return {
    backupGuid: guid,
    ...identityOf(context),
    ...defined({ fingerprint, proven: before?.proven }),
    ...checked,
    ...newest,
  };
}

/** The card that `prepare` makes, with the newest backup that is proven. */
export function preparedCard(context: RecoveryContext): CardDraft {
  const { facts, guid = '', verification, key, proof } = context;
  const newest = proof.backup ?? facts?.newest;
  const proven = provenNow(context) ?? provenOnRecord(context);
  const fingerprint = verification?.opens ?? key?.fingerprint ?? facts?.currentKey ?? proven?.fingerprint;
  return {
    backupGuid: guid,
    ...identityOf(context),
    ...defined({ fingerprint, proven, newest }),
    crossCheck: context.crossCheck ?? 'unknown',
  };
}

/** The backup that this run read to its last byte. */
export function provenBackup({ proof, facts }: RecoveryContext) {
  return proof.backup ?? facts?.newest;
}

function provenNow(context: RecoveryContext): CardDraft['proven'] {
  const backup = provenBackup(context);
  const { verification } = context;
  if (backup === undefined || verification === undefined) return undefined;
  const { id, backupId, triggeredAt } = backup;
  return { id, ...defined({ backupId, triggeredAt }), fingerprint: verification.opens };
}

function identityOf({ facts, onRecord }: RecoveryContext) {
  const { id, offering, plan } = facts?.service ?? {};
  const { instanceId, serviceId, planId } = onRecord?.card ?? {};
  return defined({
    instanceId: id ?? instanceId,
    serviceId: offering ?? serviceId,
    planId: plan ?? planId,
  });
}

/** Nothing is invented for a field that is missing. */
function defined<Fields extends Readonly<Record<string, unknown>>>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Field in keyof Fields]?: Exclude<Fields[Field], undefined>;
  };
}
