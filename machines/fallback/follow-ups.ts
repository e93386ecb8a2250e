import { boundFrom, type CfCall, keyCalls, rebindCalls, wordsOf } from '../closing/cf-calls.ts';
import {
  credentials,
  isWithoutPlatform,
  platformInstance,
  rebindId,
  restoredName,
  restoredSide,
  serviceKeyId,
} from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackAction, FallbackStep } from '../parts/fallback-step.ts';
import type { FollowUp } from '../parts/follow-up.ts';
import type { BoundApp, ServiceKey } from '../parts/recovery-data.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { freshBackupSteps } from './backing-up.ts';
import { type LeftOfRun, landedAt, stepFor, targeting } from './steps.ts';

/** The open follow-ups of a restore: applications first, because people wait for them. */
export const followUpsFallback: FallbackPart<RunContext> = (left) => {
  const { context } = left;
  const { bound } = context.followUps;
  const open = openOf(context);
  const isOpen = (id: string) => open === undefined || open.some((one) => one.id === id);
  const apps = (bound?.apps ?? []).filter(({ key }) => isOpen(rebindId(key)));
  const keys = (bound?.keys ?? []).filter(({ name }) => isOpen(serviceKeyId(name)));
  const known = new Set([
    ...apps.map(({ key }) => rebindId(key)),
    ...keys.map(({ name }) => serviceKeyId(name)),
  ]);
  const others = (open ?? []).filter(
    ({ id }) => !known.has(id) && id !== 'fresh-backup' && id !== 'renew-card',
  );
  const asksForApps = open === undefined && (bound?.apps.length ?? 0) === 0;
  const withCard = restoredSide(context) === 'target' || context.card.onRecord?.card !== undefined;
  return [
    ...apps.map((app) => rebindStep(left, app)),
    ...(asksForApps ? [findApps(left)] : []),
    ...keys.map((key) => keyStep(left, key)),
    ...(isOpen('fresh-backup') ? freshSteps(left) : []),
    ...((open === undefined ? withCard : isOpen('renew-card')) ? [cardStep(left)] : []),
    ...others.map((one) => otherStep(left, one)),
  ];
};

/** The only call that no runbook plans: a run asks for this key where it lacks one. */
export const TARGET_KEY_CALL = {
  do: 'call',
  on: 'target',
  method: 'PATCH',
  path: '/backups-config',
} as const;

/** Only while the run is at one of its parts; else it belongs to the phase before. */
export const currentFollowUpsFallback: FallbackPart<RunContext> = (left) =>
  left.at === undefined ? [] : followUpsFallback(left);

/** Undefined before any follow-up is listed. */
function openOf({ followUps: { list } }: RunContext): readonly FollowUp[] | undefined {
  return list.length === 0 ? undefined : list.filter(({ closed }) => closed === undefined);
}

function rebindStep(left: LeftOfRun, app: BoundApp): FallbackStep {
  const { context } = left;
  const { from, to } = namesOf(context);
  const { key, name, binding, running, reconnect } = app;
  const atIt = context.followUps.doing === rebindId(key);
  if (reconnect !== undefined)
    return stepFor(
      left,
      `give ${key} ${credentials(context)}`,
      [
        { do: 'run', command: reconnect.command },
        { do: 'run', command: reconnect.proof },
      ],
      [
        'These are the commands of lifeboat.yaml. The last one ends with 0 when the application works.',
        ...(atIt || wasBegun(context, key)
          ? ['The first one was begun before: look at what it has done, and whether it still runs.']
          : []),
      ],
    );
  if (isWithoutPlatform(context))
    return otherStep(left, { what: `give ${key} ${credentials(context)} and restart it`, commands: [] });
  const when = `An old binding that could not be removed keeps the name ${binding?.name}, and no second one may have it: then bind without a name, and tell whoever looks after ${name}, because the application may look for it.`;
  return stepFor(
    left,
    `unbind, bind and restage ${key}`,
    [...targeting(app), ...rebindCalls(context, app).map((call) => cf(call, when))],
    [
      'Keep to this order: an application that is bound already gets no new credentials from cf bind-service, but cf says OK.',
      ...(running === false ? ['It was stopped, so it is not restaged.'] : []),
      ...(atIt ? ['The run was at this step: parts of it may be done. Doing them again does no harm.'] : []),
      ...(from === to
        ? []
        : [`It was bound to ${from}. If that is gone for good, unbinding may fail: then answer on.`]),
    ],
  );
}

function wasBegun({ followUps: { list } }: RunContext, key: string): boolean {
  return list.some(({ id, doable }) => id === rebindId(key) && doable === 'again');
}

function keyStep(left: LeftOfRun, key: ServiceKey): FallbackStep {
  const { context } = left;
  return stepFor(
    left,
    `recreate service key ${key.name}`,
    [...targeting(context.followUps.bound?.to), ...keyCalls(context, key).map((call) => cf(call))],
    ['Whoever uses it needs its new credentials: cf service-key shows them.'],
  );
}

function findApps(left: LeftOfRun): FallbackStep {
  const { context } = left;
  const { from, to } = namesOf(context);
  const wanted = context.run.onlyApps ?? [];
  const isBare = isWithoutPlatform(context);
  const bare: FallbackAction[] = [
    { do: 'by-hand', what: 'Find out which applications these are: nobody has listed them.' },
  ];
  const listed: FallbackAction[] = [
    cf({ word: 'service', names: [from], options: [] }),
    {
      do: 'by-hand',
      what: 'For each application in that list, in its own space:',
      copy: [
        `cf unbind-service APP ${from} --wait`,
        `cf bind-service APP ${to} --wait`,
        'cf restage APP --strategy rolling',
      ],
    },
  ];
  return stepFor(
    left,
    isBare
      ? `give every application that uses ${from} ${credentials(context)} and restart it`
      : 'unbind, bind and restage every bound application',
    isBare ? bare : listed,
    [
      'Their credentials are from before the restore: until this is done, none of them works.',
      ...(wanted.length === 0 ? [] : [`Asked for at the start: ${wanted.join(', ')}.`]),
    ],
  );
}

function freshSteps(left: LeftOfRun): FallbackStep[] {
  const { context, state } = left;
  const name = restoredName(context);
  const isElsewhere = restoredSide(context) === 'target';
  const backup = freshBackupSteps(left, name, isElsewhere);
  if (!isElsewhere || landedAt(context.fresh, 'fresh', state) !== undefined) return backup;
  const keyed = stepFor(
    left,
    `give ${name} a key of its own`,
    [
      { do: 'choose-key', as: 'TARGET_KEY', what: `the new key of ${name}` },
      { do: 'confirm-name', name, what: `The encryption key of ${name} is set.` },
      { ...TARGET_KEY_CALL, body: { encryption_key: { secret: 'TARGET_KEY' } } },
    ],
    [
      'Without one, its backups cannot be downloaded. Skip it if it has one. Keep the key in two safe places.',
    ],
  );
  return [keyed, ...backup];
}

function cardStep(left: LeftOfRun): FallbackStep {
  return stepFor(
    left,
    `make a recovery card of ${restoredName(left.context)}`,
    [
      left.calls.change('prepareRecovery', { body: {} }, 'renewCard'),
      { do: 'by-hand', what: 'Write down the backup_guid, and where the key is kept.' },
    ],
    ['It changes nothing: without a key in its body, this call only returns the guid.'],
  );
}

function otherStep(left: LeftOfRun, { what, commands }: Pick<FollowUp, 'what' | 'commands'>): FallbackStep {
  return stepFor(left, what, [{ do: 'by-hand', what, copy: [...commands] }]);
}

function namesOf(context: RunContext): { readonly from: string; readonly to: string } {
  return { from: boundFrom(context).name, to: platformInstance(context).name };
}

/**
 * cf takes a name that begins like an option for one, and answers `--help` with success. `when` is the reason
 * to use the form without a name.
 */
function cf(call: CfCall, when = ''): FallbackAction {
  const command = wordsOf(call);
  if (!call.names.some((name) => name.startsWith('-'))) {
    const { withoutName } = call;
    const otherwise = withoutName === undefined ? {} : { otherwise: { when, command: wordsOf(withoutName) } };
    return { do: 'run', command, ...otherwise };
  }
  const what =
    'The cf tool reads a name in this command as an option: do it another way, by the ids of the platform.';
  return { do: 'by-hand', what, copy: [command.join(' ')] };
}
