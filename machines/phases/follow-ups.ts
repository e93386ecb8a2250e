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
import { FollowUp } from '../parts/follow-up.ts';
import { Bound, PlatformProof } from '../parts/recovery-data.ts';
import type { FallbackPart } from '../parts/runbook.ts';
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
    /** Bound applications and keys, as last found. */
    bound: Bound().optional(),
    /** Whether the follow-ups of the change are listed. */
    isOpened: z.boolean(),
    list: z.array(FollowUp()),
    /** The follow-up that is being worked on. */
    doing: z.string().optional(),
    /** What the platform has proven of it so far. */
    proofs: z.array(
      z.object({
        step: z.enum(['unbind', 'bind', 'restage', 'renew', 'reconnect', 'prove']),
        proof: PlatformProof(),
      }),
    ),
    /** The operator has let the platform do all that it can, one after the other. */
    doingAll: z.boolean(),
    /** Follow-ups that the platform failed to do; the others go on. */
    stuck: z.array(z.string()),
  });

interface FollowUps {
  readonly title: string;
  /** They follow a restore, so applications have to be bound again. */
  readonly restored?: boolean;
  readonly fallback: FallbackPart<RunContext>;
  /** Beside `done`: by the id of a follow-up that the run itself can do, the phase that does it. */
  readonly exits: Exits & { readonly [followUp: string]: Way };
}

/**
 * The follow-ups, until none is open. Until then the run cannot be stopped and does not close: each follow-up
 * is done from here, done by hand with a proof, or skipped with a reason that stays on the record.
 */
export function followUps({ title, restored = false, fallback, exits }: FollowUps): Phase {
  const { done: _, ...phasesOf } = exits;
  const ways = Object.fromEntries(Object.entries(phasesOf).map(([id, exit]) => [id, to(exit as Exit)]));
  const head = {
    title,
    like: restored ? 'follow-ups' : 'action-follow-ups',
    slice: 'rebind' as const,
    fallback,
    exits,
  };
  return phase(head, (step) => ({
    evaluating: evaluating(restored, ways),
    ...(restored ? listing(step) : {}),
    asking: asking(restored, ways),
    starting: state({
      meta: { title: 'choosing how to do it' },
      always: [
        ...Object.entries(ways).map(([id, target]) => ({
          guard: when(`${id} comes next`, ({ followUps: { doing } }) => doing === id),
          target,
        })),
        ...(restored
          ? [
              {
                guard: when('it is a service key', (context) => currentKey(context) !== undefined),
                target: 'renewingKey',
              },
              {
                guard: when('it is an application with a command of its own', hasCommand),
                target: 'reconnecting',
              },
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
            ]
          : []),
        { target: 'asking' },
      ],
    }),
    ...(restored ? rebinding : {}),
  }));
}

function evaluating(restored: boolean, ways: Readonly<Record<string, string>>) {
  return state({
    meta: { title: 'checking which follow-ups are open' },
    always: [
      ...(restored
        ? [
            {
              guard: when('they are not listed yet', ({ followUps: { isOpened } }) => !isOpened),
              target: 'listing',
            },
          ]
        : []),
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
      ...(restored ? Object.entries(ways) : []).map(([id, target]) => ({
        guard: when(`${id} comes next`, (context) => isLeftToRun(context) && isOpen(context, id)),
        target,
        actions: 'clearFailure' as const,
      })),
      { target: 'asking' },
    ],
  });
}

/** Asks the platform which applications have to be bound again. */
function listing(step: string): States {
  const tags = ['sent'] as const;
  const states = task('listing', {
    verb: 'findBound',
    title: 'finding the applications to bind again',
    does: ['platform: find the service instance, its bindings and keys, again'],
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
      title: 'which applications to bind again is not known',
      ways: {
        retry: 'asks the platform again',
        skip: 'what was found before the restore becomes follow-ups, to be done by hand where necessary',
        markDone: { disabled: 'each application is closed on its own, in the next step' },
        stop: NO_STOP,
      },
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

/** The context once the follow-ups are known. */
function opened(context: RunContext): Partial<RunContext> {
  return changed(context, 'followUps', {
    bound: context.followUps.bound,
    list: withBound(context),
    isOpened: true,
  });
}

function asking(restored: boolean, ways: Readonly<Record<string, string>>) {
  const { 'fresh-backup': fresh } = ways;
  const isNamed = whenEvent<{ id?: string }>('it is open', (context, { id }) => isOpen(context, id));
  const wasBegun = ({ followUps: { list } }: RunContext, named: string) =>
    stillOpen(list).some(({ id, doable }) => id === named && doable === 'again');
  const close = (how: 'hand' | 'skipped') => ({
    guard: isNamed,
    target: 'evaluating',
    actions: assignWith<{ id?: string; text: string }>(({ context, event }) =>
      closed(context, event.id ?? '', { how, text: event.text }),
    ),
  });
  const doing = (target: string) => ({
    guard: isNamed,
    target,
    actions: assignWith<{ id: string }>(({ context, event }) => doNow(context, event.id, true)),
  });
  return state({
    tags: ['question', 'followUp'],
    meta: { title: 'the open follow-ups', question: askForFollowUps(restored) },
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
      ...(restored
        ? {
            'operator.doAll': {
              target: 'evaluating',
              actions: assignWith(({ context }) =>
                changed(context, 'followUps', { doingAll: true, stuck: [] }),
              ),
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
          }
        : {}),
    },
  });
}

/** Begins a follow-up. An earlier failure stays on the screen until a person has seen it. */
function doNow(context: RunContext, id: string, byPerson: boolean): Partial<RunContext> {
  const { followUps: slice } = changed(context, 'followUps', { doing: id, proofs: [] });
  if (slice === undefined) return {};
  return byPerson ? { followUps: { ...slice, stuck: [] }, failure: undefined } : { followUps: slice };
}

function askForFollowUps(restored: boolean) {
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
      options: restored ? optionsFor(context, open) : [],
    } as RunQuestion;
  };
}

/** A failure is never passed without a person, so nothing is recommended beside one. */
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

/** The label that says who does the rest; a command is named before it is run. */
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
