import { assign } from 'xstate';
import * as z from 'zod';
import { failureFrom } from '../../src/base/failure.ts';
import { isOpen } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { freezeFallback, releaseFallback } from '../fallback/change-instance.ts';
import { UpdateSetting } from '../parts/task-data.ts';
import { assignWith, changed } from '../setup.ts';
import { choice, type RunQuestion, stop } from './asking.ts';
import { failTo } from './failing.ts';
import { when, whenEvent } from './guards.ts';
import { closed, withoutRelease, withRelease } from './open-follow-ups.ts';
import { door, type Exits, type Phase, phase, state, to } from './phase.ts';
import { task } from './task.ts';

export const UpdatesSlice = () =>
  z.object({
    /** To be restored after the change. */
    setting: UpdateSetting().optional(),
    changeable: z.object({ changeable: z.boolean(), why: z.string().optional() }).optional(),
    isStopping: z.boolean(),
  });

const TYPE = 'general';

const FREEZE_UPDATES_WORDS = {
  looking: { title: 'whether maintenance updates can be held back' },
  freezing: {
    title: 'forbidding maintenance updates during the run',
    calls: [
      {
        method: 'PATCH',
        path: '/broker/edit',
        what: 'maintenance updates forbidden',
        needs: 'revision 61, its operator offers it, and a person says that updates are allowed now',
        optional: true,
      },
    ],
    wayBack: 'they are allowed again at the end of the run',
  },
  freezingFailed: {
    title: 'maintenance updates are not held back',
    ways: {
      retry: 'asks again; the same setting twice changes nothing more',
      skip: 'an update may begin while the instance is being changed',
      markDone: 'how were they forbidden? remember to allow them again afterwards',
    },
  },
} as const;

/**
 * No call reads the setting (service-api.md section 4.2 item 6), so a person has to say that updates are
 * allowed now: allowing them at the end would otherwise undo a deliberate ban. A run that installs updates
 * skips this.
 */
export function freezeUpdates({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  const leads = to(exits.stop);
  const head = {
    title: 'hold maintenance updates back',
    slice: 'decide' as const,
    when: holdsBack,
    fallback: freezeFallback,
    exits,
  };
  return phase(head, (step) => ({
    evaluating: state({
      meta: { title: 'whether updates are what the run is for' },
      always: [
        { guard: when('the run updates it', ({ run }) => run.action === 'update'), target: 'over' },
        { target: 'looking' },
      ],
    }),
    ...task('looking', {
      verb: 'updatesChangeable',
      ...FREEZE_UPDATES_WORDS.looking,
      input: () => ({}),
      keep: (context, changeable) => changed(context, 'updates', { changeable }),
      next: 'evaluatingOffer',
      failed: 'freezingFailed',
    }),
    evaluatingOffer: state({
      meta: { title: 'whether the service offers it' },
      always: [
        {
          guard: when('the service offers it', ({ updates }) => updates.changeable?.changeable === true),
          target: 'asking',
        },
        {
          target: 'over',
          actions: {
            type: 'noteSkip',
            params: ({ context }) => ({
              step,
              reason: context.updates.changeable?.why ?? 'the service does not offer it',
            }),
          },
        },
      ],
    }),
    asking: state({
      tags: ['question'],
      meta: { title: 'holding maintenance updates back', question: askWhetherToFreeze },
      on: {
        'operator.goOn': {
          target: 'over',
          actions: { type: 'noteSkip', params: { step, reason: 'the setting was left as it is' } },
        },
        'operator.holdBack': {
          target: 'freezing',
          actions: assign(({ context }) => withRelease(context)),
        },
        'operator.stop': leads,
      },
    }),
    ...task('freezing', {
      verb: 'changeUpdateSetting',
      id: 'freezeUpdates',
      ...FREEZE_UPDATES_WORDS.freezing,
      input: () => ({ setting: { type: TYPE, allowed: false } }),
      keep: (context, setting) => changed(context, 'updates', { setting }),
      next: 'over',
      // A setting that was refused need not be restored.
      onError: [
        {
          guard: whenEvent<{ error: unknown }>('it may be in force', (_, { error }) => mayBeInForce(error)),
          ...failTo('freezingFailed'),
        },
        {
          target: 'freezingFailed',
          actions: [assignWith(({ context }) => withoutRelease(context)), failTo('freezingFailed').actions],
        },
      ],
      failed: {
        step,
        ...FREEZE_UPDATES_WORDS.freezingFailed,
        retry: 'looking',
        next: 'over',
        stop: leads,
      },
    }),
  }));
}

function mayBeInForce(error: unknown): boolean {
  return failureFrom(error).evidence['mayBeInForce'] === true;
}

/** Updates are held back, or the question is still to come. */
function holdsBack(context: RunContext): boolean {
  const { changeable, setting } = context.updates;
  const isUndecided = context.run.action !== 'update' && changeable === undefined;
  return isUndecided || setting !== undefined || isOpen(context, 'release-updates');
}

function askWhetherToFreeze({ run: { instance } }: RunContext): RunQuestion {
  return choice(
    `the service does not report whether maintenance updates of ${instance} are allowed: hold them back?`,
    [
      {
        event: { type: 'operator.goOn' },
        label: 'leave the setting as it is',
        hint: 'nothing is sent; if updates are allowed, one may start during the run',
        recommended: true,
      },
      {
        event: { type: 'operator.holdBack' },
        label: 'they are allowed now: forbid them until the end of the run',
        hint: 'the run allows them again at its end, also when it is stopped',
        needs: { what: 'evidence', prompt: 'how do you know that they are allowed now?' },
      },
      stop,
    ],
  );
}

const RELEASE_UPDATES_WORDS = {
  releasing: {
    title: 'allowing maintenance updates again',
    calls: [{ method: 'PATCH', path: '/broker/edit', what: 'maintenance updates allowed', optional: true }],
    wayBack: 'forbid them again',
  },
} as const;

/** Also before the run is stopped. A failure leaves a follow-up. */
export function releaseUpdates({ exits }: { readonly exits: Exits }): Phase {
  const head = {
    title: 'allow updates again',
    slice: 'rebind' as const,
    when: holdsBack,
    fallback: releaseFallback,
    exits,
  };
  return phase(head, (step) => ({
    evaluating: state({
      meta: { title: 'whether there is something to put back' },
      always: [
        {
          guard: when('they are held back', (context) => isOpen(context, 'release-updates')),
          target: 'releasing',
        },
        { target: 'over' },
      ],
    }),
    ...task('releasing', {
      verb: 'changeUpdateSetting',
      id: 'releaseUpdates',
      ...RELEASE_UPDATES_WORDS.releasing,
      input: ({ updates: { setting } }) => ({ setting: { type: setting?.type ?? TYPE, allowed: true } }),
      keep: (context) => ({
        ...changed(context, 'updates', { setting: undefined }),
        ...closed(context, 'release-updates', {
          how: 'run',
          text: 'maintenance updates are allowed again',
        }),
      }),
      next: 'over',
      onError: {
        target: 'over',
        actions: [assignWith(({ context }) => withRelease(context)), failTo('over').actions],
      },
      failed: 'over',
    }),
    stopping: state({
      id: door(step, 'stopping'),
      meta: { title: 'what has to be put back before the run is stopped' },
      always: {
        target: 'evaluating',
        actions: assign(({ context }) => changed(context, 'updates', { isStopping: true })),
      },
    }),
  }));
}
