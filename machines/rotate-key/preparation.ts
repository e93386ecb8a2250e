import { assign } from 'xstate';
import { RESTORES_CALL } from '../parts/ground.ts';
import { failTo, failure } from './failing.ts';
import * as ask from './questions.ts';
import { rotation } from './setup.ts';

/** Before anything changes: what the instance is, and a last proof of the newest backup under the old key. */
export const preparation = {
  checking: rotation.createStateConfig({
    meta: {
      step: 'preflight',
      title: 'looking at the instance',
      calls: [
        { method: 'GET', path: '', what: 'the instance and its state' },
        { method: 'GET', path: '/backups-config', what: 'least key length, retention' },
        { method: 'GET', path: '/backups', what: 'the newest backup, tasks under way' },
        RESTORES_CALL,
      ],
    },
    invoke: {
      id: 'preflight',
      src: 'preflight',
      input: ({ context }) => ({ instance: context.instance, restores: true as const }),
      onDone: {
        target: 'sorting',
        actions: assign({ facts: ({ event }) => event.output, drift: [], failure: undefined }),
      },
      onError: failTo('checkFailed'),
    },
  }),
  checkFailed: failure('checkFailed', 'preflight', 'the instance could not be read', 'checking'),
  sorting: rotation.createStateConfig({
    meta: { step: 'preflight', title: 'weighing what was found' },
    always: [
      { guard: 'isBlocked', target: 'blocked', actions: 'keepFirstBlocker' },
      { target: 'weighingOld' },
    ],
  }),
  blocked: failure('blocked', 'preflight', 'something stands in the way', 'checking', 'weighingOld'),
  weighingOld: rotation.createStateConfig({
    meta: { step: 'old-backup', title: 'whether there is a backup to prove' },
    always: [{ guard: 'hasNothingToProve', target: 'choosingKey' }, { target: 'offeringOldProof' }],
  }),
  offeringOldProof: rotation.createStateConfig({
    tags: ['question'],
    meta: { step: 'old-backup', title: 'the newest backup under the old key', question: ask.askForOldProof },
    on: {
      'operator.prove': {
        target: 'fetchingOld',
        actions: assign({ oldBackup: { purpose: 'prove' as const } }),
      },
      'operator.archive': {
        target: 'fetchingOld',
        actions: assign({ oldBackup: { purpose: 'archive' as const } }),
      },
      'operator.goOn': {
        target: 'choosingKey',
        actions: {
          type: 'noteSkip',
          params: { step: 'old-backup', reason: 'no key of this instance was held that could open it' },
        },
      },
      'operator.skip': {
        target: 'choosingKey',
        actions: { type: 'noteSkip', params: ({ event }) => ({ step: 'old-backup', reason: event.text }) },
      },
      'operator.stop': 'stopped',
    },
  }),
  fetchingOld: rotation.createStateConfig({
    meta: {
      step: 'old-backup',
      title: 'downloading the old backup',
      calls: [{ method: 'GET', path: '/backups/:id/download', what: 'the newest backup under the old key' }],
    },
    invoke: {
      id: 'fetchOld',
      src: 'downloadBackup',
      input: ({ context }) => ({
        id: context.facts?.newest?.id ?? 0,
        size: context.facts?.newest?.size,
        purpose: context.oldBackup?.purpose ?? 'prove',
      }),
      onDone: {
        target: 'verifyingOld',
        actions: assign({
          oldBackup: ({ context, event }) => ({
            purpose: context.oldBackup?.purpose ?? 'prove',
            file: event.output,
          }),
        }),
      },
      onError: failTo('oldProofFailed'),
    },
  }),
  verifyingOld: rotation.createStateConfig({
    meta: { step: 'old-backup', title: 'reading the old backup to its last byte' },
    invoke: {
      id: 'verifyOld',
      src: 'verifyBackup',
      input: ({ context }) => ({
        path: context.oldBackup?.file?.path ?? '',
        backup: context.facts?.newest?.id ?? 0,
        discard: context.oldBackup?.purpose === 'prove',
      }),
      onDone: {
        target: 'choosingKey',
        actions: assign({
          oldBackup: ({ context, event }) => ({
            purpose: context.oldBackup?.purpose ?? 'prove',
            ...context.oldBackup,
            verification: event.output,
          }),
        }),
      },
      onError: failTo('oldProofFailed'),
    },
  }),
  oldProofFailed: failure(
    'oldProofFailed',
    'old-backup',
    'the old backup is not proven',
    'fetchingOld',
    'choosingKey',
  ),
};
