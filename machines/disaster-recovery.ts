import { lookAfter } from './recovery/after.ts';
import { keepBefore, readRecord } from './recovery/before.ts';
import { check } from './recovery/check.ts';
import { startingContext } from './recovery/context.ts';
import { expectedOrigin } from './recovery/expected-origin.ts';
import { failOrDoubt } from './recovery/failing.ts';
import { freshBackup, freshCard } from './recovery/fresh.ts';
import { owing } from './recovery/owing.ts';
import { prepareGuid } from './recovery/prepare.ts';
import { prepareKey } from './recovery/prepare-key.ts';
import { prepareProof } from './recovery/prepare-proof.ts';
import { rebinding } from './recovery/rebind.ts';
import { recording } from './recovery/record.ts';
import { restoreTask } from './recovery/restore-task.ts';
import { recovery } from './recovery/setup.ts';
import { chooseSource } from './recovery/source.ts';
import { confirmTarget, inspectTarget } from './recovery/target.ts';

const on = 'target' as const;

/**
 * Recover an instance without it. In peace time a card is made: guid, key, a proven backup. In the disaster the card, or what is typed, is all that
 * is needed: nothing of the source is called, and the target is pinned from the moment that it was looked at.
 */
export const disasterRecoveryMachine = recovery.createMachine({
  id: 'disaster-recovery',
  version: '1',
  context: ({ input }) => startingContext(input),
  initial: 'weighingMode',
  states: {
    weighingMode: recovery.createStateConfig({
      meta: { step: 'preflight', title: 'which half is walked' },
      always: [{ guard: 'isPerform', target: 'readingCard' }, { target: 'checking' }],
    }),
    ...check({ tolerant: true, next: 'readingRecord' }),
    ...readRecord({ state: 'readingRecord', step: 'preflight', next: 'choosingPreparation' }),
    ...prepareKey({ next: 'preparingWithKey' }),
    ...prepareGuid({ next: 'weighingRecord' }),
    ...prepareProof({ next: 'weighingPrepared' }),
    weighingPrepared: recovery.createStateConfig({
      meta: { step: 'card', title: 'whether the recovery follows now' },
      always: [{ guard: 'isPrepare', target: 'prepared' }, { target: 'readingCard' }],
    }),
    prepared: recovery.createStateConfig({
      type: 'final',
      tags: ['done'],
      meta: { step: 'card', title: 'prepared' },
    }),
    ...readRecord({ state: 'readingCard', step: 'source', next: 'weighingCard' }),
    ...chooseSource({ next: 'inspectingTarget' }),
    ...inspectTarget({ next: 'countingBefore' }),
    ...keepBefore({ next: 'confirming' }),
    ...confirmTarget({ next: 'restoring' }),
    restoring: recovery.createStateConfig({
      tags: ['destructive'],
      meta: {
        step: 'restore',
        title: 'asking for the recovery',
        slice: 'execute',
        calls: [
          { method: 'GET', path: '/restores', what: 'what is there before', on },
          {
            method: 'POST',
            path: '/disaster-recovery/perform',
            what: 'one recovery of the chosen backup, with its key',
            on,
            needs: 'the name of the target was typed, and it has not changed since',
            forever: 'everything that the target holds now is replaced',
          },
        ],
        wayBack: 'none for the target; the source and its backups are not touched',
      },
      invoke: {
        id: 'restore',
        src: 'performRecovery',
        input: ({ context }) => {
          const { restore, from, instance } = context;
          const expectFrom = expectedOrigin(from?.guid, context.onRecord);
          return {
            on,
            intent: `restore-${restore.intents}`,
            backupGuid: from?.guid ?? '',
            fingerprint: from?.fingerprint ?? '',
            source: instance,
            ...(expectFrom === undefined ? {} : { expectFrom }),
          };
        },
        onDone: {
          target: 'weighingRestore',
          actions: {
            type: 'keepTriggered',
            params: ({ event }) => ({ task: 'restore' as const, output: event.output }),
          },
        },
        onError: failOrDoubt('restoreInDoubt', 'restoreFailed'),
      },
    }),
    ...restoreTask({ again: 'inspectingTarget', on, next: 'countingAfter' }),
    ...lookAfter({ on, next: 'weighingOwed' }),
    ...owing({ next: 'recording', fresh: 'takingFresh', card: 'renewingCard' }),
    ...rebinding,
    ...freshBackup({ on, next: 'weighingOwed' }),
    ...freshCard({ on, next: 'weighingOwed' }),
    ...recording({ runbook: 'disaster-recovery', both: true }),
  },
});
