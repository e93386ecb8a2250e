import type { RunContext } from '../context.ts';
import type { SingleChange } from '../inputs.ts';
import type { Stakes } from '../parts/question.ts';
import type { Closing } from '../parts/runbook.ts';
import { landedOf } from '../parts/task-data.ts';
import { sentOf } from '../phases/once.ts';
import { closingOfAction, closingOfRestore, deviationsOf } from './closing.ts';
import { leavesFollowUps, restoredName, sourceName } from './evaluate.ts';
import { factGroupsOf } from './facts.ts';
import { stakesOfAction, stakesOfKey, stakesOfRestore } from './stakes.ts';

type Words = (context: RunContext) => string;

const ORDERS: Readonly<Record<SingleChange['change'], Words>> = {
  createBackup: ({ run }) => `ask for a backup of ${run.instance}`,
  restoreBackup: ({ run, choose }) => `restore backup ${choose.backup?.id} into ${run.instance}`,
  restoreToTime: ({ run, choose }) => `bring ${run.instance} back to ${choose.time} and lose what came after`,
  performRecovery: (context) =>
    `recover ${context.source.from?.guid} of ${sourceName(context)} into ${context.run.instance}` +
    ` with key ${context.source.from?.fingerprint}`,
  restart: ({ run }) => `restart ${run.instance}`,
  recreate: ({ run }) => `recreate ${run.instance}`,
  update: ({ run }) => `update ${run.instance}`,
  setKey: ({ run, key }) => `set key ${key.stored?.fingerprint} on ${run.instance}`,
  changeBackupSettings: ({ run }) => `change the settings of backups of ${run.instance}`,
  changeUpdateSetting: ({ run }) =>
    `${run.single?.setting?.allowed === true ? 'allow' : 'forbid'} maintenance updates of ${run.instance}`,
  prepareRecovery: ({ run, key }) =>
    `prepare the recovery of ${run.instance}` +
    (key.stored === undefined ? '' : ` with key ${key.stored.fingerprint}, which replaces its key`),
};

const TITLES: Readonly<Record<SingleChange['change'], string>> = {
  createBackup: 'create a backup',
  restoreBackup: 'restore a backup',
  restoreToTime: 'go back to a point in time',
  performRecovery: 'recover a lost instance into another one',
  restart: 'restart the instance',
  recreate: 'recreate the instance',
  update: 'update the instance',
  setKey: 'set a new key',
  changeBackupSettings: 'change the settings of backups',
  changeUpdateSetting: 'allow or forbid maintenance updates',
  prepareRecovery: 'prepare disaster recovery',
};

export function titleOfChange(context: RunContext): string {
  return TITLES[changeOf(context)];
}

export function orderOf(context: RunContext): string {
  return ORDERS[changeOf(context)](context);
}

export function stakesOfChange(context: RunContext): Stakes {
  if (context.run.single?.setsKey === true) return stakesOfKey(context);
  return context.run.action === undefined ? stakesOfRestore(context) : stakesOfAction(context);
}

/** Proves nothing that the service did not show. */
export function closingOfSingleChange(context: RunContext, finalState: string): Closing {
  const change = changeOf(context);
  if (leavesFollowUps(context)) return closingOfRestore(context, finalState);
  if (context.run.action !== undefined && context.run.single?.wait === true)
    return closingOfAction(context, finalState);
  const { noFollowUps } = context.run.single ?? {};
  const left =
    noFollowUps === undefined ? [] : [{ step: 'followUps', reason: `left to others: ${noFollowUps}` }];
  const base = { summary: factGroupsOf(context), deviations: [...deviationsOf(context), ...left] };
  if (finalState === 'done') return { outcome: 'done', proven: false, title: DONE[change](context), ...base };
  if (finalState === 'stopped')
    return {
      outcome: 'stopped',
      proven: false,
      title: stoppedTitle(context),
      ...unknownOf(context),
      ...base,
    };
  const title = `closed without knowing whether it was done: ${orderOf(context)}`;
  return { outcome: 'done-unproven', proven: false, title, ...base };
}

const DONE: Readonly<Record<SingleChange['change'], Words>> = {
  createBackup: ({ backup }) =>
    backup.backup === undefined
      ? `backup ${landedOf(backup)?.id} was asked for`
      : `backup ${backup.backup.id} is done; this run does not open it`,
  restoreBackup: restoredTitle,
  restoreToTime: restoredTitle,
  performRecovery: restoredTitle,
  restart: acceptedTitle,
  recreate: acceptedTitle,
  update: acceptedTitle,
  setKey: ({ key, run }) =>
    `key ${key.stored?.fingerprint} is set on ${run.instance}; no backup of this run proves it`,
  changeBackupSettings: ({ run }) => `the settings of backups of ${run.instance} are changed`,
  changeUpdateSetting: ({ run }) =>
    `maintenance updates of ${run.instance} are ${run.single?.setting?.allowed === true ? 'allowed' : 'forbidden'}`,
  prepareRecovery: ({ card, run }) => `the guid of the backups of ${run.instance} is ${card.guid}`,
};

function restoredTitle(context: RunContext): string {
  const { restore } = context;
  const id = restore.restore?.id ?? landedOf(restore)?.id;
  const what = id === undefined || id === 0 ? 'a restore' : `restore ${id}`;
  return restore.restore?.status === 'done'
    ? `${what} of ${restoredName(context)} is done; its follow-ups are left to others`
    : `${what} of ${restoredName(context)} was asked for; its follow-ups are left to others`;
}

function acceptedTitle({ run, act }: RunContext): string {
  if (act.outside !== undefined)
    return `the ${run.action} of ${run.instance} was done, by the word of a person: ${act.outside}`;
  return `the ${run.action} of ${run.instance} was accepted by the service`;
}

function stoppedTitle(context: RunContext): string {
  const sent = sentBy(context);
  if (sent === 'in-doubt') return `stopped in doubt: it may have been done: ${orderOf(context)}`;
  return sent === undefined
    ? 'stopped; nothing was changed'
    : `stopped after it was sent: ${orderOf(context)}`;
}

/** The most that this run may have done. */
function sentBy({ backup, restore, act, key }: RunContext) {
  const answer = key.setting?.answer;
  const set = answer === undefined ? undefined : answer === 'unknown' ? 'in-doubt' : 'accepted';
  return sentOf(restore) ?? sentOf(act) ?? sentOf(backup) ?? set;
}

function unknownOf(context: RunContext): Pick<Closing, 'unknown'> {
  return sentOf(context.restore) === undefined ? {} : { unknown: restoredName(context) };
}

function changeOf({ run }: RunContext): SingleChange['change'] {
  return run.single?.change ?? 'createBackup';
}
