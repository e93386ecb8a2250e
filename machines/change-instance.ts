import { hasActed } from './closing/evaluate.ts';
import { stakesOfAction } from './closing/stakes.ts';
import { actionFollowUpsFallback } from './fallback/change-instance.ts';
import { lazyMachine } from './lazy-machine.ts';
import { act } from './phases/act.ts';
import { available } from './phases/available.ts';
import { confirm } from './phases/confirm.ts';
import { followUps } from './phases/follow-ups.ts';
import { when } from './phases/guards.ts';
import { ending, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { recordRecovery } from './phases/record.ts';
import { freezeUpdates, releaseUpdates } from './phases/updates.ts';

/** Whoever stops after updates were held back has them allowed again first. */
const stop = '#release.stopping';

/**
 * Restart, recreate or update an instance; maintenance updates are held back beside the first two, where a
 * person wants it.
 */
export const changeInstanceMachine = lazyMachine({
  id: 'change-instance',
  version: '2',
  initial: 'preflight',
  states: phases({
    preflight: preflight({ tolerant: true, restores: true, onDone: 'freeze' }),
    freeze: freezeUpdates({ stop, onDone: 'confirm' }),
    confirm: confirm({
      order: ({ run }) => `${run.action} ${run.instance}`,
      stakes: stakesOfAction,
      stop,
      onDone: 'act',
    }),
    act: act({ again: 'confirm', stop, onDone: 'available' }),
    available: available({ by: 'action', stop, onDone: 'release' }),
    release: releaseUpdates({ onDone: 'followUps' }),
    followUps: followUps({
      title: 'do the follow-ups',
      ways: { 'release-updates': 'release' },
      fallback: actionFollowUpsFallback,
      onDone: [
        { guard: when('the run is being stopped', ({ updates }) => updates.isStopping), target: 'stopped' },
        { target: 'record' },
      ],
    }),
    record: recordRecovery({
      runbook: 'change-instance',
      byHand: 'Write down what was done, and when the instance was available again.',
      onDone: [
        { guard: when('the action is shown to be done', hasActed), target: 'done' },
        { target: 'unproven' },
      ],
    }),
    done: ending('closed: done, and available again'),
    unproven: ending('closed without proof that it is available'),
    stopped: ending('stopped'),
  }),
});
