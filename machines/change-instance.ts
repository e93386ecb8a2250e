import { hasActed } from './closing/evaluate.ts';
import { stakesOfAction } from './closing/stakes.ts';
import { lazyMachine } from './lazy-machine.ts';
import { act } from './phases/act.ts';
import { available } from './phases/available.ts';
import { confirm } from './phases/confirm.ts';
import { followUpsOfAction } from './phases/follow-ups.ts';
import { when } from './phases/guards.ts';
import { ending, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { recordRecovery } from './phases/record.ts';
import { freezeUpdates, releaseUpdates } from './phases/updates.ts';

/** Updates can be frozen during a restart or recreate; a stop after that allows them again first. */
export const changeInstanceMachine = lazyMachine({
  id: 'change-instance',
  version: '2',
  initial: 'preflight',
  states: phases({
    preflight: preflight({ tolerant: true, restores: true, exits: { done: 'freeze', stop: 'stopped' } }),
    freeze: freezeUpdates({ exits: { done: 'confirm', stop: 'release:stopping' } }),
    confirm: confirm({
      order: ({ run }) => `${run.action} ${run.instance}`,
      stakes: stakesOfAction,
      exits: { done: 'act', stop: 'release:stopping' },
    }),
    act: act({ exits: { done: 'available', again: 'confirm', stop: 'release:stopping' } }),
    available: available({ by: 'action', exits: { done: 'release', stop: 'release:stopping' } }),
    release: releaseUpdates({ exits: { done: 'followUps' } }),
    followUps: followUpsOfAction({
      exits: {
        done: [
          { guard: when('the run is being stopped', ({ updates }) => updates.isStopping), target: 'stopped' },
          { target: 'record' },
        ],
        'release-updates': 'release',
      },
    }),
    record: recordRecovery({
      runbook: 'change-instance',
      byHand: 'Write down what was done, and when the instance was available again.',
      exits: {
        done: [
          { guard: when('the action is shown to be done', hasActed), target: 'done' },
          { target: 'unproven' },
        ],
      },
    }),
    done: ending('closed: done, and available again'),
    unproven: ending('closed without proof that it is available'),
    stopped: ending('stopped'),
  }),
});
