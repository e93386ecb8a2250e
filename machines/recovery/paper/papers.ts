import type { PaperStep } from '../../parts/paper-step.ts';
import type { RecoveryContext } from '../context.ts';
import { backUpAndVerifyPaper } from './back-up-and-verify.ts';
import { changeInstancePaper } from './change-instance.ts';
import { disasterRecoveryPaper } from './disaster-recovery.ts';
import { restoreBackupPaper } from './restore-backup.ts';
import { restorePointInTimePaper } from './restore-point-in-time.ts';

/** What is left of a run for a person without lifeboat, by the id of its runbook. */
export const recoveryPapers = {
  'restore-backup': restoreBackupPaper,
  'restore-point-in-time': restorePointInTimePaper,
  'disaster-recovery': disasterRecoveryPaper,
  'back-up-and-verify': backUpAndVerifyPaper,
  'change-instance': changeInstancePaper,
} as const satisfies Readonly<
  Record<string, (context: RecoveryContext, state: string) => readonly PaperStep[]>
>;
