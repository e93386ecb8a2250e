import { closingOfRotation, rotationFacts } from '../../machines/closing/rotation.ts';
import { stakesOfKey } from '../../machines/closing/stakes.ts';
import { backupFallback } from '../../machines/fallback/backing-up.ts';
import { defineRunbook } from '../../machines/index.ts';
import { RotateKeyInput } from '../../machines/inputs.ts';
import { lazyMachine } from '../../machines/lazy-machine.ts';
import { backup } from '../../machines/phases/backup.ts';
import { changeKey } from '../../machines/phases/change-key.ts';
import { confirm } from '../../machines/phases/confirm.ts';
import { newKey } from '../../machines/phases/key.ts';
import { ending, phases } from '../../machines/phases/phase.ts';
import { preflight } from '../../machines/phases/preflight.ts';
import { proveNewKey } from '../../machines/phases/prove.ts';
import { recordRotation } from '../../machines/phases/record.ts';

/**
 * A rotation as an older version might have had it: nothing is proven before it, and no old key is tried
 * after it.
 */
export const rotateKey1 = defineRunbook(
  lazyMachine({
    id: 'rotate-key',
    version: '1',
    initial: 'preflight',
    states: phases({
      preflight: preflight({ tolerant: false, restores: true, exits: { done: 'key', stop: 'stopped' } }),
      key: newKey({ exits: { done: 'confirm', stop: 'stopped' } }),
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
        exits: { done: 'record', unproven: 'unproven', notInForce: 'change:notInForce', stop: 'stopped' },
      }),
      record: recordRotation({
        byHand: 'Write down which backup the new key opened.',
        exits: { done: 'done', stop: 'stopped' },
      }),
      done: ending('rotated and proven'),
      unproven: ending('closed without proof'),
      stopped: ending('stopped'),
    }),
  }),
  {
    title: 'rotate the encryption key and verify a backup',
    input: RotateKeyInput,
    facts: rotationFacts,
    closing: closingOfRotation,
  },
);
