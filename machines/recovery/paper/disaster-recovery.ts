import { type PaperPart, paperFrom } from '../../parts/paper-plan.ts';
import type { PaperAction, PaperField, PaperStep } from '../../parts/paper-step.ts';
import type { RecoveryContext } from '../context.ts';
import { recordPart } from './backing-up.ts';
import { keepBindings } from './before.ts';
import { fingerprinted } from './known.ts';
import { owedPart } from './owed.ts';
import { preparingParts } from './preparing.ts';
import { restorePart } from './restoring.ts';

/** The rest of a preparation, a recovery into another instance, or both, for a person without lifeboat. */
export function disasterRecoveryPaper(context: RecoveryContext, state: string): readonly PaperStep[] {
  return paperFrom(PLANS[context.mode ?? 'perform'], OVER, context, state);
}

const OVER = ['prepared', 'done', 'unproven', 'stopped'];
const KEY = 'SOURCE_KEY';
const GUID = 'BACKUP_GUID';
const GUID_WORDS = 'the backup_guid of the instance that is lost, or the backup_id of one backup of it';

/** Nothing of the source is called in any of these, because it may be gone. */
const PERFORMING: readonly PaperPart<RecoveryContext>[] = [
  {
    states: [
      ...['readingCard', 'readingCardFailed', 'weighingCard', 'enteringGuid', 'choosingSource'],
      ...['choosingKeyForRestore', 'enteringKeyForRestore', 'storingKeyForRestore', 'storeForRestoreFailed'],
    ],
    steps: (context, at) => [
      {
        state: at ?? 'choosingSource',
        title: 'have the guid and its key at hand',
        notes: [
          `They are on the recovery card of ${context.instance}. Without the key nothing can be recovered.`,
          ...(guidOf(context) === undefined ? [] : [`The guid is ${guidOf(context)}.`]),
        ],
        actions: [
          ...(guidOf(context) === undefined ? [{ do: 'ask' as const, as: GUID, what: GUID_WORDS }] : []),
          askForKey(context),
        ],
      },
    ],
  },
  {
    states: ['inspectingTarget', 'targetFailed', 'sortingTarget', 'targetBlocked'],
    steps: inspect,
  },
  keepBindings,
  restorePart({
    on: 'target',
    name: targetName,
    lost: (context) =>
      `All data of ${targetName(context)} is replaced by that of ${context.instance}${what(context)}.`,
    before: (context) => [askForKey(context), { do: 'call', on: 'target', method: 'GET', path: '' }],
    call: (context) => ({
      path: '/disaster-recovery/perform',
      body: { backup_guid: guid(context), encryption_key: { secret: KEY } },
    }),
    field: 'restore_id',
  }),
  owedPart,
  recordPart(
    ['recording', 'recordFailed', 'recordingSource', 'weighingEnd'],
    'Write down: the guid, the ids of the restore and of the fresh backup, restored_from, when the last application ran again, and what was lost.',
  ),
];

const PLANS: Readonly<Record<'prepare' | 'perform' | 'both', readonly PaperPart<RecoveryContext>[]>> = {
  prepare: preparingParts,
  perform: PERFORMING,
  both: [...preparingParts, ...PERFORMING],
};

function inspect(context: RecoveryContext, at: string | undefined): PaperStep[] {
  const { identity } = context.targetFacts ?? {};
  const service = context.card?.serviceId ?? context.onRecord?.card?.serviceId ?? identity?.serviceId;
  return [
    {
      state: at ?? 'inspectingTarget',
      title: `look at ${targetName(context)}, which takes over`,
      notes: [
        `It has to be available, of the same service and plan${service === undefined ? '' : ` (service_id ${service})`}, empty, with enough disk, and not ${context.instance} itself.`,
        ...(identity?.instanceId === undefined ? [] : [`When it was checked it was ${identity.instanceId}.`]),
      ],
      actions: [
        { do: 'call', on: 'target', method: 'GET', path: '' },
        { do: 'call', on: 'target', method: 'GET', path: '/backups' },
        { do: 'call', on: 'target', method: 'GET', path: '/restores' },
      ],
    },
  ];
}

function askForKey(context: RecoveryContext): PaperAction {
  const fingerprint =
    context.from?.fingerprint ?? context.card?.fingerprint ?? context.onRecord?.card?.fingerprint;
  const which = `the key with which the backups of ${context.instance} were made`;
  return { do: 'ask-secret', as: KEY, what: `${which}${fingerprinted(fingerprint)}` };
}

function guidOf({ from, card, guid: told, onRecord, asked }: RecoveryContext): string | undefined {
  return from?.guid ?? asked.guid ?? card?.backupGuid ?? told ?? onRecord?.card?.backupGuid;
}

function guid(context: RecoveryContext): PaperField {
  const known = guidOf(context);
  return known === undefined ? { variable: GUID, what: GUID_WORDS } : { known };
}

function what({ from }: RecoveryContext): string {
  if (from === undefined) return '';
  return from.what === 'newest' ? ', as of its newest backup' : `, as of backup ${from.guid}`;
}

function targetName({ target }: RecoveryContext): string {
  return target ?? 'the target';
}
