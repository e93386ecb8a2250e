import type { RunContext } from './context.ts';
import { lazyMachine } from './lazy-machine.ts';
import type { Step } from './parts/plan.ts';
import { when } from './phases/guards.ts';
import { ending, phases, state, to } from './phases/phase.ts';
import {
  approveStep,
  checkOutside,
  manual,
  runCommand,
  runOnce,
  tellPeople,
  waitStep,
} from './phases/plan-step.ts';

const over = {
  exits: {
    done: [
      {
        guard: when('a person has passed it', ({ skipped }: RunContext) => skipped.length > 0),
        target: 'unproven',
      },
      { target: 'done' },
    ],
    stop: 'stopped',
  },
} as const;

const is =
  (kind: Step['kind']) =>
  ({ run }: RunContext) =>
    run.step?.kind === kind;
const isOnce = ({ run }: RunContext) => run.step?.kind === 'command' && run.step.command.kind === 'once';

const lead = (words: string, guard: (context: RunContext) => boolean, target: string) => ({
  guard: when(words, guard),
  target: to(target),
});

/** A step that runs no runbook, on one instance or once. Only the run of a plan starts it. */
export const planStepMachine = lazyMachine({
  id: 'plan-step',
  version: '1',
  initial: 'kind',
  states: phases({
    kind: (id) =>
      state({
        id,
        meta: { title: 'which kind of step it is' },
        always: [
          lead('it is a check', is('check'), 'check'),
          lead('a command runs once', isOnce, 'once'),
          lead('it is a command', is('command'), 'command'),
          lead('a person does it', is('manual'), 'manual'),
          lead('people approve', is('approve'), 'approve'),
          lead('people are told', is('notify'), 'notify'),
          { target: to('wait') },
        ],
      }),
    check: checkOutside(over),
    command: runCommand(over),
    once: runOnce(over),
    manual: manual(over),
    approve: approveStep(over),
    notify: tellPeople(over),
    wait: waitStep(over),
    done: ending('closed: done'),
    unproven: ending('closed without proof'),
    stopped: ending('stopped'),
  }),
});
