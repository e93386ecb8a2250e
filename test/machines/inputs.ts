import type { RunbookId } from '../../machines/parts/touches.ts';

/** What each runbook is begun with, besides its instance, for whoever goes through all of its kinds. */
export const INPUTS: Readonly<Record<RunbookId, readonly object[]>> = {
  'rotate-key': [{}],
  'restore-backup': [{}, { backup: 3 }],
  'restore-point-in-time': [{}],
  'disaster-recovery': [
    { target: 'orders-dr', mode: 'prepare' },
    { target: 'orders-dr', mode: 'perform' },
  ],
  'back-up-and-verify': [{}],
  'change-instance': [{ action: 'restart' }, { action: 'recreate' }, { action: 'update' }],
};
