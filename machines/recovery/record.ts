import type { RecoveryRecord } from '../parts/recovery-verbs.ts';
import type { RecoveryContext } from './context.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

interface Recording {
  readonly runbook: string;
  /** Also in the ledger of the instance whose data it is. */
  readonly both?: boolean;
  /** How the run ends when all is well, and when it is not shown. */
  readonly ends?: { readonly done: string; readonly unproven: string };
}

const RESTORED = {
  done: 'closed: restored, and nothing owed',
  unproven: 'closed without proof of the recovery',
};

/** The record in the ledgers of the instances, and how the run ends. */
export function recording({ runbook, both = false, ends = RESTORED }: Recording) {
  return {
    recording: recovery.createStateConfig({
      meta: { step: 'record', title: 'writing the record' },
      invoke: {
        id: 'record',
        src: 'recordRecovery',
        input: ({ context }) => ({
          record: recordOf(context, runbook),
          ...(both ? { on: 'target' as const } : {}),
        }),
        onDone: { target: both ? 'recordingSource' : 'weighingEnd', actions: 'keepRecorded' },
        onError: failTo('recordFailed'),
      },
    }),
    ...(both
      ? {
          recordingSource: recovery.createStateConfig({
            meta: { step: 'record', title: 'writing the record of the source' },
            invoke: {
              id: 'recordSource',
              src: 'recordRecovery',
              input: ({ context }) => ({ record: recordOf(context, runbook) }),
              onDone: { target: 'weighingEnd', actions: 'clearFailure' },
              onError: failTo('recordFailed'),
            },
          }),
        }
      : {}),
    recordFailed: failure({
      step: 'record',
      title: 'the record is not written',
      retry: 'recording',
      ways: {
        retry: 'writes the record again',
        skip: { disabled: 'a recovery without a record proves nothing' },
        markDone: { disabled: 'the record is written here or nowhere' },
        stop: { disabled: 'all is done but the record; leave the screen and go on later' },
      },
    }),
    weighingEnd: recovery.createStateConfig({
      meta: { step: 'record', title: 'weighing what was shown' },
      always: [{ guard: 'isShown', target: 'done' }, { target: 'unproven' }],
    }),
    ...endings(ends.done, ends.unproven),
  };
}

/** The three ways in which a run ends. */
export function endings(done: string, unproven: string) {
  const tags = ['done' as const];
  return {
    done: recovery.createStateConfig({ type: 'final', tags, meta: { step: 'record', title: done } }),
    unproven: recovery.createStateConfig({ type: 'final', tags, meta: { step: 'record', title: unproven } }),
    stopped: recovery.createStateConfig({ type: 'final', tags, meta: { step: 'record', title: 'stopped' } }),
  };
}

function recordOf(context: RecoveryContext, runbook: string): RecoveryRecord {
  const { restore, chosen, fresh, mode, instance, from } = context;
  const { restore: facts, landed } = restore;
  const id = facts?.id ?? landed?.id;
  const { restoredFrom } = facts ?? {};
  const backup = chosen ?? context.onRecord?.proven.find(({ backupId }) => backupId === from?.guid);
  return {
    runbook,
    ...(id === undefined ? {} : { restore: { id, ...(restoredFrom === undefined ? {} : { restoredFrom }) } }),
    ...(backup === undefined
      ? {}
      : {
          backup: {
            id: backup.id,
            ...(backup.backupId === undefined ? {} : { backupId: backup.backupId }),
          },
        }),
    ...(mode === undefined ? {} : { source: instance }),
    ...(fresh.backup === undefined ? {} : { freshBackup: fresh.backup.id }),
  };
}
