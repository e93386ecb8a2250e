import { restoredName } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackAction, FallbackField } from '../parts/fallback-step.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import { fingerprinted } from './known.ts';
import type { ManualRestore } from './restoring.ts';

const KEY = 'SOURCE_KEY';
const GUID = 'BACKUP_GUID';
const GUID_WORDS = 'the backup_guid of the instance that is lost, or the backup_id of one backup of it';

/** What has to be at hand. Nothing of the source is called, because it may be gone. */
export const sourceFallback: FallbackPart<RunContext> = (context, at) => [
  {
    state: at ?? 'source',
    title: 'have the guid and the key ready',
    notes: [
      `They are on the recovery card of ${context.run.instance}. Without the key nothing can be recovered.`,
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

/** What has to hold of the target. */
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
        ...(identity?.instanceId === undefined ? [] : [`When it was checked it was ${identity.instanceId}.`]),
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
