import { type PaperPart, paperFrom } from '../../parts/paper-plan.ts';
import type { PaperStep } from '../../parts/paper-step.ts';
import type { RecoveryContext } from '../context.ts';
import {
  type BackupOnPaper,
  backupStates,
  backupSteps,
  backupValue,
  lookPart,
  openStep,
  recordPart,
} from './backing-up.ts';
import { fingerprinted, landedIn } from './known.ts';

/** The rest of a backup and its proof for a person without lifeboat. */
export function backUpAndVerifyPaper(context: RecoveryContext, state: string): readonly PaperStep[] {
  return paperFrom(PLAN, ['done', 'unproven', 'stopped'], context, state);
}

const [PROOF, BACKUP] = [backupStates('Proof'), backupStates('Backup')];
const ASKING = [...PROOF.asking, ...BACKUP.asking];

const PLAN: readonly PaperPart<RecoveryContext>[] = [
  lookPart(
    ['checking', 'checkFailed', 'sorting', 'blocked', 'readingRecord', 'readingRecordFailed'],
    'instance',
    ({ instance }) => instance,
  ),
  {
    states: [...ASKING, ...PROOF.waiting, ...BACKUP.waiting],
    steps: (context, at, state) => backupSteps(proof(context, state), at ?? 'takingBackup'),
  },
  {
    states: ['downloading', 'downloadFailed', 'verifying', 'verifyFailed', 'weighingKey'],
    steps: (context, at, state) => [
      openStep({
        state: at ?? 'downloading',
        on: 'instance',
        id: backupValue(proof(context, state)),
        key: 'KEY',
        which: `the key of ${context.instance}${fingerprinted(context.facts?.currentKey)}`,
        file: at === undefined ? undefined : context.file?.path,
      }),
    ],
  },
  recordPart(
    [
      'testingOldKeys',
      'testingOtherKeys',
      'negativeFailed',
      'weighingNegative',
      'recordingProof',
      'recordProofFailed',
      'recordFailed',
    ],
    'Write down: the id of the backup, its SHA-256, and which key opened it, when.',
  ),
];

function proof(context: RecoveryContext, state: string): BackupOnPaper {
  return {
    title: `back up ${context.instance}`,
    on: 'instance',
    variable: 'PROOF_BACKUP',
    landed: landedIn(context.proof, ASKING, state),
    before: context.facts?.ground.newestBackup,
  };
}
