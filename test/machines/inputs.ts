import { RUNBOOK_IDS, type RunbookId } from '../../machines/parts/touches.ts';

/** Where the instance alone does not begin all kinds of a runbook: what it is begun with. */
const KINDS: Readonly<Partial<Record<RunbookId, readonly object[]>>> = {
  'restore-backup': [{}, { backup: 3 }],
  'disaster-recovery': [
    { target: 'orders-dr', mode: 'prepare' },
    { target: 'orders-dr', mode: 'perform' },
  ],
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
  'plan-step': [
    { step: { id: 'look', kind: 'check', onFailure: 'pause', check: { tcp: '127.0.0.1:5432' } } },
    {
      step: {
        id: 'scale',
        kind: 'command',
        onFailure: 'pause',
        command: { argv: ['./scale'], kind: 'repeatable', timeout: 60_000 },
      },
    },
    {
      step: {
        id: 'switch',
        kind: 'command',
        onFailure: 'pause',
        command: { argv: ['./switch'], kind: 'once', landed: ['./switched'], timeout: 60_000 },
      },
    },
    {
      step: { id: 'dns', kind: 'manual', onFailure: 'pause', manual: { do: 'point it west', proof: 'how?' } },
    },
    {
      step: {
        id: 'go',
        kind: 'approve',
        onFailure: 'pause',
        approve: { quorum: 2, within: 60_000, notBy: 'starter', onExpiry: 'pause' },
      },
    },
    { step: { id: 'tell', kind: 'notify', onFailure: 'pause', notify: { text: 'it is done' } } },
    { step: { id: 'rest', kind: 'wait', onFailure: 'pause', wait: 60_000 } },
  ],
  'change-instance': [{ action: 'restart' }, { action: 'recreate' }, { action: 'update' }],
};

/** What each runbook is begun with, besides its instance, to test all of its kinds. */
export const INPUTS = Object.fromEntries(RUNBOOK_IDS.map((id) => [id, KINDS[id] ?? [{}]])) as Readonly<
  Record<RunbookId, readonly object[]>
>;
