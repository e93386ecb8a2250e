import { type PaperPart, paperFrom } from '../parts/paper-plan.ts';
import type { PaperAction, PaperStep } from '../parts/paper-step.ts';
import {
  type BackupOnPaper,
  backupSteps,
  backupValue,
  lookPart,
  openStep,
  recordPart,
} from '../recovery/paper/backing-up.ts';
import type { RotateKeyContext } from './context.ts';

/** The rest of a rotation for a person without lifeboat. */
export function rotateKeyPaper(context: RotateKeyContext, state: string): readonly PaperStep[] {
  return paperFrom(PLAN, ['done', 'unproven', 'stopped'], context, state);
}

const KEY = 'NEW_KEY';

const WAITING = ['waitingForBackup', 'waitFailed'];
const OPENING = ['downloading', 'downloadFailed', 'verifying', 'weighingKey', 'verifyFailed'];

const PLAN: readonly PaperPart<RotateKeyContext>[] = [
  lookPart(['checking', 'checkFailed', 'sorting', 'blocked'], 'instance', ({ instance }) => instance),
  {
    states: ['weighingOld', 'offeringOldProof', 'fetchingOld', 'verifyingOld', 'oldProofFailed'],
    steps: proveOld,
  },
  { states: ['choosingKey', 'enteringKey', 'storing', 'readingBack', 'storeFailed'], steps: chooseKey },
  {
    states: [
      ...['refreshing', 'confirming', 'rechecking', 'comparing'],
      ...['settingKey', 'weighingAnswer', 'keyUncertain', 'setFailed', 'keyNotInForce'],
    ],
    steps: setKey,
  },
  {
    states: ['creatingBackup', 'weighingBackup', 'backupInDoubt', 'backupFailed', ...WAITING],
    steps: (context, at, state) => backupSteps(newBackup(context, state), at ?? 'creatingBackup'),
  },
  {
    states: OPENING,
    steps: (context, at, state) => [openNew(context, at, state)],
  },
  recordPart(
    ['testingOldKeys', 'weighingNegative', 'negativeFailed', 'recording', 'recordFailed'],
    'Keep the old key as long as a backup made with it is kept. Write down: when the key was changed, the id of the new backup, its SHA-256, that the new key opened it, and in which two places the new key is kept.',
  ),
];

function proveOld({ facts, instance }: RotateKeyContext, at: string | undefined): PaperStep[] {
  const newest = facts?.newest;
  if (newest === undefined) return [];
  const step = openStep({
    state: at ?? 'offeringOldProof',
    on: 'instance',
    id: { known: String(newest.id) },
    key: 'OLD_KEY',
    which: `the key of ${instance} that is in force now${fingerprinted(facts?.currentKey)}`,
  });
  return [
    {
      ...step,
      title: `prove the newest backup, ${newest.id}, while its key is still in force`,
      notes: [
        'After the change it may not be possible to download it any more. Skip it when it does not matter.',
      ],
    },
  ];
}

function chooseKey({ instance, facts }: RotateKeyContext, at: string | undefined): PaperStep[] {
  const least = facts?.ground.minKeyLength;
  return [
    {
      state: at ?? 'choosingKey',
      title: 'choose the new key, and keep it in two safe places',
      notes: [
        `Who loses the key loses the backups of ${instance}: the service never gives it back.`,
        ...(least === undefined ? [] : [`It needs at least ${least} characters.`]),
      ],
      actions: [
        { do: 'choose-key', as: KEY, what: `the new key of ${instance}` },
        { do: 'by-hand', what: 'Put the key into two safe places, and read it back from both.' },
      ],
    },
  ];
}

function setKey(context: RotateKeyContext, at: string | undefined): PaperStep[] {
  const { instance } = context;
  const maySet = at !== undefined && !['refreshing', 'confirming'].includes(at);
  return [
    {
      state: at ?? 'confirming',
      title: `set the new key of ${instance}`,
      notes: [
        'Backups from now on are made with the new key; older ones keep the key they were made with.',
        ...(maySet
          ? [
              'It may have been set already. To set the same key again changes nothing; never set another one now.',
            ]
          : []),
        'Way back: set the old key again the same way.',
      ],
      actions: [
        askForKey(context),
        { do: 'call', on: 'instance', method: 'GET', path: '' },
        { do: 'confirm-name', name: instance, what: `The encryption key of ${instance} is replaced.` },
        {
          do: 'call',
          on: 'instance',
          method: 'PATCH',
          path: '/backups-config',
          body: { encryption_key: { secret: KEY } },
        },
      ],
    },
  ];
}

function openNew(context: RotateKeyContext, at: string | undefined, state: string): PaperStep {
  return openStep({
    state: at ?? 'downloading',
    on: 'instance',
    id: backupValue(newBackup(context, state)),
    key: KEY,
    which: newKeyWords(context),
    file: at === undefined ? undefined : context.file?.path,
  });
}

function askForKey(context: RotateKeyContext): PaperAction {
  return { do: 'ask-secret', as: KEY, what: newKeyWords(context) };
}

function newKeyWords({ instance, key }: RotateKeyContext): string {
  if (key === undefined) return `the new key of ${instance}`;
  return `the new key of ${instance}${fingerprinted(key.fingerprint)}, as it was stored (in ${key.store}) or escrowed`;
}

function fingerprinted(fingerprint: string | undefined): string {
  return fingerprint === undefined ? '' : `, fingerprint ${fingerprint}`;
}

/** A backup that was made before the key was set once more is not the one. */
function newBackup({ backup, facts }: RotateKeyContext, state: string): BackupOnPaper {
  return {
    title: 'ask for a backup under the new key',
    on: 'instance',
    variable: 'NEW_BACKUP',
    landed: [...WAITING, ...OPENING].includes(state) ? backup?.id : undefined,
    before: facts?.ground.newestBackup,
  };
}
