import { assign } from 'xstate';
import { z } from 'zod';
import type { RunContext } from '../context.ts';
import { Obligation, stillOwed } from '../parts/obligation.ts';
import { Duties, PlatformProof } from '../parts/recovery-verbs.ts';
import type { PaperPart } from '../parts/runbook.ts';
import { changed, keep } from '../setup.ts';
import { bindsBeside, isOwed, nextPayable, payableByPlatform } from '../told/evaluate.ts';
import type { Option, RunQuestion } from './asking.ts';
import { NO_STOP } from './count.ts';
import { isOwedByRunOnly, paidApp, paidKey, settled, withDuties } from './obligations.ts';
import { type Phase, phase, type States, state, type Way } from './phase.ts';
import { rebinding } from './rebind.ts';
import { task } from './task.ts';

export const FollowUpsSlice = z.object({
  /** Who is bound, as it was last found. */
  duties: Duties.optional(),
  /** What is owed after the change was looked up. */
  isOpened: z.boolean(),
  obligations: z.array(Obligation),
  /** The obligation that is being worked on. */
  paying: z.string().optional(),
  /** What the platform has proven of it so far. */
  proofs: z.array(
    z.object({ step: z.enum(['unbind', 'bind', 'restage', 'renew', 'prove']), proof: PlatformProof }),
  ),
  /** Whether the operator has let the platform do all it can, one after the other. */
  payingAll: z.boolean(),
  /** Obligations whose payment has failed since: the others are not kept waiting for them. */
  stuck: z.array(z.string()),
});

interface FollowUps {
  readonly title: string;
  /** Whether a restore leaves them: then it is found out who has to be bound again. */
  readonly restored?: boolean;
  /** The phases that see to what the run itself can do, by the obligation. */
  readonly ways: Readonly<Record<string, string>>;
  readonly when?: (context: RunContext) => boolean;
  readonly paper: PaperPart<RunContext>;
  readonly onDone: Way;
}

/**
 * What is owed, until nothing is. The run cannot be stopped here and cannot close: each obligation is done
 * from here, settled by hand with a proof, or skipped with a reason that stays on the record.
 */
export function followUps({ title, restored = false, ways, when, paper, onDone }: FollowUps): Phase {
  const head = {
    title,
    like: restored ? 'follow-ups' : 'owed',
    slice: 'rebind' as const,
    when,
    paper,
    onDone,
  };
  return phase(head, (step) => ({
    evaluating: evaluating(restored, ways),
    ...(restored ? listing(step) : {}),
    asking: asking(restored, ways),
    starting: state({
      meta: { title: 'what it takes' },
      always: [
        ...Object.entries(ways).map(([id, target]) => ({
          guard: ({ context }: Of) => context.followUps.paying === id,
          target: `#${target}`,
        })),
        ...(restored
          ? [
              { guard: ({ context }: Of) => paidKey(context) !== undefined, target: 'renewingKey' },
              {
                guard: ({ context }: Of) => paidApp(context) !== undefined && bindsBeside(context),
                target: 'binding',
              },
              { guard: ({ context }: Of) => paidApp(context) !== undefined, target: 'unbinding' },
            ]
          : []),
        { target: 'asking' },
      ],
    }),
    ...(restored ? rebinding : {}),
  }));
}

type Of = { readonly context: RunContext };

function evaluating(restored: boolean, ways: FollowUps['ways']) {
  return state({
    meta: { title: 'evaluating what is still owed' },
    always: [
      ...(restored ? [{ guard: ({ context }: Of) => !context.followUps.isOpened, target: 'listing' }] : []),
      {
        guard: ({ context }) => stillOwed(context.followUps.obligations).length === 0,
        target: 'over',
      },
      {
        guard: ({ context }) => context.followUps.payingAll && nextPayable(context) !== undefined,
        target: 'starting',
        actions: assign(({ context }) => pay(context, nextPayable(context)?.id ?? '', false)),
      },
      ...(restored ? Object.entries(ways) : []).map(([id, target]) => ({
        guard: ({ context }: Of) => isOwedByRunOnly(context) && isOwed(context, id),
        target: `#${target}`,
        actions: 'clearFailure' as const,
      })),
      { target: 'asking' },
    ],
  });
}

/** Who has to be bound again, at the platform. */
function listing(step: string): States {
  const tags = ['sent'] as const;
  const states = task('listing', {
    verb: 'findDuties',
    title: 'finding out who has to be bound again',
    does: ['platform: find the service instance, its bindings and keys, again'],
    tags,
    input: ({ run: { target, onlyApps }, followUps: { duties } }) => ({
      restored: target.kind === 'other' ? ('target' as const) : ('instance' as const),
      ...(onlyApps === undefined ? {} : { only: onlyApps }),
      ...(duties === undefined ? {} : { remember: duties }),
    }),
    keep: (context, duties) => opened({ ...context, ...changed(context, 'followUps', { duties }) }),
    next: 'evaluating',
    failed: {
      step,
      title: 'it is not known who has to be bound again',
      ways: {
        retry: 'asks the platform again',
        skip: 'what was found before the restore is owed, to be settled by hand where need be',
        markDone: { disabled: 'each application is settled by itself, in the next step' },
        stop: NO_STOP,
      },
      on: {
        'operator.skip': {
          target: 'evaluating',
          actions: keep<{ text: string }>(({ context, event }) => ({
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

/** What is owed is known from here on. */
function opened(context: RunContext): Partial<RunContext> {
  return changed(context, 'followUps', {
    duties: context.followUps.duties,
    obligations: withDuties(context),
    isOpened: true,
  });
}

function asking(restored: boolean, ways: FollowUps['ways']) {
  const { 'fresh-backup': fresh } = ways;
  const isNamed = ({ context, event }: Of & { event: { id?: string } }) => isOwed(context, event.id);
  const settle = (how: 'hand' | 'skipped') => ({
    guard: isNamed,
    target: 'evaluating',
    actions: keep<{ id?: string; text: string }>(({ context, event }) =>
      settled(context, event.id ?? '', { how, text: event.text }),
    ),
  });
  const paying = (target: string) => ({
    guard: isNamed,
    target,
    actions: keep<{ id: string }>(({ context, event }) => pay(context, event.id, true)),
  });
  return state({
    tags: ['question', 'obligation'],
    meta: { title: 'what is still owed', question: askForObligations(restored) },
    on: {
      'operator.pay': paying('starting'),
      'operator.settle': settle('hand'),
      'operator.skip': settle('skipped'),
      ...(restored
        ? {
            'operator.payAll': {
              target: 'evaluating',
              actions: keep(({ context }) => changed(context, 'followUps', { payingAll: true, stuck: [] })),
            },
            'operator.goOn': { target: `#${fresh}`, actions: 'clearFailure' as const },
            'operator.proveApp': paying('proving'),
            'operator.lookAgain': { target: 'listing', actions: 'clearFailure' as const },
          }
        : {}),
    },
  });
}

/** Work on an obligation begins. What failed before it is told until a person has seen it. */
function pay(context: RunContext, id: string, byPerson: boolean): Partial<RunContext> {
  const { followUps: slice } = changed(context, 'followUps', { paying: id, proofs: [] });
  if (slice === undefined) return {};
  return byPerson ? { followUps: { ...slice, stuck: [] }, failure: undefined } : { followUps: slice };
}

function askForObligations(restored: boolean) {
  return (context: RunContext): RunQuestion => {
    const { failure, followUps: owed } = context;
    const open = stillOwed(owed.obligations);
    return {
      kind: 'obligations',
      prompt: failure?.shortMessage ?? `${open.length} still owed: the run closes when each is settled`,
      obligations: owed.obligations,
      settle: 'operator.settle',
      skip: 'operator.skip',
      pay: 'operator.pay',
      options: restored ? optionsFor(context, open) : [],
    } as RunQuestion;
  };
}

/** A failure is never passed without a person, so nothing is recommended beside one. */
function optionsFor(context: RunContext, open: readonly Obligation[]): Option[] {
  const { duties } = context.followUps;
  const byPlatform = payableByPlatform(context);
  const isCalm = context.failure === undefined;
  const canProve = duties !== undefined && duties.way !== 'hand';
  const apps = new Set(duties?.apps.map(({ key }) => `rebind-${key}`));
  return [
    ...(byPlatform.length === 0
      ? []
      : [
          {
            event: { type: 'operator.payAll' as const },
            label: `let ${duties?.way === 'cf' ? 'cf' : 'the platform'} rebind them, one after the other`,
            hint: `${byPlatform.length} of them; it ends at the first that fails, and can be gone on with`,
            recommended: isCalm,
          },
        ]),
    ...(isOwed(context, 'fresh-backup')
      ? [
          {
            event: { type: 'operator.goOn' as const },
            label: 'take the fresh backup',
            hint: 'the rest stays owed',
            recommended: isCalm && byPlatform.length === 0,
          },
        ]
      : []),
    ...open
      .filter(({ id }) => canProve && apps.has(id))
      .map(({ id, subject }) => ({
        event: { type: 'operator.proveApp' as const, id },
        label: `look whether ${subject} runs with new credentials`,
        hint: 'for one that was bound again by hand; changes nothing',
      })),
    {
      event: { type: 'operator.lookAgain' },
      label: 'find out again who is bound',
      hint: 'asks the platform; what is settled stays settled',
    },
  ];
}
