import { assign } from 'xstate';
import * as z from 'zod';
import { isGuidOf } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { sourceFallback } from '../fallback/disaster-recovery.ts';
import { guidOf, isOneBackup } from '../parts/backup-id.ts';
import { fitOf } from '../parts/recovery-data.ts';
import { opensWords } from '../parts/task-data.ts';
import { changed } from '../setup.ts';
import { choice, type Option, type RunQuestion, stop as stopOption } from './asking.ts';
import { readRecord } from './before.ts';
import { expectedOrigin } from './expected-origin.ts';
import { when } from './guards.ts';
import { door, type Exits, type Phase, phase, state, to } from './phase.ts';
import { task } from './task.ts';

export const SourceSlice = () =>
  z.object({
    from: z
      .object({
        guid: z.string(),
        fingerprint: z.string(),
        what: z.enum(['newest', 'backup']),
        how: z.enum(['card', 'seen', 'typed']),
      })
      .optional(),
  });
type From = NonNullable<z.infer<ReturnType<typeof SourceSlice>>['from']>;

/** Backups of each kind that are offered; any other id can be typed. */
const MAX = 10;

/** No reference gives the form of an id (service-api.md section 2.1), so any pasted word is accepted. */
const ID = { source: '[!-~]{8,200}', says: 'a guid has 8 characters or more, and no spaces' };
const IS_ID = new RegExp(`^(?:${ID.source})$`);

const WORDS = {
  storingKey: { title: 'storing the key under the name of the source' },
  storingKeyFailed: {
    title: 'the key is not kept',
    ways: {
      retry: 'asks for the key once more; nothing has been sent to the service',
      skip: { disabled: 'the recovery takes the key from the key store' },
      markDone: { disabled: 'the key must be readable from here' },
    },
  },
} as const;

/** From the card, from the last list of the instance, or typed. Calls nothing of the source. */
export function chooseSource({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  const stop = to(exits.stop);
  const head = {
    title: 'choose what to recover',
    slice: 'decide' as const,
    fallback: sourceFallback,
    exits,
  };
  const take = (context: RunContext, guid: string) =>
    changed(context, 'source', { from: fromGuid(context, guid) });
  return phase(head, (step) => ({
    ...readRecord(step, 'evaluating', stop),
    evaluating: state({
      meta: { title: 'whether anything of it is on record' },
      always: [
        {
          guard: when('a backup was named at the start', ({ run }) => run.asked.guid !== undefined),
          target: 'choosingKey',
          actions: assign(({ context }) => take(context, context.run.asked.guid ?? '')),
        },
        { guard: when('something is on record', hasSomethingToOffer), target: 'asking' },
        { target: 'enteringGuid' },
      ],
    }),
    asking: state({
      tags: ['question'],
      meta: { title: 'what is recovered', question: askForSource },
      on: {
        'operator.useNewest': {
          target: 'choosingKey',
          actions: assign(({ context }) => take(context, newestGuid(context)?.guid ?? '')),
        },
        'operator.useBackup': {
          target: 'choosingKey',
          actions: assign(({ context, event }) => take(context, event.guid)),
        },
        'operator.typeGuid': 'enteringGuid',
        'operator.stop': stop,
      },
    }),
    enteringGuid: state({
      tags: ['question', 'aside'],
      meta: { title: 'entering the guid', question: askForGuid },
      on: {
        'operator.provideGuid': {
          target: 'choosingKey',
          actions: assign(({ context, event }) => take(context, event.text)),
        },
        'operator.stop': stop,
      },
    }),
    choosingKey: state({
      id: door(step, 'key'),
      tags: ['question'],
      meta: { title: 'the key that the backup was made with', question: askForRestoreKey },
      on: {
        'operator.useKey': {
          target: 'over',
          actions: assign(({ context, event }) => withKey(context, event.fingerprint)),
        },
        'operator.enterKey': 'enteringKey',
        'operator.stop': stop,
      },
    }),
    enteringKey: state({
      tags: ['question', 'aside'],
      meta: { title: 'entering the key', question: askForKey },
      on: {
        'operator.provideKey': {
          target: 'storingKey',
          actions: assign(({ context, event: { fingerprint, length } }) =>
            changed(context, 'key', { given: { fingerprint, length } }),
          ),
        },
        'operator.back': 'choosingKey',
      },
    }),
    ...task('storingKey', {
      verb: 'storeKey',
      id: 'storeKeyForRestore',
      ...WORDS.storingKey,
      input: ({ key: { given } }) => ({ origin: 'given' as const, given, minLength: 1 }),
      keep: (context, { fingerprint }) => withKey(context, fingerprint),
      next: 'over',
      failed: {
        step,
        ...WORDS.storingKeyFailed,
        retry: 'enteringKey',
        stop,
      },
    }),
  }));
}

/** Guid and key, and how to recognise the restore after a lost answer. */
export function recoveryInput({ source: { from }, card, run }: RunContext) {
  return {
    on: 'target' as const,
    backupGuid: from?.guid ?? '',
    fingerprint: from?.fingerprint ?? '',
    source: run.instance,
    expectFrom: expectedOrigin(from?.guid, card.onRecord),
  };
}

/** Empty if there is none. */
function keyOnRecord(context: RunContext): string {
  return fromGuid(context, context.source.from?.guid ?? '').fingerprint;
}

/** A sentence without a full stop. */
export function doubtOfKey(context: RunContext): string | undefined {
  const { fingerprint = '' } = context.source.from ?? {};
  const { card, proven = [] } = context.card.onRecord ?? {};
  const known = keyOnRecord(context);
  if (known !== '' && known !== fingerprint) return `key ${fingerprint} is not the one on record (${known})`;
  const isProven = [...proven, card?.proven].some((one) => one?.fingerprint === fingerprint);
  if (isProven) return undefined;
  const fit = fitOfChosen(context);
  const doubt = `key ${fingerprint} was never proven to open a backup of ${context.run.instance}`;
  if (fit === undefined) return doubt;
  if (fit.key === fingerprint) return `${doubt}, and fits the first block of backup ${fit.id}`;
  return `${doubt}, and key ${fit.key} is the one that fits the first block of backup ${fit.id}`;
}

function withKey(context: RunContext, fingerprint: string): Partial<RunContext> {
  const { from } = context.source;
  return changed(context, 'source', { from: from && { ...from, fingerprint } });
}

/** A `backup_id` means that backup; the guid alone means the newest. */
function fromGuid(context: RunContext, guid: string): From {
  const { card, proven = [] } = context.card.onRecord ?? {};
  const known = proven.find(({ backupId }) => backupId === guid);
  const seen = listedLast(context);
  const isListed = seen.some(({ backupId }) => backupId === guid);
  const isSeen = isListed || seen.some(({ backupId }) => isGuidOf(guid, backupId) === true);
  return {
    guid,
    fingerprint: known?.fingerprint ?? card?.fingerprint ?? '',
    what: known !== undefined || isListed || isOneBackup(guid) ? 'backup' : 'newest',
    how: known !== undefined || card?.backupGuid === guid ? 'card' : isSeen ? 'seen' : 'typed',
  };
}

function listedLast({ card: { onRecord } }: RunContext) {
  return (onRecord?.seen?.backups ?? []).filter(({ backupId = '' }) => IS_ID.test(backupId));
}

/** From the card, or the common beginning of the backups' ids. */
function newestGuid(context: RunContext): { readonly guid: string; readonly hint: string } | undefined {
  const { card, seen } = context.card.onRecord ?? {};
  if (card !== undefined)
    return { guid: card.backupGuid, hint: `by guid ${card.backupGuid}, from the card of ${card.preparedAt}` };
  const [newest] = listedLast(context);
  const guid = guidOf(newest?.backupId);
  if (guid === undefined) return undefined;
  return { guid, hint: `by guid ${guid}, with which the ids of the backups listed at ${seen?.at} begin` };
}

function hasSomethingToOffer(context: RunContext): boolean {
  return context.card.onRecord?.card !== undefined || listedLast(context).length > 0;
}

function askForSource(context: RunContext): RunQuestion {
  const { proven = [], seen } = context.card.onRecord ?? {};
  const newest = newestGuid(context);
  return choice(`which backup of ${context.run.instance} do you want to recover?`, [
    ...(newest === undefined
      ? []
      : [
          {
            event: { type: 'operator.useNewest' } as const,
            label: 'its newest backup',
            hint: newest.hint,
            recommended: true,
          },
        ]),
    ...proven.slice(0, MAX).flatMap(({ backupId, id, triggeredAt, fingerprint }): Option[] =>
      backupId === undefined
        ? []
        : [
            {
              event: { type: 'operator.useBackup', guid: backupId },
              label: `backup ${id} of ${triggeredAt ?? 'an unknown time'}, proven`,
              hint: `opened to its last byte with key ${fingerprint}; everything after it is lost`,
            },
          ],
    ),
    ...listedLast(context)
      .filter(({ backupId }) => !proven.some((other) => other.backupId === backupId))
      .slice(0, MAX)
      .map(
        (backup): Option => ({
          event: { type: 'operator.useBackup', guid: backup.backupId ?? '' },
          label: `backup ${backup.id} of ${backup.triggeredAt ?? 'an unknown time'}, not proven`,
          hint: `listed by the instance at ${seen?.at}; everything after it is lost${opensWords({ opens: fitOf(seen, backup) })}`,
        }),
      ),
    {
      event: { type: 'operator.typeGuid' },
      label: 'enter a guid',
      hint: 'the guid of the backups, or the id of one backup',
    },
    stopOption,
  ]);
}

function isProvenSource({ card: { onRecord }, source: { from } }: RunContext): boolean {
  return (onRecord?.proven ?? []).some(({ backupId }) => backupId === from?.guid);
}

/** The held key that fits the chosen backup, or the newest, by the first block when it was listed last. */
function fitOfChosen(context: RunContext): { readonly key: string; readonly id: number } | undefined {
  const { guid = '' } = context.source.from ?? {};
  const listed = listedLast(context);
  const chosen =
    listed.find(({ backupId }) => backupId === guid) ?? (isOneBackup(guid) ? undefined : listed[0]);
  const fit = chosen && fitOf(context.card.onRecord?.seen, chosen);
  return fit?.key === undefined || chosen === undefined ? undefined : { key: fit.key, id: chosen.id };
}

function askForGuid({ card: { onRecord }, run: { instance } }: RunContext): RunQuestion {
  const prompt =
    onRecord?.card === undefined
      ? `no recovery card of ${instance} is on record: enter the guid of its backups, or the id of one backup`
      : 'enter the guid of the backups, or the id of one backup';
  return {
    kind: 'text',
    prompt,
    event: 'operator.provideGuid',
    pattern: ID,
    options: [stopOption],
  } as RunQuestion;
}

function askForRestoreKey(context: RunContext): RunQuestion {
  const held = context.card.onRecord?.keysHeld ?? [];
  const likely = keyOnRecord(context);
  const lacking = likely !== '' && !held.includes(likely) ? ` (key ${likely} is not held here)` : '';
  const fit = fitOfChosen(context);
  // The bytes count more than a card, which may be older than the key.
  const best = isProvenSource(context) ? likely : (fit?.key ?? likely);
  const hintOf = (fingerprint: string) => {
    const hints = [
      ...(fingerprint === likely ? ['the one on record for it'] : []),
      ...(fingerprint === fit?.key ? [`fits the first block of backup ${fit.id}, which is no proof`] : []),
    ];
    return hints.length === 0 ? 'held here under the name of the source' : hints.join('; ');
  };
  return choice(`which key was the backup made with?${lacking}`, [
    ...held
      .toSorted((one, other) => Number(other === best) - Number(one === best))
      .map(
        (fingerprint): Option => ({
          event: { type: 'operator.useKey', fingerprint },
          label: `key ${fingerprint}`,
          hint: hintOf(fingerprint),
          recommended: fingerprint === best,
        }),
      ),
    { event: { type: 'operator.enterKey' }, label: 'enter a key', hint: 'typed or pasted, never shown' },
    stopOption,
  ]);
}

/** Old keys may be short. Without a known fingerprint, only entering it twice shows a typing error. */
function askForKey(context: RunContext): RunQuestion {
  const known = keyOnRecord(context);
  return {
    kind: 'secret',
    prompt: `the key that the backup was made with${known === '' ? '' : `: ${known} by the record`}`,
    event: 'operator.provideKey',
    twice: known === '',
    isNew: false,
    minLength: 1,
    options: [{ event: { type: 'operator.back' }, label: 'back', hint: 'choose a key that is held' }],
  };
}
