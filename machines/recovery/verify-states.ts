import { assign } from 'xstate';
import { provenBackup } from './card-draft.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

interface Proof {
  /** Where a read that fails can be begun anew, and what skipping costs. */
  readonly without: { readonly target: string; readonly hint: string };
  readonly next: string;
}

/** A backup is proven: downloaded, opened with a key that is held, and read to its last byte. */
export function proveBackup({ without, next }: Proof) {
  return {
    downloading: recovery.createStateConfig({
      meta: {
        step: 'prove',
        title: 'downloading the backup',
        calls: [{ method: 'GET', path: '/backups/:id/download', what: 'the backup, encrypted' }],
      },
      invoke: {
        id: 'download',
        src: 'downloadBackup',
        input: ({ context }) => ({
          id: provenBackup(context)?.id ?? 0,
          size: provenBackup(context)?.size,
          purpose: 'prove' as const,
        }),
        onDone: {
          target: 'verifying',
          actions: assign({ file: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo('downloadFailed'),
      },
    }),
    downloadFailed: failure({
      step: 'prove',
      title: 'the download failed',
      retry: 'downloading',
      next: without.target,
      ways: {
        retry: 'downloads it again',
        skip: without.hint,
        markDone: 'where and how was the backup proven?',
      },
    }),
    verifying: recovery.createStateConfig({
      meta: { step: 'prove', title: 'reading the backup to its last byte' },
      invoke: {
        id: 'verify',
        src: 'verifyBackup',
        input: ({ context }) => ({
          path: context.file?.path ?? '',
          backup: provenBackup(context)?.id ?? 0,
          expected: context.key?.fingerprint ?? context.facts?.currentKey,
        }),
        onDone: {
          target: next,
          actions: assign({ verification: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo('verifyFailed'),
      },
    }),
    verifyFailed: failure({
      step: 'prove',
      title: 'the backup is not proven',
      retry: 'downloading',
      next: without.target,
      ways: {
        retry: 'downloads the backup again and reads it to its end',
        skip: without.hint,
        markDone: 'how was it verified, with which result?',
      },
    }),
  };
}
