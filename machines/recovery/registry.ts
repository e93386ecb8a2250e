import type { Runbook } from '../parts/runbook.ts';
import {
  BackUpAndVerifyInput,
  ChangeInstanceInput,
  DisasterRecoveryInput,
  type RecoveryContext,
  RestoreBackupInput,
  RestorePointInTimeInput,
} from './context.ts';
import { factsOf } from './facts.ts';
import { closingOfRestore, obligationsOf, plainClosing } from './story.ts';
import { hasActed, isOwed } from './weigh.ts';

/** What the recoveries say of themselves in the same way. */
const TOLD = {
  facts: factsOf,
  failure: (context: RecoveryContext) => context.failure,
  skipped: (context: RecoveryContext) => context.skipped,
  obligations: obligationsOf,
  keys: ({ key, from, verification, restore }: RecoveryContext) => {
    const isRestored = restore.landed !== undefined || restore.outside !== undefined;
    return [
      ...(key === undefined || verification?.opens === key.fingerprint ? [] : [key.fingerprint]),
      ...(from === undefined || from.fingerprint === '' || isRestored ? [] : [from.fingerprint]),
    ];
  },
};

/** Steps after a restore, of every runbook that restores. */
const STEPS_AFTER = [
  { id: 'count', title: 'count the restored data' },
  { id: 'owe', title: 'bind the applications again' },
  { id: 'fresh', title: 'back up the restored data' },
  { id: 'card', title: 'renew the recovery card' },
  { id: 'record', title: 'record it' },
] as const;

/** The states after the send of a restore, when nothing goes wrong. */
const PATH_AFTER = [
  'waitingForRestore',
  'waitingForInstance',
  'countingAfter',
  'listingDuties',
  'owing',
  'unbinding',
  'binding',
  'restaging',
  'renewingKey',
  'takingFresh',
  'waitingForFresh',
  'renewingCard',
  'recordingNewCard',
  'recording',
] as const;

export type RecoveryRunbook<Input> = Omit<Runbook<RecoveryContext, Input>, 'version' | 'machine'>;

export const restoreBackup: RecoveryRunbook<RestoreBackupInput> = {
  ...TOLD,
  id: 'restore-backup',
  title: 'restore a backup into the same instance',
  input: RestoreBackupInput,
  steps: [
    { id: 'preflight', title: 'look at the instance' },
    { id: 'choose', title: 'choose the backup' },
    { id: 'before', title: 'keep what is lost by it' },
    { id: 'safety', title: 'back up the present state' },
    { id: 'confirm', title: 'confirm by name' },
    { id: 'restore', title: 'restore' },
    ...STEPS_AFTER,
  ],
  mainPath: [
    'checking',
    'listingBackups',
    'choosingBackup',
    'readingRecord',
    'countingBefore',
    'savingBindings',
    'offeringSafety',
    'takingSafety',
    'waitingForSafety',
    'refreshing',
    'confirming',
    'rechecking',
    'restoring',
    ...PATH_AFTER,
    'done',
  ],
  closing: closingOfRestore,
};

const CHANGING = [
  'offeringSafety',
  'takingSafety',
  'waitingForSafety',
  'refreshing',
  'confirming',
  'rechecking',
];

export const restorePointInTime: RecoveryRunbook<RestorePointInTimeInput> = {
  ...TOLD,
  id: 'restore-point-in-time',
  title: 'bring an instance back to a point in time',
  input: RestorePointInTimeInput,
  steps: restoreBackup.steps.map((step) =>
    step.id === 'choose' ? { id: 'choose', title: 'choose the moment' } : step,
  ),
  mainPath: [
    'checking',
    'readingRange',
    'choosingTime',
    'readingRecord',
    'countingBefore',
    'savingBindings',
    ...CHANGING,
    'rereadingRange',
    'restoring',
    ...PATH_AFTER,
    'done',
  ],
  closing: closingOfRestore,
};

const PREPARE_PATH = [
  'checking',
  'readingRecord',
  'choosingPreparation',
  'preparing',
  'offeringProof',
  'downloading',
  'verifying',
  'recordingProof',
  'recordingCard',
];

const PERFORM_PATH = [
  'readingCard',
  'choosingSource',
  'choosingKeyForRestore',
  'inspectingTarget',
  'countingBefore',
  'savingBindings',
  'confirming',
  'reinspecting',
  'restoring',
  ...PATH_AFTER,
  'recordingSource',
  'done',
];

export const disasterRecovery: RecoveryRunbook<DisasterRecoveryInput> = {
  ...TOLD,
  id: 'disaster-recovery',
  title: 'recover an instance without it',
  input: DisasterRecoveryInput,
  steps: [
    { id: 'preflight', title: 'look at the instance' },
    { id: 'key', title: 'a new key, if one is wanted' },
    { id: 'prepare', title: 'learn the guid' },
    { id: 'prove', title: 'prove a backup' },
    { id: 'card', title: 'make the recovery card' },
    { id: 'source', title: 'choose what is recovered' },
    { id: 'target', title: 'look at the target' },
    { id: 'before', title: 'keep what is lost by it' },
    { id: 'confirm', title: 'confirm by the name of the target' },
    { id: 'restore', title: 'recover' },
    { id: 'count', title: 'count the recovered data' },
    { id: 'owe', title: 'bind the applications to it' },
    { id: 'fresh', title: 'back up the target' },
    { id: 'record', title: 'record it' },
  ],
  mainPath: [...PREPARE_PATH, ...PERFORM_PATH],
  pathOf: ({ mode }) => {
    if (mode === 'prepare') return [...PREPARE_PATH, 'prepared'];
    return mode === 'perform' ? PERFORM_PATH : [...PREPARE_PATH, ...PERFORM_PATH];
  },
  closing: (context, finalState) =>
    context.mode === 'prepare' ? closingOfCard(context, finalState) : closingOfRestore(context, finalState),
};

function closingOfCard(context: RecoveryContext, finalState: string) {
  const titles = {
    done: `${context.instance} has a recovery card with a proven backup`,
    unproven: `${context.instance} has a recovery card; no backup of it is proven`,
    stopped:
      context.setting === undefined
        ? 'stopped; no card was made'
        : 'stopped after the key was changed; no card was made',
  };
  return plainClosing(
    context,
    finalState,
    titles,
    finalState === 'prepared' && context.card?.proven !== undefined,
  );
}

export const backUpAndVerify: RecoveryRunbook<BackUpAndVerifyInput> = {
  ...TOLD,
  id: 'back-up-and-verify',
  title: 'take a backup and prove it',
  input: BackUpAndVerifyInput,
  steps: [
    { id: 'preflight', title: 'look at the instance' },
    { id: 'backup', title: 'create a backup' },
    { id: 'prove', title: 'read it to its last byte' },
    { id: 'negative', title: 'other keys must fail' },
    { id: 'record', title: 'record the proof' },
  ],
  mainPath: [
    'checking',
    'takingBackup',
    'waitingForBackup',
    'downloading',
    'verifying',
    'testingOtherKeys',
    'recordingProof',
    'done',
  ],
  closing: (context, finalState) => {
    const titles = {
      done: `backup ${context.proof.landed?.id} is proven`,
      unproven: `closed without proof: backup ${context.proof.landed?.id} is not shown to be good`,
      stopped:
        context.proof.landed === undefined
          ? 'stopped; no backup was taken'
          : 'stopped; the backup is unproven',
    };
    return plainClosing(
      context,
      finalState,
      titles,
      finalState === 'done' && context.verification !== undefined,
    );
  },
};

const ACTIONS = { restart: 'restarting', recreate: 'recreating', update: 'updating' } as const;

function changePath(acts: readonly string[], holdsBack: boolean): readonly string[] {
  return [
    'checking',
    ...(holdsBack ? ['askingUpdates', 'offeringFreeze', 'freezingUpdates'] : []),
    'refreshing',
    'confirming',
    'rechecking',
    ...acts,
    'waitingForInstance',
    ...(holdsBack ? ['releasingUpdates'] : []),
    'recording',
    'done',
  ];
}

/** Whether the run holds updates back, or may still be asked to. */
function holdsBack(context: RecoveryContext): boolean {
  const isOpen = context.action !== 'update' && context.updatesChangeable === undefined;
  return isOpen || isOwed(context, 'release-updates');
}

export const changeInstance: RecoveryRunbook<ChangeInstanceInput> = {
  ...TOLD,
  id: 'change-instance',
  title: 'restart, recreate or update an instance',
  input: ChangeInstanceInput,
  steps: [
    { id: 'preflight', title: 'look at the instance' },
    { id: 'freeze', title: 'hold maintenance updates back' },
    { id: 'confirm', title: 'confirm by name' },
    { id: 'act', title: 'restart, recreate or update' },
    { id: 'wait', title: 'wait until it is available' },
    { id: 'release', title: 'allow updates again' },
    { id: 'owe', title: 'what is owed' },
    { id: 'record', title: 'record it' },
  ],
  mainPath: changePath(Object.values(ACTIONS), true),
  pathOf: (context) => {
    const { action } = context;
    const acts = action === undefined ? Object.values(ACTIONS) : [ACTIONS[action]];
    return changePath(acts, holdsBack(context));
  },
  closing: (context, finalState) => {
    const { instance, action, act, ready } = context;
    const grounds = ready?.grounds === undefined ? '' : `: ${ready.grounds}`;
    const titles = {
      done: `the ${action} of ${instance} is done${grounds}`,
      unproven: `closed without proof: the ${action} of ${instance} is not shown to be done`,
      stopped:
        act.landed === undefined && act.outside === undefined
          ? `stopped before the ${action} of ${instance}`
          : `stopped after the ${action} of ${instance} was begun`,
    };
    return plainClosing(context, finalState, titles, finalState === 'done' && hasActed(context));
  },
};
