import { hasActed, isRecovered, leavesFollowUps } from './closing/evaluate.ts';
import { orderOf, stakesOfChange } from './closing/single-change.ts';
import type { RunContext } from './context.ts';
import type { SingleChange } from './inputs.ts';
import { lazyMachine } from './lazy-machine.ts';
import { act } from './phases/act.ts';
import { freshBackup } from './phases/after-restore.ts';
import { available, availableOrUnsaid } from './phases/available.ts';
import { askForBackup, waitForBackup } from './phases/backup.ts';
import { recordOnly } from './phases/before.ts';
import { renewCard } from './phases/card.ts';
import { changeKeyOnly } from './phases/change-key.ts';
import { chooseBackup, chooseTime } from './phases/choose.ts';
import { confirmSeen } from './phases/confirm.ts';
import { followUpsOfRestore } from './phases/follow-ups.ts';
import { when } from './phases/guards.ts';
import { escrow, keepsEscrow, newKey } from './phases/key.ts';
import { ending, only, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { recordRecovery } from './phases/record.ts';
import { askForRestore, waitForRestore } from './phases/restore.ts';
import {
  agree,
  changeBackupSettings,
  changeUpdates,
  prepareGuid,
  prepareWithKey,
} from './phases/settings.ts';
import { RESTORING, singleRestoreByHand } from './phases/single-restore.ts';
import { inspectTarget } from './phases/target.ts';

const is =
  (...changes: readonly SingleChange['change'][]) =>
  ({ run: { single } }: RunContext) =>
    single !== undefined && changes.includes(single.change);
const restores = is('restoreBackup', 'restoreToTime', 'performRecovery');
const acts = is('restart', 'recreate', 'update');
const setsKey = ({ run }: RunContext) => run.single?.setsKey === true;
const changesSettings = ({ run }: RunContext) => run.single?.settings !== undefined;
const waits = ({ run }: RunContext) => run.single?.wait === true;
const isTyped = (context: RunContext) => restores(context) || acts(context) || setsKey(context);
const prepares = is('prepareRecovery');

const to = (words: string, guard: (context: RunContext) => boolean, target: string) => ({
  guard: when(words, guard),
  target,
});

/** After the confirmation or agreement. */
const SEND = [
  to('a backup is asked for', is('createBackup'), 'backUp'),
  to('a restore is asked for', restores, 'restore'),
  to('the instance is acted on', acts, 'act'),
  to('updates are allowed or forbidden', is('changeUpdateSetting'), 'updates'),
  to('settings are changed', changesSettings, 'settings'),
  to(
    'a recovery is prepared with a new key',
    (context) => prepares(context) && setsKey(context),
    'prepareWithKey',
  ),
  to('a recovery is prepared', prepares, 'prepare'),
  to('a new key is set', is('setKey'), 'changeKey'),
  { target: 'stopped' },
] as const;

/**
 * For a command such as `lifeboat backups restore 12`: look, confirm, send and, with `wait`, wait. A restore
 * leads through its follow-ups, unless the command says why not.
 */
export const singleChangeMachine = lazyMachine({
  id: 'single-change',
  version: '1',
  initial: 'preflight',
  states: phases({
    preflight: preflight({
      tolerant: (context) => !is('createBackup')(context) && !setsKey(context),
      restores: (context) => isTyped(context),
      exits: {
        done: [
          to('a backup is restored', is('restoreBackup'), 'choose'),
          to('it goes back in time', is('restoreToTime'), 'chooseTime'),
          to('it takes the backup of another instance', is('performRecovery'), 'target'),
          to('a new key is set', setsKey, 'key'),
          to('the name is typed', isTyped, 'confirm'),
          { target: 'agree' },
        ],
        stop: 'stopped',
      },
    }),
    ...only(is('restoreBackup'), { choose: chooseBackup({ exits: { done: 'onRecord', stop: 'stopped' } }) }),
    ...only(is('restoreToTime'), {
      chooseTime: chooseTime({ exits: { done: 'onRecord', stop: 'stopped' } }),
    }),
    ...only(is('performRecovery'), {
      target: inspectTarget({ on: undefined, exits: { done: 'onRecord', stop: 'stopped' } }),
    }),
    ...only(restores, { onRecord: recordOnly({ exits: { done: 'confirm', stop: 'stopped' } }) }),
    ...only(setsKey, {
      key: newKey({
        exits: {
          done: [to('keys go into escrow', keepsEscrow, 'escrow'), { target: 'confirm' }],
          stop: 'stopped',
        },
      }),
    }),
    ...only((context) => setsKey(context) && keepsEscrow(context), {
      escrow: escrow({ exits: { done: 'confirm', stop: 'stopped' } }),
    }),
    ...only(isTyped, {
      confirm: confirmSeen({
        order: orderOf,
        stakes: stakesOfChange,
        exits: { done: SEND, stop: 'stopped' },
      }),
    }),
    ...only((context) => !isTyped(context), {
      agree: agree({ order: orderOf, exits: { done: SEND, stop: 'stopped' } }),
    }),
    ...only(is('createBackup'), {
      backUp: askForBackup({
        exits: {
          done: [to('it is waited for', waits, 'waitForBackup'), { target: 'done' }],
          again: 'agree',
          stop: 'stopped',
        },
      }),
      ...only(waits, {
        waitForBackup: waitForBackup({ exits: { done: 'done', again: 'backUp:another', stop: 'stopped' } }),
      }),
    }),
    ...only(acts, {
      act: act({
        exits: {
          done: [to('it is waited for', waits, 'acted'), { target: 'done' }],
          again: 'confirm',
          stop: 'stopped',
        },
      }),
      ...only(waits, {
        acted: available({
          by: 'action',
          exits: {
            done: [to('it is shown to be done', hasActed, 'done'), { target: 'unproven' }],
            stop: 'stopped',
          },
        }),
      }),
    }),
    ...only(is('changeUpdateSetting'), {
      updates: changeUpdates({ exits: { done: 'done', stop: 'stopped' } }),
    }),
    ...only(changesSettings, {
      settings: changeBackupSettings({
        exits: { done: [to('a new key is set', setsKey, 'changeKey'), { target: 'done' }], stop: 'stopped' },
      }),
    }),
    ...only(is('setKey'), {
      changeKey: changeKeyOnly({
        exits: {
          done: [
            to('the answer was lost', ({ key }) => key.setting?.answer === 'unknown', 'unproven'),
            { target: 'done' },
          ],
          again: 'confirm:again',
          stop: 'stopped',
        },
      }),
    }),
    ...only(prepares, {
      ...only(setsKey, {
        prepareWithKey: prepareWithKey({
          exits: {
            done: [
              to('there is no guid', ({ card }) => card.guid === undefined, 'unproven'),
              { target: 'done' },
            ],
            again: 'confirm:again',
            stop: 'stopped',
          },
        }),
      }),
      ...only((context) => !setsKey(context), {
        prepare: prepareGuid({ exits: { done: 'done', stop: 'stopped' } }),
      }),
    }),
    ...only(restores, {
      restore: askForRestore(RESTORING, singleRestoreByHand, {
        done: [
          to('it is waited for', (context) => waits(context) || leavesFollowUps(context), 'restoring'),
          { target: 'record' },
        ],
        again: 'confirm',
        stop: 'stopped',
      }),
      restoring: waitForRestore({
        exits: {
          done: [to('its follow-ups are led through', leavesFollowUps, 'available'), { target: 'record' }],
          again: 'restore:another',
          stop: 'stopped',
        },
      }),
      ...only(leavesFollowUps, {
        available: availableOrUnsaid({ exits: { done: 'followUps' } }),
        followUps: followUpsOfRestore({
          title: 'bind the applications again',
          exits: { done: 'record', 'fresh-backup': 'fresh', 'renew-card': 'renewCard' },
        }),
        fresh: freshBackup({ exits: { done: 'followUps' } }),
        renewCard: renewCard({ exits: { done: 'followUps' } }),
      }),
      record: recordRecovery({
        runbook: 'single-change',
        byHand: 'Write down: what was restored, the id of the restore, and what was lost.',
        exits: {
          done: [
            to('the recovery is shown', isRecovered, 'done'),
            to('its follow-ups are left to others', (context) => !leavesFollowUps(context), 'done'),
            { target: 'unproven' },
          ],
        },
      }),
    }),
    done: ending('closed: done'),
    unproven: ending('closed without proof'),
    stopped: ending('stopped'),
  }),
});
