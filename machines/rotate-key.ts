import { startingContext } from './rotate-key/context.ts';
import { freshBackup } from './rotate-key/fresh-backup.ts';
import { keyChange } from './rotate-key/key-change.ts';
import { preparation } from './rotate-key/preparation.ts';
import { proof } from './rotate-key/proof.ts';
import { rotation } from './rotate-key/setup.ts';

/**
 * Rotate the encryption key and verify a backup. The order is the safety: a key is stored and read back before it is
 * sent, a lost answer keeps both keys, and only a backup that was opened to its last byte makes the rotation proven.
 */
export const rotateKeyMachine = rotation.createMachine({
  id: 'rotate-key',
  version: '1',
  context: ({ input }) => startingContext(input),
  initial: 'checking',
  states: {
    ...preparation,
    ...keyChange,
    ...freshBackup,
    ...proof,
    done: { type: 'final', tags: ['done'], meta: { step: 'record', title: 'rotated and proven' } },
    unproven: { type: 'final', tags: ['done'], meta: { step: 'record', title: 'closed without proof' } },
    stopped: { type: 'final', tags: ['done'], meta: { step: 'record', title: 'stopped' } },
  },
});
