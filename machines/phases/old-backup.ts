import * as z from 'zod';
import { counted } from '../../src/base/quantity.ts';
import type { RunContext } from '../context.ts';
import { oldBackupFallback } from '../fallback/backing-up.ts';
import { DownloadedFile, Verification } from '../parts/task-data.ts';
import { assignWith, changed } from '../setup.ts';
import { choice, type RunQuestion, stop } from './asking.ts';
import { noteReason } from './failing.ts';
import { when } from './guards.ts';
import { type Exits, type Phase, phase, state, to } from './phase.ts';
import { task } from './task.ts';

export const OldBackupSlice = () =>
  z.object({
    purpose: z.enum(['prove', 'archive']).optional(),
    file: DownloadedFile().optional(),
    verification: Verification().optional(),
  });

const WORDS = {
  downloading: {
    title: 'downloading the old backup',
    calls: [{ method: 'GET', path: '/backups/:id/download', what: 'the newest backup under the old key' }],
  },
  downloadingFailed: {
    title: 'the old backup is not proven',
    ways: {
      retry: 'downloads and reads the old backup again',
      skip: 'the old backup stays unproven',
      markDone: 'where and how was the old backup proven?',
    },
  },
  verifying: { title: 'reading the old backup to its last byte' },
} as const;

/** Proves the newest backup under the old key: the service may stop offering it after the rotation. */
export function oldBackup({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  const stop = to(exits.stop);
  return phase({ title: 'prove the old backup', fallback: oldBackupFallback, exits }, (step) => {
    const begin = (purpose: 'prove' | 'archive') => ({
      target: 'downloading',
      actions: assignWith(({ context }) => changed(context, 'oldBackup', { purpose })),
    });
    return {
      evaluating: state({
        meta: { title: 'whether there is a backup to prove' },
        always: [
          { guard: when('there is nothing to prove', hasNothingToProve), target: 'over' },
          { target: 'asking' },
        ],
      }),
      asking: state({
        tags: ['question'],
        meta: { title: 'the newest backup under the old key', question: askForOldProof },
        on: {
          'operator.prove': begin('prove'),
          'operator.archive': begin('archive'),
          'operator.goOn': {
            target: 'over',
            actions: {
              type: 'noteSkip',
              params: { step, reason: 'no key of this instance was held that could open it' },
            },
          },
          'operator.skip': {
            target: 'over',
            actions: noteReason(step),
          },
          'operator.stop': stop,
        },
      }),
      ...task('downloading', {
        verb: 'downloadBackup',
        id: 'downloadOld',
        ...WORDS.downloading,
        input: ({ preflight: { facts }, oldBackup: { purpose } }) => ({
          id: facts?.newest?.id ?? 0,
          size: facts?.newest?.size,
          purpose: purpose ?? 'prove',
        }),
        keep: (context, file) => changed(context, 'oldBackup', { file }),
        next: 'verifying',
        failed: {
          step,
          ...WORDS.downloadingFailed,
          next: 'over',
          stop,
        },
      }),
      ...task('verifying', {
        verb: 'verifyBackup',
        id: 'verifyOld',
        ...WORDS.verifying,
        input: ({ preflight: { facts }, oldBackup: { file, purpose } }) => ({
          path: file?.path ?? '',
          backup: facts?.newest?.id ?? 0,
          discard: purpose === 'prove',
          record: facts?.newest,
        }),
        keep: (context, verification) => changed(context, 'oldBackup', { verification }),
        next: 'over',
        failed: 'downloadingFailed',
      }),
    };
  });
}

/** If the service does not say whether a backup can be downloaded, trying does no harm. */
function hasNothingToProve({ preflight }: RunContext): boolean {
  const newest = preflight.facts?.newest;
  return newest === undefined || newest.downloadable === false;
}

function askForOldProof({ preflight: { facts }, run: { instance } }: RunContext): RunQuestion {
  const id = facts?.newest?.id;
  const noKey = facts?.keysHeld.length === 0 ? 'no key of this instance is held here' : undefined;
  return choice(
    `after the rotation ${counted(facts?.backups.downloadable ?? 0, 'backup')} may no longer be offered for download: prove the newest first?`,
    [
      {
        event: { type: 'operator.prove' },
        label: `prove backup ${id} under the old key`,
        hint: 'downloads it, opens it with the key held here and reads it to its last byte',
        recommended: noKey === undefined,
        disabled: noKey,
      },
      {
        event: { type: 'operator.archive' },
        label: `archive backup ${id} and prove it`,
        hint: 'the same, and the encrypted file stays on this machine',
        disabled: noKey,
      },
      noKey === undefined
        ? undefined
        : {
            event: { type: 'operator.goOn' },
            label: 'go on: no key is held that could prove it',
            hint: `the record says so; to prove it first, stop and add the key: lifeboat keys add ${instance}`,
            recommended: true,
          },
      {
        event: { type: 'operator.skip' },
        label: 'go on without proof',
        hint: 'older backups may no longer be offered for download, and stay unproven',
        needs: { what: 'reason', prompt: 'why is the old backup not proven?' },
      },
      stop,
    ],
  );
}
