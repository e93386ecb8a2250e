import { type PaperPart, paperFrom } from '../../parts/paper-plan.ts';
import type { PaperAction, PaperField, PaperStep } from '../../parts/paper-step.ts';
import type { RecoveryContext } from '../context.ts';
import { isOwed } from '../weigh.ts';
import { lookPart, recordPart } from './backing-up.ts';
import { knownOr } from './known.ts';

/** The rest of a restart, recreation or update for a person without lifeboat. */
export function changeInstancePaper(context: RecoveryContext, state: string): readonly PaperStep[] {
  return paperFrom(PLAN, ['done', 'unproven', 'stopped'], context, state);
}

const ASKING = [
  ...['refreshing', 'confirming', 'rechecking', 'recheckFailed', 'restoreMeanwhile', 'comparing'],
];
const SENT = [
  ...['acting', 'restarting', 'recreating', 'updating', 'weighingAct', 'actInDoubt'],
  ...['askingToActAgain', 'actFailed'],
];
const WAITING = ['waitingForInstance', 'instanceFailed'];

const RELEASING = [
  ...['stopping', 'weighingRelease', 'releasingUpdates', 'weighingStop'],
  ...['weighingOwed', 'owing', 'startingPayment'],
];

const PLAN: readonly PaperPart<RecoveryContext>[] = [
  lookPart(
    ['checking', 'checkFailed', 'sorting', 'blocked', 'weighingHold'],
    'instance',
    ({ instance }) => instance,
  ),
  {
    states: [
      ...['askingUpdates', 'weighingUpdates', 'offeringFreeze'],
      ...['freezingUpdates', 'freezeFailed'],
    ],
    steps: (context, at) =>
      mayNotHold(context)
        ? []
        : [
            {
              state: at ?? 'freezingUpdates',
              title: 'forbid maintenance updates meanwhile',
              notes: [
                'Only interfaces of revision 61 offer it: skip it when the service does not know it.',
                'Skip it, too, unless you know that updates are allowed now: no call tells.',
              ],
              actions: [setUpdates(context, false)],
            },
          ],
  },
  { states: [...ASKING, ...SENT], steps: act },
  {
    states: WAITING,
    steps: (context, at) => [
      {
        state: at ?? 'waitingForInstance',
        title: `wait until ${context.instance} is available again`,
        notes: [],
        actions: [
          {
            do: 'wait-instance',
            on: 'instance',
            ...(context.facts?.ground.updatedAt === undefined
              ? {}
              : { since: context.facts.ground.updatedAt }),
          },
        ],
      },
    ],
  },
  {
    states: RELEASING,
    steps: (context, at) =>
      mayNotHold(context)
        ? []
        : [
            {
              state: at ?? 'releasingUpdates',
              title: 'allow maintenance updates again',
              notes: ['Skip it unless you have forbidden them yourself before the change.'],
              actions: [setUpdates(context, true)],
            },
          ],
  },
  recordPart(
    ['recording', 'recordFailed', 'weighingEnd'],
    'Write down what was done, and when the instance was available again.',
  ),
];

/**
 * Whether updates are not to be touched: they are what the run is for, the service does not offer it, or it
 * was decided so.
 */
function mayNotHold(context: RecoveryContext): boolean {
  if (isOwed(context, 'release-updates')) return false;
  const { action, updatesChangeable, skipped } = context;
  const isLeft = skipped.some(({ step }) => step === 'freeze');
  return action === 'update' || updatesChangeable?.changeable === false || isLeft;
}

function act(context: RecoveryContext, at: string | undefined): PaperStep[] {
  const { instance, action = 'restart', facts } = context;
  const mayBeSent = at !== undefined && SENT.includes(at);
  // What the instance was made from; `ground.serviceId` is the instance's own id.
  const service = knownOr(facts?.service.offering, 'SERVICE_ID', 'service_id, as the instance shows it');
  const look: PaperAction = { do: 'call', on: 'instance', method: 'GET', path: '' };
  return [
    {
      state: at ?? 'confirming',
      title: `${action} ${instance}`,
      notes: ['Its applications lose their connections meanwhile.'],
      actions: [
        ...(action === 'update' ? [look] : []),
        { do: 'confirm-name', name: instance, what: `${instance} goes through: ${action}.` },
        {
          do: 'call',
          on: 'instance',
          method: 'PATCH',
          path: action === 'update' ? '/updates' : `/${action}`,
          ...(action === 'update' ? { body: { service_id: service } } : {}),
          once: { lookFirst: lookWords(facts?.ground.updatedAt, mayBeSent), list: '' },
        },
      ],
    },
  ];
}

function lookWords(updatedAt: string | undefined, mayBeSent: boolean): string {
  const sign = `the state deploying${updatedAt === undefined ? '' : `, or updated_at other than ${updatedAt}`}`;
  return mayBeSent
    ? `THIS RUN MAY HAVE SENT IT ALREADY: ${sign}, speaks for it, unless somebody else is at work.`
    : `It is under way already with ${sign}.`;
}

function setUpdates({ updates }: RecoveryContext, allowed: boolean): PaperAction {
  const type: PaperField = { known: updates?.type ?? 'general' };
  return {
    do: 'call',
    on: 'instance',
    method: 'PATCH',
    path: '/broker/edit',
    body: { allowed_update_time: { fields: { type, allowed: { literal: allowed } } } },
  };
}
