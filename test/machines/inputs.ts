import type { RunbookId } from '../../machines/parts/touches.ts';

/** What each runbook is begun with, besides its instance, to test all of its kinds. */
export const INPUTS: Readonly<Record<RunbookId, readonly object[]>> = {
  'rotate-key': [{}],
  'restore-backup': [{}, { backup: 3 }],
  'restore-point-in-time': [{}],
  'disaster-recovery': [
    { target: 'orders-dr', mode: 'prepare' },
    { target: 'orders-dr', mode: 'perform' },
  ],
  'back-up-and-verify': [{}],
  'single-change': [
    { single: { change: 'createBackup', wait: true, setsKey: false } },
    { single: { change: 'createBackup', wait: false, setsKey: false } },
    { single: { change: 'restoreBackup', wait: true, setsKey: false }, backup: 3 },
    { single: { change: 'restoreBackup', wait: false, setsKey: false, noFollowUps: 'by script' }, backup: 3 },
    { single: { change: 'restoreToTime', wait: true, setsKey: false } },
    {
      single: {
        change: 'performRecovery',
        wait: true,
        setsKey: false,
        guid: '6f3a2b1c-0d9e-4a5b-8c7d-1e2f3a4b5c6d',
        fingerprint: '6f3a2b1c0d9e',
        source: 'billing',
      },
    },
    { single: { change: 'restart', wait: true, setsKey: false } },
    { single: { change: 'recreate', wait: false, setsKey: false } },
    { single: { change: 'update', wait: true, setsKey: false } },
    { single: { change: 'setKey', wait: false, setsKey: true, settings: { retentionDays: 30 } } },
    {
      single: {
        change: 'changeBackupSettings',
        wait: false,
        setsKey: false,
        settings: { retentionDays: 30 },
      },
    },
    {
      single: {
        change: 'changeUpdateSetting',
        wait: false,
        setsKey: false,
        setting: { type: 'general', allowed: false },
      },
    },
    { single: { change: 'prepareRecovery', wait: false, setsKey: false } },
    { single: { change: 'prepareRecovery', wait: false, setsKey: true } },
  ],
  'change-instance': [{ action: 'restart' }, { action: 'recreate' }, { action: 'update' }],
};
