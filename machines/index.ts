import type { AnyStateMachine } from 'xstate';
import { backUpAndVerifyMachine } from './back-up-and-verify.ts';
import { changeInstanceMachine } from './change-instance.ts';
import { disasterRecoveryMachine } from './disaster-recovery.ts';
import type { Runbook } from './parts/runbook.ts';
import { recoveryPapers } from './recovery/paper/papers.ts';
import * as told from './recovery/registry.ts';
import { restoreBackupMachine } from './restore-backup.ts';
import { restorePointInTimeMachine } from './restore-point-in-time.ts';
import { type RotateKeyContext, RotateKeyInput } from './rotate-key/context.ts';
import { rotateKeyPaper } from './rotate-key/paper.ts';
import { closingOf, factsOf } from './rotate-key/story.ts';
import { rotateKeyMachine } from './rotate-key.ts';

const rotateKey: Runbook<RotateKeyContext, RotateKeyInput> = {
  id: 'rotate-key',
  title: 'rotate the encryption key and verify a backup',
  version: rotateKeyMachine.version ?? '',
  machine: rotateKeyMachine,
  input: RotateKeyInput,
  steps: [
    { id: 'preflight', title: 'look at the instance' },
    { id: 'old-backup', title: 'prove the old backup' },
    { id: 'key', title: 'choose the new key' },
    { id: 'store', title: 'store it, read it back' },
    { id: 'confirm', title: 'confirm by name' },
    { id: 'change', title: 'change the key' },
    { id: 'backup', title: 'create a backup' },
    { id: 'download', title: 'download it' },
    { id: 'verify', title: 'verify with the new key' },
    { id: 'negative', title: 'the old key must fail' },
    { id: 'record', title: 'record the proof' },
  ],
  mainPath: [
    'checking',
    'offeringOldProof',
    'fetchingOld',
    'verifyingOld',
    'choosingKey',
    'storing',
    'readingBack',
    'confirming',
    'rechecking',
    'settingKey',
    'creatingBackup',
    'waitingForBackup',
    'downloading',
    'verifying',
    'testingOldKeys',
    'recording',
    'done',
  ],
  facts: factsOf,
  failure: (context) => context.failure,
  skipped: (context) => context.skipped,
  keys: ({ key, verification }) =>
    key === undefined || verification?.opens === key.fingerprint ? [] : [key.fingerprint],
  paper: rotateKeyPaper,
  closing: closingOf,
};

/** Every runbook that this version knows, by its id. */
export const runbooks: Readonly<Record<string, Runbook>> = {
  'rotate-key': rotateKey as Runbook,
  'disaster-recovery': of(told.disasterRecovery, disasterRecoveryMachine),
  'restore-point-in-time': of(told.restorePointInTime, restorePointInTimeMachine),
  'restore-backup': of(told.restoreBackup, restoreBackupMachine),
  'back-up-and-verify': of(told.backUpAndVerify, backUpAndVerifyMachine),
  'change-instance': of(told.changeInstance, changeInstanceMachine),
};

function of<Input>(runbook: told.RecoveryRunbook<Input>, machine: AnyStateMachine): Runbook {
  const paper = recoveryPapers[runbook.id as keyof typeof recoveryPapers];
  return { ...runbook, version: machine.version ?? '', machine, paper } as Runbook;
}
