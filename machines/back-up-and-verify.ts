import { backupFallback } from './fallback/backing-up.ts';
import { lazyMachine } from './lazy-machine.ts';
import { backup } from './phases/backup.ts';
import { ending, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { negative, prove } from './phases/prove.ts';
import { recordProof } from './phases/record.ts';

/** Takes a backup and proves it: a held key opens it to its last byte, and no other key does. */
export const backUpAndVerifyMachine = lazyMachine({
  id: 'back-up-and-verify',
  version: '2',
  initial: 'preflight',
  states: phases({
    preflight: preflight({ tolerant: false, needsKey: true, exits: { done: 'backup', stop: 'stopped' } }),
    backup: backup({
      title: 'create a backup',
      task: 'backup',
      what: 'the instance',
      slice: 'decide',
      fallback: backupFallback(({ run }) => `back up ${run.instance}`),
      exits: { done: 'prove', stop: 'stopped' },
    }),
    prove: prove({
      without: 'the backup exists, but stays unproven',
      exits: { done: 'negative', unproven: 'unproven', stop: 'stopped' },
    }),
    negative: negative({ keys: 'other', exits: { done: 'record', stop: 'stopped' } }),
    record: recordProof({
      byHand: 'Write down: the id of the backup, its SHA-256, and which key opened it, when.',
      exits: { done: 'done', stop: 'stopped' },
    }),
    done: ending('backed up and proven'),
    unproven: ending('closed without proof'),
    stopped: ending('stopped'),
  }),
});
