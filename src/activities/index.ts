import type { AnyActivity } from './activity.ts';
import { changeBackupSettings } from './change-backup-settings.ts';
import { changeUpdateSetting } from './change-update-setting.ts';
import { createBackup } from './create-backup.ts';
import type { ActivityDeps } from './deps.ts';
import { downloadBackup } from './download-backup.ts';
import { negativeTest } from './negative-test.ts';
import { performRecovery } from './perform-recovery.ts';
import { preflight } from './preflight.ts';
import { prepareRecovery } from './prepare-recovery.ts';
import { readBackKey } from './read-back-key.ts';
import { recheck } from './recheck.ts';
import { recordRotation } from './record-rotation.ts';
import { recreate } from './recreate.ts';
import { restart } from './restart.ts';
import { restoreBackup } from './restore-backup.ts';
import { restoreToTime } from './restore-to-time.ts';
import { setKey } from './set-key.ts';
import { storeKey } from './store-key.ts';
import { update } from './update.ts';
import { verifyBackup } from './verify-backup.ts';
import { waitForBackup } from './wait-for-backup.ts';
import { waitForInstance } from './wait-for-instance.ts';
import { waitForRestore } from './wait-for-restore.ts';

/** Every verb that the machines may invoke, by its name there. */
export function activitiesFor(deps: ActivityDeps): Readonly<Record<string, AnyActivity>> {
  return {
    preflight: preflight(deps),
    recheck: recheck(deps),
    downloadBackup: downloadBackup(deps),
    verifyBackup: verifyBackup(deps),
    storeKey: storeKey(deps),
    readBackKey: readBackKey(deps),
    setKey: setKey(deps),
    createBackup: createBackup(deps),
    waitForBackup: waitForBackup(deps),
    negativeTest: negativeTest(deps),
    recordRotation: recordRotation(deps),
    restoreBackup: restoreBackup(deps),
    waitForRestore: waitForRestore(deps),
    prepareRecovery: prepareRecovery(deps),
    performRecovery: performRecovery(deps),
    restoreToTime: restoreToTime(deps),
    restart: restart(deps),
    recreate: recreate(deps),
    update: update(deps),
    waitForInstance: waitForInstance(deps),
    changeBackupSettings: changeBackupSettings(deps),
    changeUpdateSetting: changeUpdateSetting(deps),
  };
}
