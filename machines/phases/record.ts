import * as z from 'zod';
import { restoredSide } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { recordFallback } from '../fallback/steps.ts';
import type { RecoveryRecord } from '../parts/recovery-data.ts';
import type { PlannedCall } from '../parts/runbook.ts';
import { landedOf, TaskBeside } from '../parts/task-data.ts';
import { changed } from '../setup.ts';
import type { OutputOf } from '../verbs.ts';
import { heldKey } from './key.ts';
import { type Exits, type Phase, phase, type States, to } from './phase.ts';
import { proofOf } from './prove.ts';
import { task } from './task.ts';

export const RecordSlice = () =>
  z.object({
    /** The ledger knows the new key as proven. */
    isProven: z.boolean(),
    /** Moved to the ledger. */
    leaves: z.array(z.string()).optional(),
    /** Tasks that the last look showed beside those that were sent. */
    beside: z.array(TaskBeside()).optional(),
    unlooked: z.string().optional(),
  });

interface Record {
  readonly byHand: string;
  readonly exits: Exits<'stop'>;
}

const WAYS = {
  retry: 'writes the record again',
  skip: { disabled: 'without a record nothing is proven' },
  markDone: { disabled: 'only lifeboat writes this record' },
} as const;

function record(
  { byHand, exits }: Pick<Record, 'byHand'> & { readonly exits: Exits },
  statesOf: (step: string) => States,
): Phase {
  const head = {
    title: 'record it',
    like: 'record',
    fallback: recordFallback(byHand),
    exits,
  };
  return phase(head, statesOf);
}

const FAILED = { title: 'the record is not written', retry: 'recording', ways: WAYS } as const;

/** Only then the new key counts as proven. */
export function recordRotation(given: Record): Phase {
  return record(given, (step) =>
    task('recording', {
      verb: 'recordRotation',
      title: 'writing the record',
      calls: [lastLookAt('backups')],
      input: (context) => ({ record: rotationOf(context) }),
      keep: (context, { proven, leaves, beside, unlooked }) =>
        changed(context, 'record', { isProven: proven, leaves, beside, unlooked }),
      next: 'over',
      failed: { step, ...FAILED, stop: to(given.exits.stop) },
    }),
  );
}

export function recordProof(given: Record): Phase {
  return record(given, (step) =>
    task('recording', {
      verb: 'recordProof',
      title: 'writing the proof',
      calls: [lastLookAt('backups')],
      input: proofOf,
      keep: keepLook,
      next: 'over',
      failed: { step, ...FAILED, stop: to(given.exits.stop) },
    }),
  );
}

/** A proxy may have sent a call twice. */
function lastLookAt(list: 'backups' | 'restores', on?: 'target'): PlannedCall {
  return { method: 'GET', path: `/${list}`, what: 'what is there beyond what was sent', on };
}

function keepLook(
  context: RunContext,
  { beside, unlooked }: OutputOf<'recordProof'> | OutputOf<'recordRecovery'>,
): Partial<RunContext> {
  return changed(context, 'record', { beside, unlooked });
}

interface Recovery extends Omit<Record, 'exits'> {
  readonly exits: Exits;
  readonly runbook: string;
}

/** In the ledger of the instance that it changed. */
export function recordRecovery(given: Recovery): Phase {
  return record(given, (step) => recordingRecovery(step, given.runbook, { next: 'over' }));
}

/** In the ledgers of its target and of its source. */
export function recordRecoveryInBoth(given: Recovery): Phase {
  const { runbook } = given;
  return record(given, (step) => ({
    ...recordingRecovery(step, runbook, { on: 'target', next: 'recordingSource' }),
    ...task('recordingSource', {
      verb: 'recordRecovery',
      id: 'recordSource',
      title: 'writing the record of the source',
      input: (context) => ({ record: recoveryOf(context, runbook) }),
      next: 'over',
      failed: 'recordingFailed',
    }),
  }));
}

function recordingRecovery(
  step: string,
  runbook: string,
  { on, next }: { readonly on?: 'target'; readonly next: string },
): States {
  const stop = { disabled: 'everything but the record is done: leave the run and resume it later' };
  return task('recording', {
    verb: 'recordRecovery',
    title: 'writing the record',
    calls: [lastLookAt('restores', on)],
    input: (context) => ({ record: recoveryOf(context, runbook), on }),
    keep: keepLook,
    next,
    failed: { step, ...FAILED, ways: { ...WAYS, stop }, stop: undefined },
  });
}

function rotationOf(context: RunContext) {
  const { backup, key } = context;
  const { verification, negative } = proofOf(context);
  return {
    fingerprint: heldKey(context).fingerprint,
    backup: backup.backup ?? { id: landedOf(backup)?.id ?? 0, status: 'unknown' },
    verification,
    negative,
    closes: key.setting?.answer !== 'accepted',
  };
}

function recoveryOf(context: RunContext, runbook: string): RecoveryRecord {
  const { restore, choose, fresh, run, source, card } = context;
  const id = restore.restore?.id ?? landedOf(restore)?.id;
  const backup =
    choose.backup ?? card.onRecord?.proven.find(({ backupId }) => backupId === source.from?.guid);
  return {
    runbook,
    restore: id === undefined ? undefined : { id, restoredFrom: restore.restore?.restoredFrom },
    backup: backup && { id: backup.id, backupId: backup.backupId },
    source: restoredSide(context) === 'target' ? run.instance : undefined,
    freshBackup: fresh.backup?.id,
  };
}
