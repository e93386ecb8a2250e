import { assign, createMachine } from 'xstate';
import * as z from 'zod';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Question } from '../../machines/parts/question.ts';
import type { Runbook, StateMeta } from '../../machines/parts/runbook.ts';

export interface FollowUpContext {
  readonly followUps: readonly FollowUp[];
  readonly question: Question;
}

type Meta = StateMeta<FollowUpContext, never>;

const asking: Meta = {
  title: 'what now',
  slice: 'rebind',
  question: ({ question }) => question as Question<never>,
};
const restoring: Meta = {
  title: 'restore it',
  slice: 'execute',
  calls: [
    {
      method: 'POST',
      path: '/restores',
      what: 'the restore',
      on: 'target',
      needs: 'the name was typed',
      forever: 'what is there now is overwritten',
    },
    { method: 'GET', path: '/restores', what: 'what became of it', on: 'target' },
  ],
  wayBack: 'restore the backup that was taken before',
};
const rebinding: Meta = {
  title: 'bind the applications again',
  slice: 'rebind',
  does: ['platform: unbind, bind and restage'],
  wayBack: 'bind them to the old one',
};
const looking: Meta = {
  title: 'look at it',
  calls: [{ method: 'GET', path: '', what: 'its state' }],
};
const evaluating: Meta = { title: 'evaluate it' };

/** A small recovery: it asks what its input says, and leaves what its input says. */
const machine = createMachine({
  id: 'small-recovery',
  version: '1',
  types: {} as { context: FollowUpContext; input: FollowUpContext },
  context: ({ input }) => input,
  initial: 'openFollowUps',
  states: {
    looking: { meta: looking },
    evaluating: { meta: evaluating },
    openFollowUps: { meta: asking, on: { 'operator.go': 'restoring', 'operator.end': 'done' } },
    restoring: { meta: restoring, tags: ['destructive'], entry: assign({}) },
    rebinding: { meta: rebinding },
    done: { type: 'final', meta: { title: 'done' } },
  },
});

const runbook: Runbook<FollowUpContext, unknown> = {
  id: 'small-recovery',
  title: 'restore and rebind',
  version: '1',
  machine,
  input: z.unknown(),
  touches: () => ({ source: 'replaced', target: 'none', lost: 'chosen-backup' }),
  facts: () => [{ label: 'backup', value: 7 }],
  failure: () => undefined,
  skipped: () => [],
  followUps: ({ followUps }) => followUps,
  closing: () => ({ outcome: 'done', proven: true, title: 'restored', summary: [], deviations: [] }),
};

export const followUpRunbook = runbook as Runbook;
