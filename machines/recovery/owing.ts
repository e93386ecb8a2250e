import { type Obligation, stillOwed } from '../parts/obligation.ts';
import type { Option, RecoveryQuestion } from './ask.ts';
import type { RecoveryContext } from './context.ts';
import { recovery } from './setup.ts';
import { isOwed, payableByPlatform } from './weigh.ts';

interface Owing {
  /** Where the run goes when it owes nothing any more. */
  readonly next: string;
  /** Where the other things lead that can be done from here; each has to be a state of the machine. */
  readonly fresh?: string;
  readonly card?: string;
  readonly release?: string;
}

/**
 * What is owed, until nothing is. The run cannot be stopped here and cannot close: each obligation is done from here, settled by hand
 * with a proof, or skipped with a reason that stays on the record.
 */
export function owing({ next, fresh, card, release }: Owing) {
  const ways = (guard: 'paysFresh' | 'paysCard' | 'paysRelease', target: string | undefined) =>
    target === undefined ? [] : [{ guard, target }];
  return {
    weighingOwed: recovery.createStateConfig({
      meta: { step: 'owe', title: 'weighing what is still owed' },
      always: [
        { guard: 'owesNothing', target: next },
        { guard: 'paysNext', target: 'startingPayment', actions: 'payNext' },
        ...(fresh === undefined
          ? []
          : [{ guard: 'owesFreshOnly' as const, target: fresh, actions: 'clearFailure' as const }]),
        ...(card === undefined
          ? []
          : [{ guard: 'owesCardOnly' as const, target: card, actions: 'clearFailure' as const }]),
        { target: 'owing' },
      ],
    }),
    owing: recovery.createStateConfig({
      tags: ['question', 'obligation'],
      meta: { step: 'owe', title: 'what is still owed', slice: 'rebind', question: askForObligations(fresh) },
      on: {
        'operator.pay': {
          guard: 'isOwed',
          target: 'startingPayment',
          actions: { type: 'pay', params: ({ event }) => ({ id: event.id }) },
        },
        'operator.settle': {
          guard: 'isOwed',
          target: 'weighingOwed',
          actions: { type: 'settleByHand', params: ({ event }) => ({ id: event.id, text: event.text }) },
        },
        'operator.skip': {
          guard: 'isOwed',
          target: 'weighingOwed',
          actions: {
            type: 'skipObligation',
            params: ({ event }) => ({ id: event.id ?? '', text: event.text }),
          },
        },
        ...(fresh === undefined
          ? {}
          : {
              'operator.payAll': { target: 'weighingOwed', actions: 'beginPaying' as const },
              'operator.goOn': { target: fresh, actions: 'clearFailure' as const },
              'operator.proveApp': {
                guard: 'isOwed' as const,
                target: 'proving',
                actions: {
                  type: 'pay' as const,
                  params: ({ event }: { event: { id: string } }) => ({ id: event.id }),
                },
              },
              'operator.lookAgain': { target: 'listingDuties', actions: 'clearFailure' as const },
            }),
      },
    }),
    startingPayment: recovery.createStateConfig({
      meta: { step: 'owe', title: 'what it takes' },
      always: [
        ...ways('paysFresh', fresh),
        ...ways('paysCard', card),
        ...ways('paysRelease', release),
        ...(fresh === undefined
          ? []
          : [
              { guard: 'paysKey' as const, target: 'renewingKey' },
              { guard: 'paysBeside' as const, target: 'binding' },
              { guard: 'paysApp' as const, target: 'unbinding' },
            ]),
        { target: 'owing' },
      ],
    }),
  };
}

function askForObligations(fresh: string | undefined) {
  return (context: RecoveryContext): RecoveryQuestion => {
    const { obligations, failure } = context;
    const open = stillOwed(obligations);
    return {
      kind: 'obligations',
      prompt: failure?.shortMessage ?? `${open.length} still owed: the run closes when each is settled`,
      obligations,
      settle: 'operator.settle',
      skip: 'operator.skip',
      pay: 'operator.pay',
      options: fresh === undefined ? [] : optionsFor(context, open),
    } as RecoveryQuestion;
  };
}

/** A failure is never passed without a person, so nothing is recommended beside one. */
function optionsFor(context: RecoveryContext, open: readonly Obligation[]): Option[] {
  const { duties, failure } = context;
  const byPlatform = payableByPlatform(context);
  const isCalm = failure === undefined;
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
