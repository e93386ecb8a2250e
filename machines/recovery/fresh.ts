import { assign } from 'xstate';
import { OWING } from './ask.ts';
import { backupTask } from './backup-task.ts';
import { renewedCard } from './card-draft.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

interface Fresh {
  readonly on?: 'target' | undefined;
  readonly next: string;
}

/** A backup of the restored data: what was there before belongs to another past. */
export function freshBackup({ on, next }: Fresh) {
  return backupTask({
    task: 'fresh',
    name: 'Fresh',
    step: 'fresh',
    what: 'the restored data',
    on,
    slice: 'rebind',
    next,
    settles: 'fresh-backup',
    without: {
      target: next,
      hint: 'until the next scheduled backup the restored data cannot be brought back',
    },
    needs: 'the restore is done and the instance is available',
  });
}

/** The recovery card of the restored instance, made anew. */
export function freshCard({ on, next }: Fresh) {
  // In a recovery into a target the card's own step lies behind, with the card of the source.
  const step = on === undefined ? 'card' : 'fresh';
  const side = on === undefined ? {} : { on };
  return {
    renewingCard: recovery.createStateConfig({
      meta: {
        step,
        title: 'asking for the guid of its backups',
        slice: 'rebind',
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
      },
      invoke: {
        id: 'renewCard',
        src: 'prepareRecovery',
        input: side,
        onDone: {
          target: 'weighingNewCard',
          actions: assign({ guid: ({ event }) => event.output.backupGuid, failure: undefined }),
        },
        onError: failTo('cardFailed'),
      },
    }),
    weighingNewCard: recovery.createStateConfig({
      meta: { step, title: 'weighing the guid' },
      always: [
        {
          guard: 'hasNoGuid',
          target: 'cardFailed',
          actions: assign({
            failure: {
              code: 'recovery.no-guid',
              shortMessage: 'the service gave no guid for the backups',
              hints: ['ask again, or look for it in the dashboard'],
              evidence: {},
            },
          }),
        },
        {
          guard: 'freshDisagrees',
          target: 'cardFailed',
          actions: assign({
            failure: ({ context }) => ({
              code: 'recovery.guid-mismatch',
              shortMessage: `the guid ${context.guid} is not that of backup ${context.fresh.backup?.id}`,
              hints: ['a card with a wrong guid would recover other data: nothing is recorded'],
              evidence: { guid: context.guid ?? null, backupId: context.fresh.backup?.backupId ?? null },
            }),
          }),
        },
        { target: 'recordingNewCard' },
      ],
    }),
    recordingNewCard: recovery.createStateConfig({
      meta: { step, title: 'writing the recovery card', slice: 'rebind' },
      invoke: {
        id: 'recordCard',
        src: 'recordCard',
        input: ({ context }) => ({ card: renewedCard(context), ...side }),
        onDone: {
          target: next,
          actions: [
            assign({ card: ({ context }) => renewedCard(context) }),
            {
              type: 'settleByRun',
              params: ({ context }) => ({
                id: 'renew-card',
                text: `the card of guid ${context.guid} is on record`,
              }),
            },
          ],
        },
        onError: failTo('cardFailed'),
      },
    }),
    cardFailed: failure({
      step,
      title: 'the recovery card is not renewed',
      retry: 'renewingCard',
      next,
      settles: 'renew-card',
      ways: {
        retry: 'asks for the guid again; nothing is changed by it',
        skip: 'the card on record is that of before the restore',
        markDone: 'which card was made, and where is it kept?',
        stop: { disabled: OWING },
      },
    }),
  };
}
