import { fromPromise } from 'xstate';
import type * as found from '../parts/recovery-verbs.ts';
import type * as verbs from '../parts/verbs.ts';

/** A verb's signature; the runner performs it. A machine that is run by anything else fails loudly. */
function verb<Output, Input>() {
  return fromPromise<Output, Input>(() => {
    throw new Error('verbs are performed by the runner');
  });
}

/** Every input may say that the verb acts on the run's target. */
interface On {
  readonly on?: found.Side;
}

interface Once extends On {
  readonly intent: string;
}

/** The verbs that the recoveries invoke, with what they take and give. */
export const recoveryVerbs = {
  preflight: verb<verbs.PreflightFacts, { instance: string; tolerant?: true; restores?: true }>(),
  recheck: verb<verbs.Ground, { instance: string }>(),
  listBackups: verb<found.RestorableBackups, Record<string, never>>(),
  pitrRange: verb<found.ReachableRange, Record<string, never>>(),
  reconcile: verb<found.Reconciliation, On & { when: 'before' | 'after' }>(),
  readCard: verb<found.CardOnRecord, Record<string, never>>(),
  inspectTarget: verb<
    found.TargetFacts,
    {
      on: 'target';
      source?: {
        instance: string;
        instanceId?: string | undefined;
        serviceId?: string | undefined;
        planId?: string | undefined;
        backupGuid?: string | undefined;
      };
      needBytes?: number | undefined;
      apps?: string[] | undefined;
    }
  >(),
  recordCard: verb<{ recorded: true }, On & { card: found.CardDraft }>(),
  prepareRecovery: verb<
    verbs.RecoveryPreparation,
    On & { fingerprint?: string | undefined; previous?: string | undefined }
  >(),
  findDuties: verb<
    found.Duties,
    On & {
      restored: 'instance' | 'target';
      only?: string[] | undefined;
      remember?: found.Duties | undefined;
    }
  >(),
  unbindApp: verb<found.PlatformProof, { app: found.BoundApp }>(),
  bindApp: verb<
    found.PlatformProof,
    { app: found.BoundApp; to: found.PlatformInstance; notBefore: string; beside: boolean }
  >(),
  restageApp: verb<found.PlatformProof, { app: found.BoundApp; notBefore: string }>(),
  renewServiceKey: verb<
    found.PlatformProof,
    { key: found.ServiceKey; to: found.PlatformInstance; notBefore: string }
  >(),
  proveApp: verb<
    found.PlatformProof,
    { app: found.BoundApp; to: found.PlatformInstance; notBefore: string }
  >(),
  createBackup: verb<verbs.Triggered, Once>(),
  waitForBackup: verb<verbs.BackupFacts, On & { id: number }>(),
  downloadBackup: verb<
    verbs.DownloadedFile,
    On & { id: number; size?: number | undefined; purpose: 'prove' | 'archive' }
  >(),
  verifyBackup: verb<
    verbs.Verification,
    On & { path: string; backup: number; expected?: string | undefined; discard?: boolean }
  >(),
  negativeTest: verb<verbs.NegativeTest, { path: string; except: string }>(),
  restoreBackup: verb<verbs.Triggered, Once & { backup: number }>(),
  performRecovery: verb<
    verbs.Triggered,
    Once & {
      backupGuid: string;
      fingerprint: string;
      source: string;
      /** What the restore shows as its origin, when that is known: another time is not ours. */
      expectFrom?:
        | {
            triggeredAt?: string | undefined;
            startedAt?: string | undefined;
            finishedAt?: string | undefined;
            orNewer?: boolean | undefined;
          }
        | undefined;
    }
  >(),
  restoreToTime: verb<verbs.Triggered, Once & { targetTime: string }>(),
  waitForRestore: verb<verbs.RestoreFacts, On & { id: number }>(),
  waitForInstance: verb<
    verbs.InstanceReady,
    On & {
      /** What was asked for, and how the instance was before; without an action its first steady state counts. */
      action?: 'restart' | 'recreate' | 'update' | undefined;
      updatedAt?: string | undefined;
      updates?: string[] | undefined;
    }
  >(),
  restart: verb<verbs.Started, Once>(),
  recreate: verb<verbs.Started, Once>(),
  update: verb<verbs.Started, Once>(),
  changeUpdateSetting: verb<verbs.UpdateSetting, { setting: verbs.UpdateSetting }>(),
  updatesChangeable: verb<{ changeable: boolean; why?: string | undefined }, Record<string, never>>(),
  storeKey: verb<
    verbs.StoredKey,
    {
      origin: 'generated' | 'given';
      given?: { fingerprint: string; length: number } | undefined;
      minLength: number;
    }
  >(),
  readBackKey: verb<verbs.StoredKey, { key: verbs.StoredKey }>(),
  recordProof: verb<
    { recorded: true },
    {
      backup: verbs.BackupFacts;
      verification: verbs.Verification;
      negative?: verbs.NegativeTest | undefined;
    }
  >(),
  recordRecovery: verb<{ recorded: true }, On & { record: found.RecoveryRecord }>(),
};
