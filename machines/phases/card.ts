import { assign } from 'xstate';
import { z } from 'zod';
import { isGuidOf, provenOnRecord } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { cardFallback } from '../fallback/disaster-recovery.ts';
import { currentFollowUpsFallback } from '../fallback/follow-ups.ts';
import { CardDraft, CardOnRecord } from '../parts/recovery-data.ts';
import { changed } from '../setup.ts';
import { FOLLOW_UPS_OPEN } from './asking.ts';
import { closing } from './backup.ts';
import { NO_GUID } from './guid.ts';
import { closed } from './open-follow-ups.ts';
import { type Phase, phase, state, type Way } from './phase.ts';
import { provenBackup } from './prove.ts';
import { task } from './task.ts';

export const CardSlice = z.object({
  /** What the ledger has: the card, proven backups, keys. */
  onRecord: CardOnRecord.optional(),
  card: CardDraft.optional(),
  /** The guid that the service gave, and whether the ids of the backups begin with it. */
  guid: z.string().optional(),
  crossCheck: z.enum(['agrees', 'unknown', 'overridden']).optional(),
});

/** The recovery card, with the newest backup that is proven. */
export function makeCard({ onDone }: { readonly onDone: Way }): Phase {
  return phase({ title: 'make the recovery card', fallback: cardFallback, onDone }, (step) =>
    task('recording', {
      verb: 'recordCard',
      title: 'writing the recovery card',
      input: (context) => ({ card: preparedCard(context) }),
      keep: (context) => changed(context, 'card', { card: preparedCard(context) }),
      next: 'over',
      failed: {
        step,
        title: 'the card is not written',
        ways: {
          retry: 'writes the card again',
          skip: { disabled: 'a card that is not recorded cannot be used' },
          markDone: { disabled: 'only lifeboat writes this record' },
        },
      },
    }),
  );
}

interface RenewCard {
  readonly on?: 'target';
  readonly onDone: string;
}

/** The recovery card of the restored instance, made anew. */
export function renewCard({ on, onDone }: RenewCard): Phase {
  const side = on === undefined ? {} : { on };
  const closes = 'renew-card';
  const head = {
    title: 'renew the recovery card',
    like: 'renew-card',
    slice: 'rebind' as const,
    fallback: currentFollowUpsFallback,
    onDone,
  };
  return phase(head, (step) => ({
    ...task('asking', {
      verb: 'prepareRecovery',
      id: 'renewCard',
      title: 'asking for the guid of its backups',
      calls: [
        {
          method: 'POST',
          path: '/disaster-recovery/prepare',
          what: 'the guid, without a key',
          ...(on === undefined ? { optional: true } : {}),
          ...side,
          needs: 'no key is in the body, so none is changed',
        },
      ],
      wayBack: 'nothing is changed by it',
      input: () => side,
      keep: (context, { backupGuid }) => changed(context, 'card', { guid: backupGuid }),
      next: 'evaluating',
      failed: {
        step,
        title: 'the recovery card is not renewed',
        next: 'over',
        ways: {
          retry: 'asks for the guid again; nothing is changed by it',
          skip: 'the card on record stays the one from before the restore',
          markDone: 'which card was made, and where is it kept?',
          stop: { disabled: FOLLOW_UPS_OPEN },
        },
        on: closing(closes, 'over'),
      },
    }),
    evaluating: state({
      meta: { title: 'checking the guid' },
      always: [
        {
          guard: ({ context }) => context.card.guid === undefined,
          target: 'askingFailed',
          actions: assign({ failure: NO_GUID }),
        },
        {
          guard: ({ context: { card, fresh } }) => isGuidOf(card.guid, fresh.backup?.backupId) === false,
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
      title: 'writing the recovery card',
      input: (context) => ({ card: renewedCard(context), ...side }),
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

/** The card of the instance that this run restored, as it is after the restore. */
function renewedCard(context: RunContext): CardDraft {
  const { fresh, preflight, run, target } = context;
  const { guid = '', onRecord } = context.card;
  const checked = { crossCheck: isGuidOf(guid, fresh.backup?.backupId) ? 'agrees' : 'unknown' } as const;
  const newest = fresh.backup === undefined ? {} : { newest: fresh.backup };
  if (run.target.kind === 'other') {
    const { instanceId, serviceId, planId } = target.facts?.identity ?? {};
    return { backupGuid: guid, ...defined({ instanceId, serviceId, planId }), ...checked, ...newest };
  }
  const before = onRecord?.card;
  const fingerprint = preflight.facts?.currentKey ?? before?.fingerprint;
  return {
    backupGuid: guid,
    ...identityOf(context),
    ...defined({ fingerprint, proven: before?.proven }),
    ...checked,
    ...newest,
  };
}

/** The card that `prepare` makes, with the newest backup that is proven. */
function preparedCard(context: RunContext): CardDraft {
  const { facts } = context.preflight;
  const { guid = '', crossCheck = 'unknown' } = context.card;
  const newest = provenBackup(context);
  const proven = provenNow(context) ?? provenOnRecord(context);
  const fingerprint =
    context.proof.verification?.opens ??
    context.key.stored?.fingerprint ??
    facts?.currentKey ??
    proven?.fingerprint;
  return {
    backupGuid: guid,
    ...identityOf(context),
    ...defined({ fingerprint, proven, newest }),
    crossCheck,
  };
}

function provenNow(context: RunContext): CardDraft['proven'] {
  const backup = provenBackup(context);
  const { verification } = context.proof;
  if (backup === undefined || verification === undefined) return undefined;
  const { id, backupId, triggeredAt } = backup;
  return { id, ...defined({ backupId, triggeredAt }), fingerprint: verification.opens };
}

function identityOf({ preflight: { facts }, card: { onRecord } }: RunContext) {
  const { id, offering, plan } = facts?.service ?? {};
  const { instanceId, serviceId, planId } = onRecord?.card ?? {};
  return defined({
    instanceId: id ?? instanceId,
    serviceId: offering ?? serviceId,
    planId: plan ?? planId,
  });
}

/** Nothing is invented for a field that is missing. */
function defined<Fields extends Readonly<Record<string, unknown>>>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Field in keyof Fields]?: Exclude<Fields[Field], undefined>;
  };
}
