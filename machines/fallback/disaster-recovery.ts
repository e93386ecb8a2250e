import { restoredName } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackAction, FallbackField } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { innerOf } from '../parts/states.ts';
import { backupSteps, mainBackup, NEW_KEY } from './backing-up.ts';
import type { ManualRestore } from './restoring.ts';
import { fingerprinted, recordFallback } from './steps.ts';

const KEY = 'SOURCE_KEY';
const GUID = 'BACKUP_GUID';
const GUID_WORDS = 'the backup_guid of the instance that is lost, or the backup_id of one backup of it';

/** What has to be at hand. Calls nothing of the source, which may be gone. */
export const sourceFallback: FallbackPart<RunContext> = (context, at) => [
  {
    state: at ?? 'source',
    title: 'have the guid and the key ready',
    notes: [
      `The recovery card of ${context.run.instance}, if there is one, has the guid and says which key. The key itself is not on the card, and nothing can be recovered without it.`,
      ...(guidOf(context) === undefined ? [] : [`The guid is ${guidOf(context)}.`]),
    ],
    actions: [
      ...(guidOf(context) === undefined ? [{ do: 'ask' as const, as: GUID, what: GUID_WORDS }] : []),
      askForKey(context),
    ],
  },
];

/** How it is recovered by hand. */
export const recoverByHand: ManualRestore = {
  on: 'target',
  name: restoredName,
  lost: (context) =>
    `All data of ${restoredName(context)} is replaced by that of ${context.run.instance}${what(context)}.`,
  before: (context) => [askForKey(context), { do: 'call', on: 'target', method: 'GET', path: '' }],
  call: (context) => ({
    path: '/disaster-recovery/perform',
    body: { backup_guid: guid(context), encryption_key: { secret: KEY } },
  }),
  field: 'restore_id',
};

/** Requirements of the target. */
export const targetFallback: FallbackPart<RunContext> = (context, at) => {
  const { identity } = context.target.facts ?? {};
  const { card, onRecord } = context.card;
  const service = card?.serviceId ?? onRecord?.card?.serviceId ?? identity?.serviceId;
  return [
    {
      state: at ?? 'target',
      title: `look at ${restoredName(context)}, which takes over`,
      notes: [
        `It has to be available, of the same service and plan${service === undefined ? '' : ` (service_id ${service})`}, empty, with enough disk, and not ${context.run.instance} itself.`,
        ...(identity?.instanceId === undefined ? [] : [`Its id at the check was ${identity.instanceId}.`]),
      ],
      actions: [
        { do: 'call', on: 'target', method: 'GET', path: '' },
        { do: 'call', on: 'target', method: 'GET', path: '/backups' },
        { do: 'call', on: 'target', method: 'GET', path: '/restores' },
      ],
    },
  ];
};

function askForKey(context: RunContext): FallbackAction {
  const fingerprint =
    context.source.from?.fingerprint ??
    context.card.card?.fingerprint ??
    context.card.onRecord?.card?.fingerprint;
  const which = `the key with which the backups of ${context.run.instance} were made`;
  return { do: 'ask-secret', as: KEY, what: `${which}${fingerprinted(fingerprint)}` };
}

function guidOf({ source, card: known, run: { asked } }: RunContext): string | undefined {
  const { card, guid: learned, onRecord } = known;
  return source.from?.guid ?? asked.guid ?? card?.backupGuid ?? learned ?? onRecord?.card?.backupGuid;
}

function guid(context: RunContext): FallbackField {
  const known = guidOf(context);
  return known === undefined ? { variable: GUID, what: GUID_WORDS } : { known };
}

function what({ source: { from } }: RunContext): string {
  if (from === undefined) return '';
  return from.what === 'newest' ? ', as of its newest backup' : `, as of backup ${from.guid}`;
}

/** The guid by which the backups are recovered elsewhere, with a new key where one was wanted. */
export const guidFallback: FallbackPart<RunContext> = (context, at) => {
  const inner = innerOf(at ?? '');
  if (inner === 'comparing' || inner === 'mismatch') return [compare(context, at ?? '')];
  const { instance } = context.run;
  const { isWanted, stored } = context.key;
  const rotates = inner !== 'asking' && (isWanted || stored !== undefined);
  const plain: FallbackAction = {
    do: 'call',
    on: 'instance',
    method: 'POST',
    path: '/disaster-recovery/prepare',
    ...(rotates ? { body: { encryption_key: { secret: NEW_KEY } } } : { body: {} }),
    keep: { field: 'backup_guid', as: 'BACKUP_GUID' },
  };
  const keyed: FallbackAction[] = [
    stored === undefined
      ? { do: 'choose-key', as: NEW_KEY, what: `the new key of ${instance}` }
      : {
          do: 'ask-secret',
          as: NEW_KEY,
          what: `the new key of ${instance}${fingerprinted(stored.fingerprint)}`,
        },
    { do: 'confirm-name', name: instance, what: `The encryption key of ${instance} is replaced.` },
  ];
  return [
    {
      state: at ?? 'guid',
      title: `ask for the backup_guid of ${instance}`,
      notes: rotates
        ? [
            'With a key in its body this call replaces the key: keep it in two safe places first. The same key twice changes nothing.',
          ]
        : ['Without a key in its body, it changes nothing.'],
      actions: [...(rotates ? keyed : []), plain],
    },
  ];
};

function compare({ card: { guid } }: RunContext, state: string) {
  return {
    state,
    title: 'check that the guid is the right one',
    notes: [
      `The backup_id of each backup begins with the backup_guid${guid === undefined ? '' : `, which is ${guid}`}. Stop when they differ.`,
    ],
    actions: [{ do: 'call', on: 'instance', method: 'GET', path: '/backups' } as const],
  };
}

/** A backup for the card, unless one is there that is good enough. */
export const proofBackupFallback: FallbackPart<RunContext> = (context, at, state) => {
  const newest = context.card.card?.newest ?? context.preflight.facts?.newest;
  const asked = mainBackup(context, state, `back up ${context.run.instance}, to prove it`);
  const notes =
    newest === undefined || asked.landed !== undefined
      ? {}
      : {
          notes: [`If backup ${newest.id} is good enough for the proof, give its id and make no new one.`],
        };
  return backupSteps({ ...asked, ...notes }, at ?? 'backup');
};

/** Writing the card by hand. */
export const cardFallback = recordFallback(
  'This is the recovery card. Write down, and keep away from the instance: backup_guid, service_id and plan_id, which key (and where it is kept), the id, backup_id and SHA-256 of the backup that it opened, and today.',
);
