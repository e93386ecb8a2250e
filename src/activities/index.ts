import type { Activities } from './activity.ts';
import { bindApp } from './bind-app.ts';
import { bySide } from './by-side.ts';
import { changeBackupSettings } from './change-backup-settings.ts';
import { changeUpdateSetting } from './change-update-setting.ts';
import { createBackup } from './create-backup.ts';
import type { ActivityDeps } from './deps.ts';
import { downloadBackup } from './download-backup.ts';
import { findBound } from './find-bound.ts';
import { inspectTarget } from './inspect-target.ts';
import { listBackups } from './list-backups.ts';
import { lookingAgain } from './looking-again.ts';
import { negativeTest } from './negative-test.ts';
import { performRecovery } from './perform-recovery.ts';
import { pitrRange } from './pitr-range.ts';
import { preflight } from './preflight.ts';
import { prepareRecovery } from './prepare-recovery.ts';
import { proveApp } from './prove-app.ts';
import { readBackKey } from './read-back-key.ts';
import { readCard } from './read-card.ts';
import { recheck } from './recheck.ts';
import { reconcile } from './reconcile.ts';
import { recordCard } from './record-card.ts';
import { recordProof } from './record-proof.ts';
import { recordRecovery } from './record-recovery.ts';
import { recordRotation } from './record-rotation.ts';
import { recreate } from './recreate.ts';
import { renewServiceKey } from './renew-service-key.ts';
import { restageApp } from './restage-app.ts';
import { restart } from './restart.ts';
import { restoreBackup } from './restore-backup.ts';
import { restoreToTime } from './restore-to-time.ts';
import { setKey } from './set-key.ts';
import { storeKey } from './store-key.ts';
import { unbindApp } from './unbind-app.ts';
import { update } from './update.ts';
import { updatesChangeable } from './updates-changeable.ts';
import { verifyBackup } from './verify-backup.ts';
import { waitForBackup } from './wait-for-backup.ts';
import { waitForInstance } from './wait-for-instance.ts';
import { waitForRestore } from './wait-for-restore.ts';

/** The instances that a run acts on. */
export interface RunInstances {
  readonly instance: ActivityDeps;
  /** What a recovery goes into. */
  readonly target?: ActivityDeps | undefined;
}

/**
 * Performs every verb, by its name. An input with `on: 'target'` is performed on the target: it sees that
 * instance's name, and what it writes goes to that ledger.
 */
export function activitiesFor(instances: RunInstances): Activities {
  const { instance, target } = instances;
  const here = verbsOn(instance, instances);
  return target === undefined ? here : bySide(here, verbsOn(target, instances), target.name);
}

function verbsOn(deps: ActivityDeps, { instance, target }: RunInstances) {
  return {
    preflight: preflight(deps),
    recheck: recheck(deps),
    downloadBackup: downloadBackup(deps),
    verifyBackup: verifyBackup(deps),
    storeKey: storeKey(deps),
    readBackKey: readBackKey(deps),
    setKey: setKey(deps),
    createBackup: lookingAgain(createBackup(deps)),
    waitForBackup: waitForBackup(deps),
    negativeTest: negativeTest(deps),
    recordRotation: recordRotation(deps),
    restoreBackup: lookingAgain(restoreBackup(deps)),
    waitForRestore: waitForRestore(deps),
    prepareRecovery: prepareRecovery(deps),
    performRecovery: lookingAgain(performRecovery(deps)),
    restoreToTime: lookingAgain(restoreToTime(deps)),
    restart: lookingAgain(restart(deps)),
    recreate: lookingAgain(recreate(deps)),
    update: lookingAgain(update(deps)),
    waitForInstance: waitForInstance(deps),
    changeBackupSettings: changeBackupSettings(deps),
    changeUpdateSetting: changeUpdateSetting(deps),
    // Whoever is bound to the one may have to be bound to the other, so it looks at both whichever it is
    // asked on.
    findBound: findBound(instance, target),
    unbindApp: unbindApp(deps),
    bindApp: bindApp(deps),
    restageApp: restageApp(deps),
    renewServiceKey: renewServiceKey(deps),
    proveApp: proveApp(deps),
    inspectTarget: inspectTarget(deps, instance),
    listBackups: listBackups(deps),
    pitrRange: pitrRange(deps),
    readCard: readCard(deps),
    reconcile: reconcile(deps),
    recordCard: recordCard(deps),
    recordProof: recordProof(deps),
    recordRecovery: recordRecovery(deps),
    updatesChangeable: updatesChangeable(deps),
  } satisfies Activities;
}
