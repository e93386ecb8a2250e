import { assign } from 'xstate';
import { failureQuestion } from '../parts/failure-question.ts';
import { type RecoveryQuestion, stop, typedName } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { expectedTarget } from './expected-origin.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';
import { isNeverPassed, openBlocker } from './weigh.ts';

/** What the target is known by, and whether it can take the data. */
const TARGET_CALLS = [
  { method: 'GET', path: '', what: 'the target, its service, plan and state', on: 'target' },
  { method: 'GET', path: '/backups', what: 'whether it has backups of its own', on: 'target' },
  { method: 'GET', path: '/restores', what: 'whether anything was restored into it', on: 'target' },
  { method: 'GET', path: '/metrics', what: 'its disk, as far as it is told', on: 'target' },
] as const;

/** The target is looked at, and what speaks against it is overridden by its name, by a reason, or not at all. */
export function inspectTarget({ next }: { readonly next: string }) {
  return {
    inspectingTarget: recovery.createStateConfig({
      meta: { step: 'target', title: 'looking at the target', slice: 'decide', calls: TARGET_CALLS },
      invoke: {
        id: 'inspectTarget',
        src: 'inspectTarget',
        input: ({ context }) => inspection(context),
        onDone: {
          target: 'sortingTarget',
          actions: { type: 'keepTarget', params: ({ event }) => ({ facts: event.output }) },
        },
        onError: failTo('targetFailed'),
      },
    }),
    targetFailed: failure({
      step: 'target',
      title: 'the target could not be read',
      retry: 'inspectingTarget',
      ways: {
        retry: 'asks the target again, then for its name; nothing has been sent',
        skip: { disabled: 'without these facts there is nothing to confirm' },
        markDone: { disabled: 'only the service can give these facts' },
      },
    }),
    sortingTarget: recovery.createStateConfig({
      meta: { step: 'target', title: 'weighing what was found' },
      always: [
        {
          guard: 'isTargetBlocked',
          target: 'targetBlocked',
          actions: assign({ failure: ({ context }) => openBlocker(context) }),
        },
        { guard: 'isLookedAt', target: 'confirming' },
        { target: next },
      ],
    }),
    targetBlocked: recovery.createStateConfig({
      tags: ['question', 'failed'],
      meta: {
        step: 'target',
        title: 'something speaks against the target',
        slice: 'decide',
        question: askAboutTarget,
      },
      on: {
        'operator.retry': { target: 'inspectingTarget', actions: 'clearFailure' },
        'operator.override': {
          guard: { type: 'nameMatches', params: { of: 'target' } },
          target: 'sortingTarget',
          actions: { type: 'override', params: { reason: 'the name of the target was typed' } },
        },
        'operator.skip': {
          target: 'sortingTarget',
          actions: { type: 'override', params: ({ event }) => ({ reason: event.text }) },
        },
        'operator.markDone': {
          target: 'sortingTarget',
          actions: { type: 'override', params: ({ event }) => ({ reason: `done outside: ${event.text}` }) },
        },
        'operator.stop': 'stopped',
      },
    }),
  };
}

/** The last look at the target: its name is typed, and it is read once more. Any difference is confirmed again. */
export function confirmTarget({ next }: { readonly next: string }) {
  return {
    confirming: recovery.createStateConfig({
      tags: ['question'],
      meta: {
        step: 'confirm',
        title: 'the last look before the recovery',
        slice: 'decide',
        question: askForConfirmation,
      },
      on: {
        'operator.confirm': {
          guard: { type: 'nameMatches', params: { of: 'target' } },
          target: 'reinspecting',
        },
        'operator.stop': 'stopped',
      },
    }),
    reinspecting: recovery.createStateConfig({
      meta: {
        step: 'confirm',
        title: 'looking whether the target has changed meanwhile',
        slice: 'decide',
        calls: TARGET_CALLS,
      },
      invoke: {
        id: 'reinspect',
        src: 'inspectTarget',
        input: ({ context }) => inspection(context),
        onDone: {
          target: 'comparing',
          actions: { type: 'keepTargetDrift', params: ({ event }) => ({ facts: event.output }) },
        },
        onError: failTo('targetFailed'),
      },
    }),
    comparing: recovery.createStateConfig({
      meta: { step: 'confirm', title: 'comparing with what was confirmed' },
      always: [
        {
          guard: 'isTargetBlocked',
          target: 'targetBlocked',
          actions: assign({ failure: ({ context }) => openBlocker(context) }),
        },
        { guard: 'hasShifted', target: 'confirming' },
        { target: next },
      ],
    }),
  };
}

function inspection({ instance, onRecord, card, from, onlyApps }: RecoveryContext) {
  const known = card ?? onRecord?.card;
  return { on: 'target' as const, ...expectedTarget(instance, known, from?.guid), apps: onlyApps };
}

function askAboutTarget(context: RecoveryContext): RecoveryQuestion {
  const { failure: found, target = '' } = context;
  const retry = 'looks at the target again; nothing has been changed';
  const isFull = found?.code === 'target.not-empty';
  const isNever = found !== undefined && isNeverPassed(found);
  const disabled = isFull
    ? `type ${target} to overwrite what it holds`
    : 'the data of the source would be lost, or could not be read in it';
  const question = failureQuestion(found, {
    retry,
    skip: isFull || isNever ? { disabled } : 'the recovery goes on although this was found',
    markDone: isFull || isNever ? { disabled } : 'how was it settled?',
  }) as RecoveryQuestion;
  if (!isFull) return question;
  const prompt = `${found?.shortMessage}: type its name to overwrite it`;
  return {
    ...typedName(prompt, target, 'operator.override', []),
    options: question.options,
  } as RecoveryQuestion;
}

function askForConfirmation({ target = '', drift, from, instance }: RecoveryContext): RecoveryQuestion {
  const what = from?.what === 'backup' ? `backup ${from.guid}` : `the newest backup of guid ${from?.guid}`;
  const order = `recover ${what} of ${instance} into ${target} with key ${from?.fingerprint}`;
  const prompt =
    drift.length === 0
      ? `type the name of the TARGET to ${order}`
      : `the target has changed (${drift.join('; ')}): type its name to ${order} all the same`;
  return typedName(prompt, target, 'operator.confirm', [stop]);
}
