import type { PaperPart } from '../../parts/paper-plan.ts';
import type { PaperAction, PaperStep } from '../../parts/paper-step.ts';
import type { RecoveryContext } from '../context.ts';
import {
  type BackupOnPaper,
  backupStates,
  backupSteps,
  backupValue,
  lookPart,
  openStep,
  recordPart,
} from './backing-up.ts';
import { fingerprinted, landedIn } from './known.ts';

const PROOF = backupStates('Proof');
const KEY = 'NEW_KEY';

/** In peace time: what it takes to recover the instance without it. */
export const preparingParts: readonly PaperPart<RecoveryContext>[] = [
  lookPart(
    [
      'weighingMode',
      'checking',
      'checkFailed',
      'sorting',
      'blocked',
      'readingRecord',
      'readingRecordFailed',
      'weighingRecord',
    ],
    'instance',
    ({ instance }) => instance,
  ),
  {
    states: [
      ...['choosingPreparation', 'choosingKey', 'enteringKey', 'storing', 'readingBack', 'storeFailed'],
      ...['confirmingKey', 'recheckingKey', 'comparingKey', 'keyFailed', 'preparing', 'preparingWithKey'],
      ...['weighingPreparation', 'keyUncertain', 'prepareFailed', 'keyNotInForce'],
    ],
    steps: (context, at) => [prepare(context, at)],
  },
  {
    states: ['crossChecking', 'guidMismatch'],
    steps: (context, at) => [
      {
        state: at ?? 'crossChecking',
        title: 'see that the guid is the right one',
        notes: [
          `The backup_id of each backup begins with the backup_guid${context.guid === undefined ? '' : `, which is ${context.guid}`}. Stop when they differ.`,
        ],
        actions: [{ do: 'call', on: 'instance', method: 'GET', path: '/backups' }],
      },
    ],
  },
  {
    states: ['weighingProof', 'offeringProof', ...PROOF.asking, ...PROOF.waiting],
    steps: (context, at, state) => backupSteps(proof(context, state), at ?? 'offeringProof'),
  },
  {
    states: ['downloading', 'downloadFailed', 'verifying', 'verifyFailed', 'weighingKey'],
    steps: (context, at, state) => [
      openStep({
        state: at ?? 'downloading',
        on: 'instance',
        id: backupValue(proof(context, state)),
        key: KEY,
        which: `the key of ${context.instance}${fingerprinted(context.key?.fingerprint ?? context.facts?.currentKey)}`,
        file: at === undefined ? undefined : context.file?.path,
      }),
    ],
  },
  recordPart(
    [...['recordingProof', 'recordProofFailed', 'recordingCard', 'recordCardFailed', 'weighingPrepared']],
    'This is the recovery card. Write down, and keep away from the instance: backup_guid, service_id and plan_id, which key (and where it is kept), the id, backup_id and SHA-256 of the backup that it opened, and today.',
  ),
];

function prepare(context: RecoveryContext, at: string | undefined): PaperStep {
  const { instance } = context;
  const rotates = at !== 'preparing' && (context.keyOrigin !== undefined || context.key !== undefined);
  const plain: PaperAction = {
    do: 'call',
    on: 'instance',
    method: 'POST',
    path: '/disaster-recovery/prepare',
    ...(rotates ? { body: { encryption_key: { secret: KEY } } } : { body: {} }),
    keep: { field: 'backup_guid', as: 'BACKUP_GUID' },
  };
  const keyed: PaperAction[] = [
    context.key === undefined
      ? { do: 'choose-key', as: KEY, what: `the new key of ${instance}` }
      : {
          do: 'ask-secret',
          as: KEY,
          what: `the new key of ${instance}${fingerprinted(context.key.fingerprint)}`,
        },
    { do: 'confirm-name', name: instance, what: `The encryption key of ${instance} is replaced.` },
  ];
  return {
    state: at ?? 'preparing',
    title: `ask for the backup_guid of ${instance}`,
    notes: rotates
      ? [
          'With a key in its body this call replaces the key: keep it in two safe places first. The same key twice changes nothing.',
        ]
      : ['Without a key in its body nothing is changed by it.'],
    actions: [...(rotates ? keyed : []), plain],
  };
}

function proof(context: RecoveryContext, state: string): BackupOnPaper {
  const newest = context.card?.newest ?? context.facts?.newest;
  const landed = landedIn(context.proof, PROOF.asking, state);
  return {
    title: `back up ${context.instance}, to prove it`,
    on: 'instance',
    variable: 'PROOF_BACKUP',
    landed,
    before: context.facts?.ground.newestBackup,
    ...(newest === undefined || landed !== undefined
      ? {}
      : {
          notes: [
            `Where backup ${newest.id} is good enough to be proven, give its id instead of asking for another one.`,
          ],
        }),
  };
}
