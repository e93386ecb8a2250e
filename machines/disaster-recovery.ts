import { isLookedAt, isRecovered } from './closing/evaluate.ts';
import { stakesOfKey } from './closing/stakes.ts';
import type { RunContext } from './context.ts';
import { recoverByHand } from './fallback/disaster-recovery.ts';
import { lazyMachine } from './lazy-machine.ts';
import { countAfter, freshBackup } from './phases/after-restore.ts';
import { available } from './phases/available.ts';
import { keepBefore } from './phases/before.ts';
import { makeCard, renewCard } from './phases/card.ts';
import { confirm } from './phases/confirm.ts';
import { followUpsOfRestore } from './phases/follow-ups.ts';
import { when } from './phases/guards.ts';
import { learnGuid } from './phases/guid.ts';
import { escrow, keepsEscrow, offerNewKey } from './phases/key.ts';
import { ending, only, phases } from './phases/phase.ts';
import { preflightAndRecord } from './phases/preflight.ts';
import { proofBackup } from './phases/proof-backup.ts';
import { proveAndRecord } from './phases/prove.ts';
import { recordRecoveryInBoth } from './phases/record.ts';
import { restore } from './phases/restore.ts';
import { chooseSource, recoveryInput } from './phases/source.ts';
import { confirmTarget, inspectTarget } from './phases/target.ts';

const prepares = ({ run }: RunContext) => run.mode !== 'perform';
const performs = ({ run }: RunContext) => run.mode !== 'prepare';
const setsKey = ({ key }: RunContext) => key.isWanted;
const escrowsKey = (context: RunContext) => setsKey(context) && keepsEscrow(context);

/**
 * Recovers an instance without calling it. Before a disaster, `prepare` makes a recovery card: the GUID,
 * which key, a proven backup. In the disaster, `perform` needs the key, and the card or a typed GUID. Any
 * change of the target since the last look is confirmed again.
 */
export const disasterRecoveryMachine = lazyMachine({
  id: 'disaster-recovery',
  version: '2',
  initial: 'half',
  states: phases({
    half: () => ({
      meta: { title: 'whether to prepare or to perform' },
      always: [{ guard: when('it is to be prepared', prepares), target: 'preflight' }, { target: 'source' }],
    }),
    ...only(prepares, {
      preflight: preflightAndRecord({ tolerant: true, exits: { done: 'key', stop: 'stopped' } }),
      key: offerNewKey({
        exits: {
          done: [
            { guard: when('a new key goes into escrow', escrowsKey), target: 'escrow' },
            { guard: when('a new key is wanted', setsKey), target: 'confirmKey' },
            { target: 'guid' },
          ],
          stop: 'stopped',
        },
      }),
      ...only(escrowsKey, { escrow: escrow({ exits: { done: 'confirmKey', stop: 'stopped' } }) }),
      ...only(setsKey, {
        confirmKey: confirm({
          order: ({ key, run }) =>
            `prepare ${run.instance} with key ${key.stored?.fingerprint}, which replaces its key`,
          stakes: stakesOfKey,
          exits: { done: 'guid', stop: 'stopped' },
        }),
      }),
      guid: learnGuid({
        exits: {
          done: 'backup',
          again: 'confirmKey:again',
          name: 'confirmKey',
          another: 'backup:another',
          keyOnRecord: 'prove:record',
          stop: 'stopped',
        },
      }),
      backup: proofBackup({ exits: { done: 'prove', withoutProof: 'card', stop: 'stopped' } }),
      prove: proveAndRecord({
        without: 'the card is made without a proven backup',
        exits: { done: 'card', unproven: 'card', notInForce: 'guid:notInForce', stop: 'stopped' },
      }),
      card: makeCard({
        exits: {
          done: [
            { guard: when('it is performed as well', performs), target: 'source' },
            { target: 'prepared' },
          ],
          stop: 'stopped',
        },
      }),
    }),
    ...only(performs, {
      source: chooseSource({ exits: { done: 'target', stop: 'stopped' } }),
      target: inspectTarget({
        on: 'target',
        exits: {
          done: [
            { guard: when('its data was counted before', isLookedAt), target: 'confirm' },
            { target: 'before' },
          ],
          stop: 'stopped',
        },
      }),
      before: keepBefore({ exits: { done: 'confirm', stop: 'stopped' } }),
      confirm: confirmTarget({
        exits: {
          done: 'restore',
          unreadable: 'target:unreadable',
          blocked: 'target:blocked',
          key: 'source:key',
          stop: 'stopped',
        },
      }),
      restore: restore({
        verb: 'performRecovery',
        title: 'asking for the recovery',
        on: 'target',
        input: recoveryInput,
        call: {
          path: '/disaster-recovery/perform',
          what: 'one recovery of the chosen backup, with its key',
          needs: 'the name of the target was typed, and it has not changed since',
          forever: 'everything that the target holds now is replaced',
        },
        wayBack: 'none for the target; the source and its backups are not touched',
        fallback: recoverByHand,
        exits: { done: 'available', again: 'target', stop: 'stopped' },
      }),
      available: available({ on: 'target', by: 'restore', exits: { done: 'count' } }),
      count: countAfter({ on: 'target', exits: { done: 'followUps' } }),
      followUps: followUpsOfRestore({
        title: 'bind the applications to it',
        exits: { done: 'record', 'fresh-backup': 'fresh', 'renew-card': 'renewCard' },
      }),
      fresh: freshBackup({ on: 'target', exits: { done: 'followUps' } }),
      renewCard: renewCard({ on: 'target', exits: { done: 'followUps' } }),
      record: recordRecoveryInBoth({
        runbook: 'disaster-recovery',
        byHand:
          'Write down: the guid, the ids of the restore and of the fresh backup, restored_from, when the last application ran again, and what was lost.',
        exits: {
          done: [
            { guard: when('the recovery is shown', isRecovered), target: 'done' },
            { target: 'unproven' },
          ],
        },
      }),
    }),
    prepared: ending('prepared'),
    done: ending('closed: restored, and no follow-up is open'),
    unproven: ending('closed without proof of the recovery'),
    stopped: ending('stopped'),
  }),
});
