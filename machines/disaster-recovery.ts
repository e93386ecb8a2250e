import { isLookedAt, isRecovered } from './closing/evaluate.ts';
import { begun, type RunContext } from './context.ts';
import { recoveryInFallback } from './fallback/disaster-recovery.ts';
import { followUpsFallback } from './fallback/follow-ups.ts';
import { cardFallback } from './fallback/preparing.ts';
import { available } from './phases/available.ts';
import { keepBefore } from './phases/before.ts';
import { makeCard, renewCard } from './phases/card.ts';
import { confirm } from './phases/confirm.ts';
import { countAfter } from './phases/count.ts';
import { expectedOrigin } from './phases/expected-origin.ts';
import { followUps } from './phases/follow-ups.ts';
import { freshBackup } from './phases/fresh.ts';
import { learnGuid } from './phases/guid.ts';
import { newKey } from './phases/key.ts';
import { ending, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { proofBackup } from './phases/proof-backup.ts';
import { prove } from './phases/prove.ts';
import { recordRecovery } from './phases/record.ts';
import { restore } from './phases/restore.ts';
import { chooseSource } from './phases/source.ts';
import { confirmTarget, inspectTarget } from './phases/target.ts';
import { runbook } from './setup.ts';

const on = 'target' as const;
/** In peace time; in the disaster. */
const prepares = ({ run }: RunContext) => run.mode !== 'perform';
const performs = ({ run }: RunContext) => run.mode !== 'prepare';
const rotates = (context: RunContext) => prepares(context) && context.key.isWanted;

/**
 * Recover an instance without it. In peace time a card is made: guid, key, a proven backup. In the disaster
 * the card, or what is typed, is all that is needed: nothing of the source is called, and the target is
 * pinned from the moment that it was looked at.
 */
export const disasterRecoveryMachine = runbook.createMachine({
  id: 'disaster-recovery',
  version: '2',
  context: begun,
  initial: 'half',
  states: {
    half: {
      meta: { title: 'which half is run' },
      always: [
        { guard: ({ context }) => context.run.mode === 'perform', target: 'source' },
        { target: 'preflight' },
      ],
    },
    ...phases({
      preflight: preflight({ tolerant: true, withRecord: true, when: prepares, onDone: 'key' }),
      key: newKey({
        offered: true,
        when: prepares,
        onDone: [{ guard: ({ context }) => context.key.isWanted, target: 'confirmKey' }, { target: 'guid' }],
      }),
      confirmKey: confirm({
        order: ({ key, run }) =>
          `prepare ${run.instance} with key ${key.stored?.fingerprint}, which replaces its key`,
        when: rotates,
        onDone: 'guid',
      }),
      guid: learnGuid({
        confirm: 'confirmKey',
        backup: 'backup',
        without: 'prove',
        when: prepares,
        onDone: 'backup',
      }),
      backup: proofBackup({ card: 'card', when: prepares, onDone: 'prove' }),
      prove: prove({
        without: { target: 'card', hint: 'the card is made, and no backup of it is proven' },
        notInForce: 'guid',
        recorded: true,
        when: prepares,
        onDone: 'card',
      }),
      card: makeCard({
        when: prepares,
        fallback: cardFallback,
        onDone: [
          { guard: ({ context }) => context.run.mode === 'prepare', target: 'prepared' },
          { target: 'source' },
        ],
      }),
      prepared: ending('prepared'),
      source: chooseSource({ when: performs, onDone: 'target' }),
      target: inspectTarget({
        when: performs,
        onDone: [{ guard: isLookedAt, target: 'confirm' }, { target: 'before' }],
      }),
      before: keepBefore({ when: performs, onDone: 'confirm' }),
      confirm: confirmTarget({ target: 'target', when: performs, onDone: 'restore' }),
      restore: restore({
        verb: 'performRecovery',
        title: 'asking for the recovery',
        on,
        input: (context) => {
          const { guid = '', fingerprint = '' } = context.source.from ?? {};
          const expectFrom = expectedOrigin(context.source.from?.guid, context.card.onRecord);
          return {
            on,
            backupGuid: guid,
            fingerprint,
            source: context.run.instance,
            ...(expectFrom === undefined ? {} : { expectFrom }),
          };
        },
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
        again: 'target',
        when: performs,
        fallback: recoveryInFallback,
        onDone: 'available',
      }),
      available: available({ on, by: 'restore', when: performs, onDone: 'count' }),
      count: countAfter({ on, when: performs, onDone: 'followUps' }),
      followUps: followUps({
        title: 'bind the applications to it',
        restored: true,
        ways: { 'fresh-backup': 'fresh', 'renew-card': 'renewCard' },
        when: performs,
        fallback: followUpsFallback,
        onDone: 'record',
      }),
      fresh: freshBackup({ on, when: performs, onDone: 'followUps' }),
      renewCard: renewCard({ on, when: performs, onDone: 'followUps' }),
      record: recordRecovery({
        runbook: 'disaster-recovery',
        both: true,
        when: performs,
        byHand:
          'Write down: the guid, the ids of the restore and of the fresh backup, restored_from, when the last application ran again, and what was lost.',
        onDone: [{ guard: ({ context }) => isRecovered(context), target: 'done' }, { target: 'unproven' }],
      }),
      done: ending('closed: restored, and no follow-up is open'),
      unproven: ending('closed without proof of the recovery'),
      stopped: ending('stopped'),
    }),
  },
});
