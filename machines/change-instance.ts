import { acting, actionTask } from './recovery/act-states.ts';
import { check } from './recovery/check.ts';
import { confirmation } from './recovery/confirm.ts';
import { startingContext } from './recovery/context.ts';
import { owing } from './recovery/owing.ts';
import { recording } from './recovery/record.ts';
import { recovery } from './recovery/setup.ts';
import { freezeUpdates, releaseUpdates } from './recovery/updates.ts';

/**
 * Restart, recreate or update an instance; maintenance updates are held back beside the first two, where a
 * person wants it.
 */
export const changeInstanceMachine = recovery.createMachine({
  id: 'change-instance',
  version: '1',
  context: ({ input }) => startingContext(input),
  initial: 'checking',
  states: {
    ...check({ tolerant: true, restores: true, next: 'weighingHold' }),
    ...freezeUpdates({ next: 'refreshing' }),
    ...confirmation({
      order: ({ action, instance }) => `${action} ${instance}`,
      next: 'acting',
      stopped: 'stopping',
    }),
    acting: recovery.createStateConfig({
      meta: { step: 'act', title: 'which action it is' },
      always: [
        { guard: 'isRestart', target: 'restarting' },
        { guard: 'isRecreate', target: 'recreating' },
        { target: 'updating' },
      ],
    }),
    restarting: acting('restart'),
    recreating: acting('recreate'),
    updating: acting('update'),
    ...actionTask(),
    ...releaseUpdates({ next: 'recording' }),
    ...owing({ next: 'weighingStop', release: 'releasingUpdates' }),
    ...recording({
      runbook: 'change-instance',
      ends: {
        done: 'closed: done, and available again',
        unproven: 'closed without proof that it is available',
      },
    }),
  },
});
