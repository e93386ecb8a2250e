import * as z from 'zod';
import type { RunContext } from '../context.ts';
import { settingsFallback, updatesFallback } from '../fallback/change-instance.ts';
import { onlyGuidFallback } from '../fallback/keys.ts';
import { SettingsChange, UpdateSetting } from '../parts/task-data.ts';
import { assignWith, changed } from '../setup.ts';
import { choice, stop as stopOption } from './asking.ts';
import { answerWasLost, uncertain } from './change-key.ts';
import { failure } from './failing.ts';
import { when } from './guards.ts';
import { NO_GUID, PREPARE, PREPARE_WITH_KEY } from './guid.ts';
import { type Exits, type Phase, phase, state, to } from './phase.ts';
import { task } from './task.ts';

export const SettingsSlice = () =>
  z.object({
    backups: SettingsChange().optional(),
    updates: UpdateSetting().optional(),
  });

interface Agree {
  /** As an order: `create a backup of orders`. */
  readonly order: (context: RunContext) => string;
  readonly exits: Exits<'stop'>;
}

/** One question before a change that destroys nothing. */
export function agree({ order, exits }: Agree): Phase {
  return phase({ title: 'agree to it', slice: 'decide', exits }, () => ({
    asking: state({
      tags: ['question'],
      meta: {
        title: 'whether it is done',
        question: (context) =>
          choice(`${order(context)}?`, [
            {
              event: { type: 'operator.goOn' },
              label: 'do it',
              hint: 'it destroys nothing',
              recommended: true,
            },
            stopOption,
          ]),
      },
      on: { 'operator.goOn': 'over', 'operator.stop': to(exits.stop) },
    }),
  }));
}

const WAYS = {
  retry: 'sends the same setting again, which changes nothing more',
  skip: { disabled: 'the run is there for it; stop instead' },
  markDone: { disabled: 'stop the run: what the service shows counts' },
} as const;

const CHANGE_BACKUP_SETTINGS_WORDS = {
  sending: {
    title: 'changing the settings of backups',
    calls: [{ method: 'PATCH', path: '/backups-config', what: 'the settings that were named' }],
    wayBack: 'set the former values again; what retention has deleted meanwhile is gone',
  },
} as const;

export function changeBackupSettings({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  return phase({ title: 'change the settings of backups', fallback: settingsFallback, exits }, (step) =>
    task('sending', {
      verb: 'changeBackupSettings',
      ...CHANGE_BACKUP_SETTINGS_WORDS.sending,
      input: ({ run: { single } }) => ({ settings: single?.settings ?? {} }),
      keep: (context, backups) => changed(context, 'settings', { backups }),
      next: 'over',
      failed: { step, title: 'the settings were not changed', stop: to(exits.stop), ways: WAYS },
    }),
  );
}

const CHANGE_UPDATES_WORDS = {
  sending: {
    title: 'changing the setting',
    calls: [{ method: 'PATCH', path: '/broker/edit', what: 'whether maintenance updates are allowed' }],
    wayBack: 'set it the other way; the service does not report what it was',
  },
} as const;

export function changeUpdates({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  return phase({ title: 'allow or forbid maintenance updates', fallback: updatesFallback, exits }, (step) =>
    task('sending', {
      verb: 'changeUpdateSetting',
      ...CHANGE_UPDATES_WORDS.sending,
      input: ({ run: { single } }) => ({ setting: single?.setting ?? { type: 'general', allowed: true } }),
      keep: (context, updates) => changed(context, 'settings', { updates }),
      next: 'over',
      failed: { step, title: 'the setting was not changed', stop: to(exits.stop), ways: WAYS },
    }),
  );
}

/** `again`: asks for the name before the same key is sent again. */
type PrepareExits = Exits<'again' | 'stop'>;

export function prepareGuid({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  return phase({ title: 'ask for the guid', fallback: onlyGuidFallback(false), exits }, (step) => ({
    ...task('asking', {
      ...PREPARE,
      next: 'evaluating',
      failed: {
        step,
        title: 'there is no guid',
        stop: to(exits.stop),
        ways: {
          retry: 'asks for the guid again, which changes nothing',
          skip: { disabled: 'the run is there for the guid; stop instead' },
          markDone: { disabled: 'the guid is in the dashboard; stop the run' },
        },
      },
    }),
    evaluating: evaluatingGuid('askingFailed'),
  }));
}

const PREPARE_WITH_KEY_WORDS = {
  sendingFailed: {
    title: 'the key was not set',
    ways: {
      retry: 'asks for the name and sends the same key again',
      skip: { disabled: 'the run is there for it; stop instead' },
      markDone: { disabled: 'stop the run: the next backup shows which key is in force' },
    },
  },
  noGuid: {
    title: 'the key is set, and the service named no guid',
    ways: {
      retry: 'checks the instance and sends the same key again, which changes nothing more',
      skip: { disabled: 'the run is there for the guid; stop instead' },
      markDone: { disabled: 'the guid is in the dashboard; stop the run' },
    },
  },
} as const;

export function prepareWithKey({ exits }: { readonly exits: PrepareExits }): Phase {
  const stop = to(exits.stop);
  return phase(
    { title: 'ask for the guid, with a new key', fallback: onlyGuidFallback(true), exits },
    (step) => ({
      ...task('sending', {
        ...PREPARE_WITH_KEY,
        next: 'evaluatingAnswer',
        failed: {
          step,
          ...PREPARE_WITH_KEY_WORDS.sendingFailed,
          retry: to(exits.again),
          stop,
        },
      }),
      evaluatingAnswer: state({
        meta: { title: 'checking the answer' },
        always: [
          { guard: when('the answer was lost', answerWasLost), target: 'inDoubt' },
          { ...evaluatingGuid('noGuid').always[0], target: 'noGuid' },
          { target: 'over' },
        ],
      }),
      inDoubt: uncertain({
        exits,
        goOn: 'over',
        judge: {
          label: 'close the run without the guid',
          hint: 'both keys are kept; whichever key opens the next backup is in force',
        },
      }),
      noGuid: failure({
        step,
        ...PREPARE_WITH_KEY_WORDS.noGuid,
        retry: to(exits.again),
        stop,
      }),
    }),
  );
}

function evaluatingGuid(failed: string) {
  return {
    meta: { title: 'checking the guid' },
    always: [
      {
        guard: when('there is no guid', ({ card }) => card.guid === undefined),
        target: failed,
        actions: assignWith(() => ({ failure: NO_GUID })),
      },
      { target: 'over' },
    ] as const,
  };
}
