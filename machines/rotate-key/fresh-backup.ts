import { assign } from 'xstate';
import { besideWaiting } from '../parts/beside-waiting.ts';
import { failTo, failure } from './failing.ts';
import * as ask from './questions.ts';
import { rotation } from './setup.ts';

/** A backup under the new key: asked for at most once for each intent, waited for, downloaded. */
export const freshBackup = {
  creatingBackup: rotation.createStateConfig({
    meta: {
      step: 'backup',
      title: 'asking for a backup',
      calls: [
        { method: 'GET', path: '/backups', what: 'what is there before' },
        { method: 'POST', path: '/backups', what: 'one backup under the new key' },
      ],
      wayBack: 'a backup too many is deleted by retention; nothing else changes',
    },
    invoke: {
      id: 'createBackup',
      src: 'createBackup',
      input: ({ context }) => ({ intent: `backup-${context.intents}` }),
      onDone: {
        target: 'weighingBackup',
        actions: assign({
          failure: undefined,
          backup: ({ event }) =>
            event.output.landed ? { id: event.output.id, adopted: event.output.adopted } : undefined,
          absences: ({ context, event }) => (event.output.landed ? 0 : context.absences + 1),
        }),
      },
      onError: [
        {
          guard: { type: 'isDoubt', params: ({ event }) => ({ error: event.error }) },
          ...failTo('backupInDoubt'),
        },
        failTo('backupFailed'),
      ],
    },
  }),
  weighingBackup: rotation.createStateConfig({
    meta: { step: 'backup', title: 'weighing the answer' },
    always: [
      { guard: 'backupHasLanded', target: 'waitingForBackup' },
      { guard: 'mayAskAgain', target: 'creatingBackup', actions: 'nextIntent' },
      { target: 'backupFailed', actions: 'keepAbsence' },
    ],
  }),
  backupInDoubt: rotation.createStateConfig({
    tags: ['question', 'in-doubt'],
    meta: { step: 'backup', title: 'was the backup created?', question: ask.askAboutLostBackup },
    on: {
      'operator.adopt': {
        target: 'waitingForBackup',
        actions: assign({ failure: undefined, backup: ({ event }) => ({ id: event.id, adopted: true }) }),
      },
      'operator.lookAgain': { target: 'creatingBackup', actions: 'clearFailure' },
      'operator.sendAgain': {
        target: 'creatingBackup',
        actions: ['clearFailure', 'forgetAbsences', 'nextIntent'],
      },
      'operator.stop': 'stopped',
    },
  }),
  waitingForBackup: rotation.createStateConfig({
    tags: ['waiting'],
    meta: {
      step: 'backup',
      title: 'waiting for the backup',
      calls: [{ method: 'GET', path: '/backups/:id', what: 'its status, until it is done' }],
      beside: () => besideWaiting(),
    },
    on: {
      'operator.lookAgain': { target: 'waitingForBackup', reenter: true },
      'operator.giveUp': {
        target: 'waitFailed',
        actions: { type: 'keepGivenUp', params: { what: 'the backup' } },
      },
    },
    invoke: {
      id: 'waitForBackup',
      src: 'waitForBackup',
      input: ({ context }) => ({ id: context.backup?.id ?? 0 }),
      onDone: {
        target: 'downloading',
        actions: assign({
          backup: ({ context, event }) => ({
            id: event.output.id,
            adopted: context.backup?.adopted ?? false,
            facts: event.output,
          }),
        }),
      },
      onError: [
        {
          guard: { type: 'isOver', params: ({ event }) => ({ error: event.error }) },
          ...failTo('backupFailed'),
        },
        failTo('waitFailed'),
      ],
    },
  }),
  waitFailed: failure('waitFailed', 'backup', 'the backup is not known to be done', 'waitingForBackup'),
  backupFailed: rotation.createStateConfig({
    tags: ['question', 'failed'],
    meta: { step: 'backup', title: 'there is no backup', question: ask.askAboutFailure('backupFailed') },
    on: {
      'operator.retry': {
        target: 'creatingBackup',
        actions: ['clearFailure', 'forgetAbsences', 'nextIntent'],
      },
      'operator.stop': 'stopped',
    },
  }),
  downloading: rotation.createStateConfig({
    meta: {
      step: 'download',
      title: 'downloading the new backup',
      calls: [{ method: 'GET', path: '/backups/:id/download', what: 'the new backup, encrypted' }],
    },
    invoke: {
      id: 'download',
      src: 'downloadBackup',
      input: ({ context }) => ({
        id: context.backup?.id ?? 0,
        size: context.backup?.facts?.size,
        purpose: 'archive' as const,
      }),
      onDone: {
        target: 'verifying',
        actions: assign({ file: ({ event }) => event.output, failure: undefined }),
      },
      onError: failTo('downloadFailed'),
    },
  }),
  downloadFailed: rotation.createStateConfig({
    tags: ['question', 'failed'],
    meta: { step: 'download', title: 'the download failed', question: ask.askAboutFailure('downloadFailed') },
    on: {
      'operator.retry': { target: 'downloading', actions: 'clearFailure' },
      'operator.skip': {
        target: 'unproven',
        actions: { type: 'noteSkip', params: ({ event }) => ({ step: 'download', reason: event.text }) },
      },
      'operator.markDone': {
        target: 'verifying',
        actions: assign({
          failure: undefined,
          file: ({ event }) => ({ path: event.text, bytes: 0, sha256: '', seconds: 0 }),
        }),
      },
      'operator.stop': 'stopped',
    },
  }),
};
