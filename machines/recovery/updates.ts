import { assign } from 'xstate';
import { choice, type RecoveryQuestion, stop } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

const TYPE = 'general';

/**
 * Maintenance updates are forbidden for the time of the run, so that none begins in the middle of a restart
 * or a recreate. No call reads the setting (service-api.md section 4.2 item 6), so it is touched only where a
 * person says that updates are allowed now: allowing them at the end would otherwise undo what somebody has
 * forbidden on purpose. Never in a run that is there to install them.
 */
export function freezeUpdates({ next }: { readonly next: string }) {
  const skipped = {
    target: next,
    actions: {
      type: 'noteSkip' as const,
      params: ({ context }: { context: RecoveryContext }) => ({
        step: 'freeze',
        reason: context.updatesChangeable?.why ?? 'the service does not offer it',
      }),
    },
  };
  return {
    weighingHold: recovery.createStateConfig({
      meta: { step: 'freeze', title: 'whether updates are what the run is for' },
      always: [{ guard: 'isUpdate', target: next }, { target: 'askingUpdates' }],
    }),
    askingUpdates: recovery.createStateConfig({
      meta: { step: 'freeze', title: 'whether maintenance updates can be held back', slice: 'decide' },
      invoke: {
        id: 'updatesChangeable',
        src: 'updatesChangeable',
        input: {},
        onDone: {
          target: 'weighingUpdates',
          actions: assign({
            updatesChangeable: ({ event }) => {
              const { changeable, why } = event.output;
              return { changeable, ...(why === undefined ? {} : { why }) };
            },
            failure: undefined,
          }),
        },
        onError: failTo('freezeFailed'),
      },
    }),
    weighingUpdates: recovery.createStateConfig({
      meta: { step: 'freeze', title: 'weighing it' },
      always: [{ guard: 'mayFreeze', target: 'offeringFreeze' }, skipped],
    }),
    offeringFreeze: recovery.createStateConfig({
      tags: ['question'],
      meta: {
        step: 'freeze',
        title: 'holding maintenance updates back',
        slice: 'decide',
        question: askWhetherToFreeze,
      },
      on: {
        'operator.goOn': {
          target: next,
          actions: { type: 'noteSkip', params: { step: 'freeze', reason: 'the setting was left as it is' } },
        },
        'operator.holdBack': { target: 'freezingUpdates', actions: 'oweRelease' },
        'operator.stop': 'stopping',
      },
    }),
    freezingUpdates: recovery.createStateConfig({
      meta: {
        step: 'freeze',
        title: 'forbidding maintenance updates for the time of the run',
        slice: 'decide',
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
      invoke: {
        id: 'freezeUpdates',
        src: 'changeUpdateSetting',
        input: { setting: { type: TYPE, allowed: false } },
        onDone: {
          target: next,
          actions: assign({ updates: ({ event }) => event.output, failure: undefined }),
        },
        onError: [
          {
            guard: { type: 'mayBeInForce', params: ({ event }) => ({ error: event.error }) },
            ...failTo('freezeFailed'),
          },
          {
            target: 'freezeFailed',
            actions: [
              { type: 'keepFailure', params: ({ event }) => ({ error: event.error }) },
              'forgetRelease',
            ],
          },
        ],
      },
    }),
    freezeFailed: failure({
      step: 'freeze',
      title: 'maintenance updates are not held back',
      retry: 'askingUpdates',
      next,
      stopped: 'stopping',
      ways: {
        retry: 'asks again; the same setting twice changes nothing more',
        skip: 'an update may begin while the instance is being changed',
        markDone: 'how were they forbidden? who forbade them has to allow them again',
      },
    }),
  };
}

function askWhetherToFreeze({ instance }: RecoveryContext): RecoveryQuestion {
  return choice(`no call tells whether maintenance updates of ${instance} are allowed: hold them back?`, [
    {
      event: { type: 'operator.goOn' },
      label: 'leave the setting as it is',
      hint: 'nothing is sent for it; where updates are allowed, one may begin meanwhile',
      recommended: true,
    },
    {
      event: { type: 'operator.holdBack' },
      label: 'they are allowed now: forbid them until the end of the run',
      hint: 'the run allows them again at its end, also when it is stopped',
      needs: { what: 'evidence', prompt: 'how do you know that they are allowed now?' },
    },
    stop,
  ]);
}

/** Updates are allowed again, also when the run is stopped. What cannot be put back is owed. */
export function releaseUpdates({ next }: { readonly next: string }) {
  return {
    stopping: recovery.createStateConfig({
      meta: { step: 'release', title: 'what has to be put back before the run is stopped' },
      always: [
        { guard: 'isFrozen', target: 'releasingUpdates', actions: assign({ stopping: true }) },
        { target: 'stopped' },
      ],
    }),
    weighingRelease: recovery.createStateConfig({
      meta: { step: 'release', title: 'whether there is something to put back' },
      always: [{ guard: 'isFrozen', target: 'releasingUpdates' }, { target: next }],
    }),
    releasingUpdates: recovery.createStateConfig({
      meta: {
        step: 'release',
        title: 'allowing maintenance updates again',
        slice: 'rebind',
        calls: [
          { method: 'PATCH', path: '/broker/edit', what: 'maintenance updates allowed', optional: true },
        ],
        wayBack: 'forbid them again',
      },
      invoke: {
        id: 'releaseUpdates',
        src: 'changeUpdateSetting',
        input: ({ context }) => ({ setting: { type: context.updates?.type ?? TYPE, allowed: true } }),
        onDone: {
          target: 'weighingOwed',
          actions: [
            assign({ updates: undefined }),
            {
              type: 'settleByRun',
              params: { id: 'release-updates', text: 'maintenance updates are allowed again' },
            },
          ],
        },
        onError: {
          target: 'owing',
          actions: [{ type: 'keepFailure', params: ({ event }) => ({ error: event.error }) }, 'oweRelease'],
        },
      },
    }),
    /** Nothing is owed any more; a run that was to be stopped is. */
    weighingStop: recovery.createStateConfig({
      meta: { step: 'record', title: 'whether the run was to be stopped' },
      always: [{ guard: 'isStopping', target: 'stopped' }, { target: next }],
    }),
  };
}
