import type { AnyActivity } from './activity.ts';
import { createBackup } from './create-backup.ts';
import type { ActivityDeps } from './deps.ts';
import { downloadBackup } from './download-backup.ts';
import { negativeTest } from './negative-test.ts';
import { preflight } from './preflight.ts';
import { readBackKey } from './read-back-key.ts';
import { recheck } from './recheck.ts';
import { recordRotation } from './record-rotation.ts';
import { setKey } from './set-key.ts';
import { storeKey } from './store-key.ts';
import { verifyBackup } from './verify-backup.ts';
import { waitForBackup } from './wait-for-backup.ts';

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
  };
}
