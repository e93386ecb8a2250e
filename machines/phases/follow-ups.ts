import { assign } from 'xstate';
import * as z from 'zod';
import { counted } from '../../src/base/quantity.ts';
import {
  bindsBeside,
  isOpen,
  isWithoutPlatform,
  nextForPlatform,
  platformFollowUps,
  restoredSide,
} from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { actionFollowUpsFallback } from '../fallback/change-instance.ts';
import { followUpsFallback } from '../fallback/follow-ups.ts';
import { FollowUp } from '../parts/follow-up.ts';
import { Bound, PlatformProof } from '../parts/recovery-data.ts';
import { stillOpen } from '../parts/unfinished.ts';
import { assignWith, changed } from '../setup.ts';
import { NO_STOP, type Option, type RunQuestion } from './asking.ts';
import { when, whenEvent } from './guards.ts';
import { closed, currentApp, currentKey, hasCommand, isLeftToRun, withBound } from './open-follow-ups.ts';
import { type Exit, type Exits, type Phase, phase, type States, state, to, type Way } from './phase.ts';
import { rebinding } from './rebind.ts';
import { task } from './task.ts';

export const FollowUpsSlice = () =>
  z.object({
    /** As last found. */
    bound: Bound().optional(),
    isOpened: z.boolean(),
    list: z.array(FollowUp()),
    doing: z.string().optional(),
    proofs: z.array(
      z.object({
        step: z.enum(['unbind', 'bind', 'restage', 'renew', 'reconnect', 'prove']),
        proof: PlatformProof(),
      }),
    ),
    /** The operator has let the platform do all that it can, one after the other. */
    doingAll: z.boolean(),
    /** Follow-ups that the platform failed to do; the others continue. */
    stuck: z.array(z.string()),
  });

interface FollowUps {
  /** For each follow-up that the run itself can do, by its id: the phase that does it. */
  readonly exits: Exits & { readonly [followUp: string]: Way };
}

/**
 * Until no follow-up is open, the run cannot be stopped and does not close. Each is done from here, done by
 * hand with a proof, or skipped with a reason that stays on the record.
 */
export function followUpsOfAction({ exits }: FollowUps): Phase {
  const head = {
    title: 'do the follow-ups',
    like: 'action-follow-ups',
    slice: 'rebind' as const,
    fallback: actionFollowUpsFallback,
    exits,
  };
  return phase(head, () => ({
    evaluating: evaluating([], []),
    asking: asking(() => [], {}),
    starting: starting(waysOf(exits), []),
  }));
}

/** Applications have to be bound again; what the run itself can do begins without a question. */
export function followUpsOfRestore({ title, exits }: FollowUps & { readonly title: string }): Phase {
  const ways = waysOf(exits);
  const head = {
    title,
    like: 'follow-ups',
    slice: 'rebind' as const,
    fallback: followUpsFallback,
    exits,
  };
  return phase(head, (step) => ({
    evaluating: evaluating(
      [
        {
          guard: when('they are not listed yet', ({ followUps: { isOpened } }) => !isOpened),
          target: 'listing',
        },
      ],
      Object.entries(ways).map(([id, target]) => ({
        guard: when(`${id} comes next`, (context) => isLeftToRun(context) && isOpen(context, id)),
        target,
        actions: 'clearFailure',
      })),
    ),
    ...listing(step),
    asking: asking(optionsFor, answersAfterRestore(ways)),
    starting: starting(ways, REBINDING_FIRST),
    ...rebinding,
  }));
}

type Ways = Readonly<Record<string, string>>;

function waysOf({ done: _, ...phases }: FollowUps['exits']): Ways {
  return Object.fromEntries(Object.entries(phases).map(([id, exit]) => [id, to(exit as Exit)]));
}

interface Edge {
  readonly guard: ReturnType<typeof when>;
  readonly target: string;
  readonly actions?: 'clearFailure';
}

function starting(ways: Ways, others: readonly Edge[]) {
  return state({
    meta: { title: 'choosing how to do it' },
    always: [
      ...Object.entries(ways).map(([id, target]) => ({
        guard: when(`${id} comes next`, ({ followUps: { doing } }) => doing === id),
        target,
      })),
      ...others,
      { target: 'asking' },
    ],
  });
}

const REBINDING_FIRST: readonly Edge[] = [
  {
    guard: when('it is a service key', (context) => currentKey(context) !== undefined),
    target: 'renewingKey',
  },
  { guard: when('it is an application with a command of its own', hasCommand), target: 'reconnecting' },
  {
    guard: when(
      'it is an application that keeps its binding meanwhile',
      (context) => currentApp(context) !== undefined && bindsBeside(context),
    ),
    target: 'binding',
  },
  {
    guard: when('it is an application', (context) => currentApp(context) !== undefined),
    target: 'unbinding',
  },
];

function evaluating(first: readonly Edge[], last: readonly Edge[]) {
  return state({
    meta: { title: 'checking which follow-ups are open' },
    always: [
      ...first,
      {
        guard: when('none is open', ({ followUps: { list } }) => stillOpen(list).length === 0),
        target: 'over',
      },
      {
        guard: when(
          'the platform does the next one',
          (context) => context.followUps.doingAll && nextForPlatform(context) !== undefined,
        ),
        target: 'starting',
        actions: assign(({ context }) => doNow(context, nextForPlatform(context)?.id ?? '', false)),
      },
      ...last,
      { target: 'asking' },
    ],
  });
}

const WORDS = {
  listing: {
    title: 'finding the applications to bind again',
    does: ['platform: find the service instance, its bindings and keys, again'],
  },
  listingFailed: {
    title: 'which applications to bind again is not known',
    ways: {
      retry: 'asks the platform again',
      skip: 'what was found before the restore becomes follow-ups, to be done by hand where necessary',
      markDone: { disabled: 'each application is closed on its own, in the next step' },
      stop: NO_STOP,
    },
  },
} as const;

function listing(step: string): States {
  const tags = ['sent'] as const;
  const states = task('listing', {
    verb: 'findBound',
    ...WORDS.listing,
    tags,
    input: (context) => ({
      restored: restoredSide(context),
      only: context.run.onlyApps,
      remember: context.followUps.bound,
    }),
    keep: (context, bound) => opened({ ...context, ...changed(context, 'followUps', { bound }) }),
    next: 'evaluating',
    failed: {
      step,
      ...WORDS.listingFailed,
      stop: undefined,
      on: {
        'operator.skip': {
          target: 'evaluating',
          actions: assignWith<{ text: string }>(({ context, event }) => ({
            ...opened(context),
            skipped: [...context.skipped, { step, reason: event.text }],
          })),
        },
      },
    },
  });
  const { listingFailed } = states;
  return { ...states, listingFailed: { ...listingFailed, tags: ['question', 'failed', ...tags] } };
}

function opened(context: RunContext): Partial<RunContext> {
  return changed(context, 'followUps', {
    bound: context.followUps.bound,
    list: withBound(context),
    isOpened: true,
  });
}

const isNamed = whenEvent<{ id?: string }>('it is open', (context, { id }) => isOpen(context, id));

function wasBegun({ followUps: { list } }: RunContext, named: string): boolean {
  return stillOpen(list).some(({ id, doable }) => id === named && doable === 'again');
}

function doing(target: string) {
  return {
    guard: isNamed,
    target,
    actions: assignWith<{ id: string }>(({ context, event }) => doNow(context, event.id, true)),
  };
}

function close(how: 'hand' | 'skipped') {
  return {
    guard: isNamed,
    target: 'evaluating',
    actions: assignWith<{ id?: string; text: string }>(({ context, event }) =>
      closed(context, event.id ?? '', { how, text: event.text }),
    ),
  };
}

/** `answers`: edges for the options beside the follow-ups. */
function asking(options: OptionsFor, answers: Partial<ReturnType<typeof answersAfterRestore>>) {
  return state({
    tags: ['question', 'followUp'],
    meta: { title: 'the open follow-ups', question: askForFollowUps(options) },
    on: {
      'operator.doNow': {
        ...doing('starting'),
        guard: whenEvent<{ id: string }>(
          'it is open, and no command of it was begun',
          (context, { id }) => isOpen(context, id) && !wasBegun(context, id),
        ),
      },
      'operator.reportDone': close('hand'),
      'operator.skip': close('skipped'),
      ...answers,
    },
  });
}

function answersAfterRestore({ 'fresh-backup': fresh }: Ways) {
  return {
    'operator.doAll': {
      target: 'evaluating',
      actions: assignWith(({ context }) => changed(context, 'followUps', { doingAll: true, stuck: [] })),
    },
    'operator.goOn': { target: fresh, actions: 'clearFailure' as const },
    'operator.runAgain': {
      ...doing('starting'),
      guard: whenEvent<{ id: string }>('its command was begun before', (context, { id }) =>
        wasBegun(context, id),
      ),
    },
    'operator.proveApp': doing('proving'),
    'operator.lookAgain': { target: 'listing', actions: 'clearFailure' as const },
  };
}

/** An earlier failure stays on the screen until a person has seen it. */
function doNow(context: RunContext, id: string, byPerson: boolean): Partial<RunContext> {
  const { followUps: slice } = changed(context, 'followUps', { doing: id, proofs: [] });
  if (slice === undefined) return {};
  return byPerson ? { followUps: { ...slice, stuck: [] }, failure: undefined } : { followUps: slice };
}

type OptionsFor = (context: RunContext, open: readonly FollowUp[]) => Option[];

function askForFollowUps(optionsOf: OptionsFor) {
  return (context: RunContext): RunQuestion => {
    const { failure, followUps: slice } = context;
    const open = stillOpen(slice.list);
    return {
      kind: 'followUps',
      prompt:
        failure?.shortMessage ??
        `${counted(open.length, 'follow-up')} open: the run closes when each is done or skipped`,
      followUps: slice.list,
      close: 'operator.reportDone',
      skip: 'operator.skip',
      doNow: 'operator.doNow',
      options: optionsOf(context, open),
    } as RunQuestion;
  };
}

/** Nothing is recommended beside a failure, because a failure is never passed without a person. */
function optionsFor(context: RunContext, open: readonly FollowUp[]): Option[] {
  const { bound } = context.followUps;
  const byPlatform = platformFollowUps(context);
  const isCalm = context.failure === undefined;
  const canProve = bound !== undefined && bound.way !== 'hand';
  const apps = new Set(bound?.apps.map(({ key }) => `rebind-${key}`));
  return [
    ...(byPlatform.length === 0
      ? []
      : [
          {
            event: { type: 'operator.doAll' as const },
            label: doersOf(byPlatform),
            hint: `${byPlatform.length} of them; one that fails stays open, and the others go on`,
            recommended: isCalm,
          },
        ]),
    ...(isOpen(context, 'fresh-backup')
      ? [
          {
            event: { type: 'operator.goOn' as const },
            label: 'create the fresh backup',
            hint: 'the rest stays open',
            recommended: isCalm && byPlatform.length === 0,
          },
        ]
      : []),
    ...open
      .filter(({ doable }) => doable === 'again')
      .map(({ id, subject }) => ({
        event: { type: 'operator.runAgain' as const, id },
        label: `run the command of ${subject} again`,
        hint: 'it was begun before: look first at what it has done, and whether it still runs',
      })),
    ...open
      .filter(({ id, doable }) => apps.has(id) && (canProve || isOfCommand(doable)))
      .map(({ id, subject, doable }) => ({
        event: { type: 'operator.proveApp' as const, id },
        label: isOfCommand(doable)
          ? `run the proof of ${subject}`
          : `check that ${subject} runs with new credentials`,
        hint: isOfCommand(doable)
          ? 'ends with 0 if it works with its new credentials; changes nothing'
          : 'for an application that was bound again by hand; changes nothing',
      })),
    isWithoutPlatform(context)
      ? {
          event: { type: 'operator.lookAgain' },
          label: 'read the applications of the config again',
          hint: 'with their commands of now; what is done stays done',
        }
      : {
          event: { type: 'operator.lookAgain' },
          label: 'check again which applications are bound',
          hint: 'asks the platform, and reads the commands of the config; what is done stays done',
        },
  ];
}

function isOfCommand(doable: FollowUp['doable']): boolean {
  return doable === 'command' || doable === 'again';
}

/** A command is named before it is run. */
function doersOf(followUps: readonly FollowUp[]): string {
  const [first, ...more] = followUps.filter(({ doable }) => doable === 'command');
  const others = followUps.find(({ doable }) => doable !== 'command')?.doable;
  const commands =
    more.length === 0
      ? `run the command of ${first?.subject}`
      : `run the commands of ${more.length + 1} applications`;
  if (others === undefined) return more.length === 0 ? commands : `${commands}, one after the other`;
  const rebind = `let ${others === 'cf' ? 'cf' : 'the platform'} rebind them`;
  return `${rebind}${first === undefined ? '' : `, and ${commands}`}, one after the other`;
}
