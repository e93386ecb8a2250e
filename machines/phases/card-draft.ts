import { isGuidOf, provenOnRecord } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { CardDraft } from '../parts/recovery-data.ts';

/** The card of the instance that this run restored, as it is after the restore. */
export function renewedCard(context: RunContext): CardDraft {
  const { fresh, preflight, run, target } = context;
  const { guid = '', onRecord } = context.card;
  const checked = { crossCheck: isGuidOf(guid, fresh.backup?.backupId) ? 'agrees' : 'unknown' } as const;
  const newest = fresh.backup === undefined ? {} : { newest: fresh.backup };
  if (run.target.kind === 'other') {
    const { instanceId, serviceId, planId } = target.facts?.identity ?? {};
    return { backupGuid: guid, ...defined({ instanceId, serviceId, planId }), ...checked, ...newest };
  }
  const before = onRecord?.card;
  const fingerprint = preflight.facts?.currentKey ?? before?.fingerprint;
  return {
    backupGuid: guid,
    ...identityOf(context),
    ...defined({ fingerprint, proven: before?.proven }),
    ...checked,
    ...newest,
  };
}

/** The card that `prepare` makes, with the newest backup that is proven. */
export function preparedCard(context: RunContext): CardDraft {
  const { facts } = context.preflight;
  const { guid = '', crossCheck = 'unknown' } = context.card;
  const newest = provenBackup(context);
  const proven = provenNow(context) ?? provenOnRecord(context);
  const fingerprint =
    context.proof.verification?.opens ??
    context.key.stored?.fingerprint ??
    facts?.currentKey ??
    proven?.fingerprint;
  return {
    backupGuid: guid,
    ...identityOf(context),
    ...defined({ fingerprint, proven, newest }),
    crossCheck,
  };
}

/** The backup that this run read to its last byte. */
export function provenBackup({ backup, preflight }: Pick<RunContext, 'backup' | 'preflight'>) {
  return backup.backup ?? preflight.facts?.newest;
}

function provenNow(context: RunContext): CardDraft['proven'] {
  const backup = provenBackup(context);
  const { verification } = context.proof;
  if (backup === undefined || verification === undefined) return undefined;
  const { id, backupId, triggeredAt } = backup;
  return { id, ...defined({ backupId, triggeredAt }), fingerprint: verification.opens };
}

function identityOf({ preflight: { facts }, card: { onRecord } }: RunContext) {
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
