import { type StartWish, touchesOfWish } from './start-wish.ts';

/** Asked in this order before a run can begin. */
export type StartStep = 'situation' | 'instance' | 'target' | 'backup' | 'incident' | 'moment' | 'check';

/** An event or a need, in the words of the person concerned. */
export interface Situation {
  readonly id: string;
  readonly says: string;
  /** One line. */
  readonly does: string;
  readonly needs: string;
  /** Other words to find it by. */
  readonly words: string;
  readonly wish: Pick<StartWish, 'runbook' | 'action' | 'prepare' | 'perform'>;
  readonly steps: readonly StartStep[];
}

/** Every kind of every runbook once, the most urgent first. */
export const SITUATIONS: readonly Situation[] = [
  {
    id: 'region-gone',
    says: 'the instance or its region is gone',
    does: 'recover its newest backup into another instance',
    needs: 'a second instance, the key, and the recovery card or the guid of the backups',
    words: 'disaster dr lost down outage failover dead',
    wish: { runbook: 'disaster-recovery', perform: true },
    steps: ['instance', 'target', 'backup', 'incident', 'check'],
  },
  {
    id: 'rows-deleted',
    says: 'rows were deleted or changed wrongly',
    does: 'bring the instance back to the moment before',
    needs: 'continuous archiving, and the moment of the mistake',
    words: 'pitr point in time undo drop truncate mistake wrong',
    wish: { runbook: 'restore-point-in-time' },
    steps: ['instance', 'incident', 'moment', 'check'],
  },
  {
    id: 'older-state',
    says: 'the data of an older backup is needed',
    does: 'restore that backup into the same instance',
    needs: 'a backup that is done',
    words: 'restore rollback back in time corrupt',
    wish: { runbook: 'restore-backup' },
    steps: ['instance', 'backup', 'incident', 'check'],
  },
  {
    id: 'key-leaked',
    says: 'the encryption key leaked or is old',
    does: 'set a new key, and prove a backup that is made with it',
    needs: 'the instance, and room for one backup on this machine',
    words: 'rotate rotation password secret compromised',
    wish: { runbook: 'rotate-key' },
    steps: ['instance', 'check'],
  },
  {
    id: 'stuck',
    says: 'the instance is stuck',
    does: 'restart it; its data stays',
    needs: 'the instance',
    words: 'restart reboot hang slow frozen',
    wish: { runbook: 'change-instance', action: 'restart' },
    steps: ['instance', 'incident', 'check'],
  },
  {
    id: 'broken',
    says: 'the instance is broken, not just stuck',
    does: 'have the service rebuild its machines',
    needs: 'the instance',
    words: 'recreate rebuild repair',
    wish: { runbook: 'change-instance', action: 'recreate' },
    steps: ['instance', 'incident', 'check'],
  },
  {
    id: 'outdated',
    says: 'the instance needs its update now',
    does: 'have the service update it',
    needs: 'the instance',
    words: 'upgrade patch maintenance',
    wish: { runbook: 'change-instance', action: 'update' },
    steps: ['instance', 'check'],
  },
  {
    id: 'risky-change',
    says: 'a risky change is coming',
    does: 'create a backup, and prove that a key opens it',
    needs: 'the instance, and room for one backup on this machine',
    words: 'backup snapshot verify prove migration deploy',
    wish: { runbook: 'back-up-and-verify' },
    steps: ['instance', 'check'],
  },
  {
    id: 'prepare',
    says: 'prepare for the loss of the instance',
    does: 'make a recovery card: the guid, which key, and a proven backup',
    needs: 'the instance, as long as it answers',
    words: 'disaster dr card guid',
    wish: { runbook: 'disaster-recovery', prepare: true },
    steps: ['instance', 'check'],
  },
  {
    id: 'move',
    says: 'move the data, or try out a recovery',
    does: 'make a recovery card, then recover into another instance',
    needs: 'the instance as long as it answers, and a second one',
    words: 'disaster dr migrate copy clone rehearse try',
    wish: { runbook: 'disaster-recovery', prepare: true, perform: true },
    steps: ['instance', 'target', 'check'],
  },
];

/** By its own id, or the first with a runbook of this id. */
export function situationOf(id: string | undefined): Situation | undefined {
  return SITUATIONS.find((one) => one.id === id) ?? SITUATIONS.find(({ wish }) => wish.runbook === id);
}

export function asksSource({ wish }: Situation): boolean {
  return touchesOfWish(wish).source !== 'not-called';
}
