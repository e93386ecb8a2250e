import { isLookedAt } from './closing/evaluate.ts';
import { stakesOfKey } from './closing/stakes.ts';
import type { RunContext } from './context.ts';
import { recoverByHand } from './fallback/disaster-recovery.ts';
import { lazyMachine } from './lazy-machine.ts';
import { afterRestore } from './phases/after-restore.ts';
import { keepBefore } from './phases/before.ts';
import { makeCard } from './phases/card.ts';
import { confirm } from './phases/confirm.ts';
import { when } from './phases/guards.ts';
import { learnGuid } from './phases/guid.ts';
import { newKey } from './phases/key.ts';
import { ending, only, phases } from './phases/phase.ts';
import { preflight } from './phases/preflight.ts';
import { proofBackup } from './phases/proof-backup.ts';
import { prove } from './phases/prove.ts';
import { restore } from './phases/restore.ts';
import { chooseSource, recoveryInput } from './phases/source.ts';
import { confirmTarget, inspectTarget } from './phases/target.ts';

const prepares = ({ run }: RunContext) => run.mode !== 'perform';
const performs = ({ run }: RunContext) => run.mode !== 'prepare';
const setsKey = ({ key }: RunContext) => key.isWanted;

/**
 * Recover an instance without it. Before a disaster, `prepare` makes a recovery card: the guid, which key, a
 * proven backup. In the disaster, `perform` needs the key, and the card or a guid that is typed: nothing of
 * the source is called, and any change of the target since it was looked at is confirmed again.
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
      preflight: preflight({ tolerant: true, withRecord: true, onDone: 'key' }),
      key: newKey({
        offered: true,
        onDone: [{ guard: when('a new key is wanted', setsKey), target: 'confirmKey' }, { target: 'guid' }],
      }),
      ...only(setsKey, {
        confirmKey: confirm({
          order: ({ key, run }) =>
            `prepare ${run.instance} with key ${key.stored?.fingerprint}, which replaces its key`,
          stakes: stakesOfKey,
          onDone: 'guid',
        }),
      }),
      guid: learnGuid({ confirm: 'confirmKey', backup: 'backup', without: 'prove', onDone: 'backup' }),
      backup: proofBackup({ card: 'card', onDone: 'prove' }),
      prove: prove({
        without: { target: 'card', hint: 'the card is made without a proven backup' },
        notInForce: 'guid',
        recorded: true,
        onDone: 'card',
      }),
      card: makeCard({
        onDone: [
          { guard: when('it is performed as well', performs), target: 'source' },
          { target: 'prepared' },
        ],
      }),
    }),
    ...only(performs, {
      source: chooseSource({ onDone: 'target' }),
      target: inspectTarget({
        onDone: [
          { guard: when('its data was counted before', isLookedAt), target: 'confirm' },
          { target: 'before' },
        ],
      }),
      before: keepBefore({ onDone: 'confirm' }),
      confirm: confirmTarget({ target: 'target', source: 'source', onDone: 'restore' }),
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
        again: 'target',
        fallback: recoverByHand,
        onDone: 'available',
      }),
      ...afterRestore({
        runbook: 'disaster-recovery',
        on: 'target',
        byHand:
          'Write down: the guid, the ids of the restore and of the fresh backup, restored_from, when the last application ran again, and what was lost.',
      }),
    }),
    prepared: ending('prepared'),
    done: ending('closed: restored, and no follow-up is open'),
    unproven: ending('closed without proof of the recovery'),
    stopped: ending('stopped'),
  }),
});
