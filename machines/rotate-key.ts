import { stakesOfKey } from './closing/stakes.ts';
import { backupFallback } from './fallback/backing-up.ts';
import { lazyMachine } from './lazy-machine.ts';
import { backup } from './phases/backup.ts';
import { changeKey } from './phases/change-key.ts';
import { confirm } from './phases/confirm.ts';
import { when } from './phases/guards.ts';
import { escrow, keepsEscrow, newKey } from './phases/key.ts';
import { oldBackup } from './phases/old-backup.ts';
import { ending, only, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { negative, proveNewKey } from './phases/prove.ts';
import { recordRotation } from './phases/record.ts';

/**
 * Its order is its safety: a key is stored and read back before it is sent, a lost answer keeps both keys,
 * and only a backup that was opened to its last byte makes the rotation proven.
 */
export const rotateKeyMachine = lazyMachine({
  id: 'rotate-key',
  version: '2',
  initial: 'preflight',
  states: phases({
    preflight: preflight({
      tolerant: false,
      restores: true,
      needsAll: true,
      exits: { done: 'oldBackup', stop: 'stopped' },
    }),
    oldBackup: oldBackup({ exits: { done: 'key', stop: 'stopped' } }),
    key: newKey({
      exits: {
        done: [{ guard: when('keys go into escrow', keepsEscrow), target: 'escrow' }, { target: 'confirm' }],
        stop: 'stopped',
      },
    }),
    ...only(keepsEscrow, { escrow: escrow({ exits: { done: 'confirm', stop: 'stopped' } }) }),
    confirm: confirm({
      order: ({ key, run }) => `set key ${key.stored?.fingerprint} on ${run.instance}`,
      stakes: stakesOfKey,
      exits: { done: 'change', stop: 'stopped' },
    }),
    change: changeKey({
      exits: {
        done: 'backup',
        again: 'confirm:again',
        name: 'confirm',
        another: 'backup:another',
        stop: 'stopped',
      },
    }),
    backup: backup({
      title: 'create a backup',
      task: 'backup',
      what: 'the instance',
      fallback: backupFallback(() => 'ask for a backup under the new key'),
      exits: { done: 'prove', stop: 'stopped' },
    }),
    prove: proveNewKey({
      without: 'the new key stays unproven',
      exits: { done: 'negative', unproven: 'unproven', notInForce: 'change:notInForce', stop: 'stopped' },
    }),
    negative: negative({ keys: 'old', exits: { done: 'record', stop: 'stopped' } }),
    record: recordRotation({
      byHand:
        'Keep the old key as long as a backup made with it is kept. Write down: when the key was changed, the id of the new backup, its SHA-256, that the new key opened it, and in which two places the new key is kept.',
      exits: { done: 'done', stop: 'stopped' },
    }),
    done: ending('rotated and proven'),
    unproven: ending('closed without proof'),
    stopped: ending('stopped'),
  }),
});
