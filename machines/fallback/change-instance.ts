import { isOpen } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackAction, FallbackField } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { stepOf } from '../parts/states.ts';
import { knownOr } from './steps.ts';

/** Forbids updates by hand. */
export const freezeFallback: FallbackPart<RunContext> = (context, at) =>
  mayNotHold(context)
    ? []
    : [
        {
          state: at ?? 'freeze',
          title: 'forbid maintenance updates meanwhile',
          notes: [
            'Only interfaces of revision 61 offer it: skip it when the service does not know it.',
            'Skip it, too, unless you know that updates are allowed now: the service does not report it.',
          ],
          actions: [setUpdates(context, false)],
        },
      ];

/** Allows updates by hand. */
export const releaseFallback: FallbackPart<RunContext> = (context, at) =>
  mayNotHold(context)
    ? []
    : [
        {
          state: at ?? 'release',
          title: 'allow maintenance updates again',
          notes: ['Skip it unless you forbade them yourself before the change.'],
          actions: [setUpdates(context, true)],
        },
      ];

/** The release stands in the phase before; here only once that phase is passed. */
export const actionFollowUpsFallback: FallbackPart<RunContext> = (context, at, state, key) =>
  at === undefined ? [] : releaseFallback(context, at, state, key);

/** The action itself, where the run is about to ask for it, or may have done so. */
export const actFallback: FallbackPart<RunContext> = (context, at, _state, key) => {
  const { run, preflight } = context;
  const { instance, action = 'restart' } = run;
  const { facts } = preflight;
  const mayBeSent = at !== undefined && stepOf(at) === key;
  // What the instance was made from; `baseline.serviceId` is the instance's own id.
  const service = knownOr(facts?.service.offering, 'SERVICE_ID', 'service_id, as the instance shows it');
  const look: FallbackAction = { do: 'call', on: 'instance', method: 'GET', path: '' };
  return [
    {
      state: at ?? key,
      title: `${action} ${instance}`,
      notes: ['Its applications lose their connections meanwhile.'],
      actions: [
        ...(action === 'update' ? [look] : []),
        { do: 'confirm-name', name: instance, what: `This will ${action} ${instance}.` },
        {
          do: 'call',
          on: 'instance',
          method: 'PATCH',
          path: action === 'update' ? '/updates' : `/${action}`,
          ...(action === 'update' ? { body: { service_id: service } } : {}),
          once: { lookFirst: lookWords(facts?.baseline.updatedAt, mayBeSent), list: '' },
        },
      ],
    },
  ];
};

/**
 * Whether updates are not to be touched: they are what the run is for, the service does not offer it, or it
 * was decided so.
 */
function mayNotHold(context: RunContext): boolean {
  if (isOpen(context, 'release-updates')) return false;
  const { run, updates, skipped } = context;
  const isLeft = skipped.some(({ step }) => step === 'freeze');
  return run.action === 'update' || updates.changeable?.changeable === false || isLeft;
}

function lookWords(updatedAt: string | undefined, mayBeSent: boolean): string {
  const sign = `the state deploying${updatedAt === undefined ? '' : `, or updated_at other than ${updatedAt}`}`;
  return mayBeSent
    ? `THIS RUN MAY HAVE SENT IT ALREADY: ${sign}, suggests so, unless somebody else is working on the instance.`
    : `It is already under way if the instance shows ${sign}.`;
}

function setUpdates({ updates }: RunContext, allowed: boolean): FallbackAction {
  const type: FallbackField = { known: updates.setting?.type ?? 'general' };
  return {
    do: 'call',
    on: 'instance',
    method: 'PATCH',
    path: '/broker/edit',
    body: { allowed_update_time: { fields: { type, allowed: { literal: allowed } } } },
  };
}
