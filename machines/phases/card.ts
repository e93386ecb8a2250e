import { assign } from 'xstate';
import * as z from 'zod';
import { isGuidOf, provenOnRecord, restoredSide } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { cardFallback } from '../fallback/disaster-recovery.ts';
import { currentFollowUpsFallback } from '../fallback/follow-ups.ts';
import { CardDraft, CardOnRecord } from '../parts/recovery-data.ts';
import { changed } from '../setup.ts';
import { FOLLOW_UPS_OPEN } from './asking.ts';
import { closing } from './backup.ts';
import { when } from './guards.ts';
import { NO_GUID } from './guid.ts';
import { closed } from './open-follow-ups.ts';
import { type Exits, type Phase, phase, state, to } from './phase.ts';
import { provenBackup } from './prove.ts';
import { task } from './task.ts';

export const CardSlice = () =>
  z.object({
    onRecord: CardOnRecord().optional(),
    card: CardDraft().optional(),
    /** The guid that the service gave, and whether the ids of the backups begin with it. */
    guid: z.string().optional(),
    crossCheck: z.enum(['agrees', 'unknown', 'overridden']).optional(),
  });

const MAKE_CARD_WORDS = {
  recording: { title: 'writing the recovery card' },
  recordingFailed: {
    title: 'the card is not written',
    ways: {
      retry: 'writes the card again',
      skip: { disabled: 'a card that is not recorded cannot be used' },
      markDone: { disabled: 'only lifeboat writes this record' },
    },
  },
} as const;

export function makeCard({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  return phase({ title: 'make the recovery card', fallback: cardFallback, exits }, (step) =>
    task('recording', {
      verb: 'recordCard',
      ...MAKE_CARD_WORDS.recording,
      input: (context) => ({ card: preparedCard(context) }),
      keep: (context) => changed(context, 'card', { card: preparedCard(context) }),
      next: 'over',
      failed: {
        step,
        ...MAKE_CARD_WORDS.recordingFailed,
        stop: to(exits.stop),
      },
    }),
  );
}

interface RenewCard {
  readonly on?: 'target';
  readonly exits: Exits;
}

const RENEW_CARD_WORDS = {
  asking: { title: 'asking for the guid of its backups', wayBack: 'it changes nothing' },
  askingFailed: {
    title: 'the recovery card is not renewed',
    ways: {
      retry: 'asks for the guid again, which changes nothing',
      skip: 'the card on record stays the one from before the restore',
      markDone: 'which card was made, and where is it kept?',
      stop: { disabled: FOLLOW_UPS_OPEN },
    },
  },
  recording: { title: 'writing the recovery card' },
} as const;

export function renewCard({ on, exits }: RenewCard): Phase {
  const closes = 'renew-card';
  const head = {
    title: 'renew the recovery card',
    like: 'renew-card',
    slice: 'rebind' as const,
    fallback: currentFollowUpsFallback,
    exits,
  };
  return phase(head, (step) => ({
    ...task('asking', {
      verb: 'prepareRecovery',
      id: 'renewCard',
      ...RENEW_CARD_WORDS.asking,
      calls: [
        {
          method: 'POST',
          path: '/disaster-recovery/prepare',
          what: 'the guid, without a key',
          optional: on === undefined ? true : undefined,
          on,
          needs: 'no key is in the body, so none is changed',
        },
      ],
      input: () => ({ on }),
      keep: (context, { backupGuid }) => changed(context, 'card', { guid: backupGuid }),
      next: 'evaluating',
      failed: {
        step,
        ...RENEW_CARD_WORDS.askingFailed,
        next: 'over',
        stop: undefined,
        on: closing(closes, 'over'),
      },
    }),
    evaluating: state({
      meta: { title: 'checking the guid' },
      always: [
        {
          guard: when('there is no guid', ({ card }) => card.guid === undefined),
          target: 'askingFailed',
          actions: assign({ failure: NO_GUID }),
        },
        {
          guard: when(
            'the guid is that of others',
            ({ card, fresh }) => isGuidOf(card.guid, fresh.backup?.backupId) === false,
          ),
          target: 'askingFailed',
          actions: assign({
            failure: ({ context: { card, fresh } }) => ({
              code: 'recovery.guid-mismatch',
              shortMessage: `the guid ${card.guid} is not that of backup ${fresh.backup?.id}`,
              hints: ['a card with a wrong guid would recover other data: nothing is recorded'],
              evidence: { guid: card.guid ?? null, backupId: fresh.backup?.backupId ?? null },
            }),
          }),
        },
        { target: 'recording' },
      ],
    }),
    ...task('recording', {
      verb: 'recordCard',
      id: 'recordNewCard',
      ...RENEW_CARD_WORDS.recording,
      input: (context) => ({ card: renewedCard(context), on }),
      keep: (context) => ({
        ...changed(context, 'card', { card: renewedCard(context) }),
        ...closed(context, closes, {
          how: 'run',
          text: `the card of guid ${context.card.guid} is on record`,
        }),
      }),
      next: 'over',
      failed: 'askingFailed',
    }),
  }));
}

function renewedCard(context: RunContext): CardDraft {
  const { fresh, preflight, target } = context;
  const { guid = '', onRecord } = context.card;
  const renewed = {
    backupGuid: guid,
    crossCheck: isGuidOf(guid, fresh.backup?.backupId) ? 'agrees' : 'unknown',
    newest: fresh.backup,
  } as const;
  if (restoredSide(context) === 'target') {
    const { instanceId, serviceId, planId } = target.facts?.identity ?? {};
    return { ...renewed, instanceId, serviceId, planId };
  }
  const { fingerprint, proven } = onRecord?.card ?? {};
  return {
    ...renewed,
    ...identityOf(context),
    fingerprint: preflight.facts?.currentKey ?? fingerprint,
    proven,
  };
}

function preparedCard(context: RunContext): CardDraft {
  const { preflight, key, proof } = context;
  const { guid = '', crossCheck = 'unknown' } = context.card;
  const proven = provenNow(context) ?? provenOnRecord(context);
  return {
    backupGuid: guid,
    ...identityOf(context),
    fingerprint:
      proof.verification?.opens ??
      key.stored?.fingerprint ??
      preflight.facts?.currentKey ??
      proven?.fingerprint,
    proven,
    newest: provenBackup(context),
    crossCheck,
  };
}

function provenNow(context: RunContext): CardDraft['proven'] {
  const backup = provenBackup(context);
  const { verification } = context.proof;
  if (backup === undefined || verification === undefined) return undefined;
  const { id, backupId, triggeredAt } = backup;
  return { id, backupId, triggeredAt, fingerprint: verification.opens };
}

function identityOf({ preflight: { facts }, card: { onRecord } }: RunContext) {
  const { id, offering, plan } = facts?.service ?? {};
  const { instanceId, serviceId, planId } = onRecord?.card ?? {};
  return { instanceId: id ?? instanceId, serviceId: offering ?? serviceId, planId: plan ?? planId };
}
