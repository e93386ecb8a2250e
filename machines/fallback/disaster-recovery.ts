import { restoredName } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { FallbackAction } from '../parts/fallback-step.ts';
import { keyFactorWords } from '../parts/recovery-data.ts';
import type { FallbackPart } from '../parts/runbook.ts';
import type { ManualRestore } from './restoring.ts';
import { fingerprinted, instanceNow, knownOr, recordFallback, stepFor } from './steps.ts';

const KEY = 'SOURCE_KEY';
const GUID = 'BACKUP_GUID';
const GUID_WORDS = 'the backup_guid of the instance that is lost, or the backup_id of one backup of it';

/** Calls nothing of the source, which may be gone. */
export const sourceFallback: FallbackPart<RunContext> = (left) => {
  const { context } = left;
  const guid = guidOf(context);
  const key = context.card.onRecord?.card?.key;
  return [
    stepFor(
      left,
      'have the guid and the key ready',
      [
        ...(guid === undefined ? [{ do: 'ask' as const, as: GUID, what: GUID_WORDS }] : []),
        askForKey(context),
      ],
      [
        `The recovery card of ${context.run.instance}, if there is one, has the guid and says which key. The key itself is not on the card, and nothing can be recovered without it.`,
        ...(guid === undefined ? [] : [`The guid is ${guid}.`]),
        ...(key === undefined ? [] : [`When the card was made, the key was ${keyFactorWords(key)}.`]),
      ],
    ),
  ];
};

export const recoverByHand: ManualRestore = {
  verb: 'performRecovery',
  name: restoredName,
  lost: ({ context }) =>
    `All data of ${restoredName(context)} is replaced by that of ${context.run.instance}${what(context)}.`,
  before: (left) => [askForKey(left.context), ...instanceNow(left, 'inspectTarget')],
  values: ({ context }) => ({
    body: {
      backup_guid: knownOr(guidOf(context), GUID, GUID_WORDS),
      encryption_key: { secret: KEY },
    },
  }),
  field: 'restore_id',
};

export const targetFallback: FallbackPart<RunContext> = (left) => {
  const { context } = left;
  const { identity } = context.target.facts ?? {};
  const { card, onRecord } = context.card;
  const service = card?.serviceId ?? onRecord?.card?.serviceId ?? identity?.serviceId;
  return [
    stepFor(left, `look at ${restoredName(context)}, which takes over`, left.calls.looks('inspectTarget'), [
      `It has to be available, of the same service and plan${service === undefined ? '' : ` (service_id ${service})`}, empty, with enough disk, and not ${context.run.instance} itself.`,
      ...(identity?.instanceId === undefined ? [] : [`Its id at the check was ${identity.instanceId}.`]),
    ]),
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

function what({ source: { from } }: RunContext): string {
  if (from === undefined) return '';
  return from.what === 'newest' ? ', as of its newest backup' : `, as of backup ${from.guid}`;
}

export const cardFallback = recordFallback(
  'This is the recovery card. Write down, and keep away from the instance: backup_guid, service_id and plan_id, which key (and where it is kept), the id, backup_id and SHA-256 of the backup that it opened, and today.',
);
