import type { RunContext } from '../context.ts';
import type { FallbackAction } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { innerOf } from '../phases/phase.ts';
import { backupSteps, mainBackup, NEW_KEY } from './backing-up.ts';
import { fingerprinted } from './known.ts';
import { recordFallback } from './looking.ts';

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
        : ['Without a key in its body nothing is changed by it.'],
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

/** The card itself. */
export const cardFallback = recordFallback(
  'This is the recovery card. Write down, and keep away from the instance: backup_guid, service_id and plan_id, which key (and where it is kept), the id, backup_id and SHA-256 of the backup that it opened, and today.',
);
