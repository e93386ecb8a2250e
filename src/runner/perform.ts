import type { AnyActivity, LedgerFact, SendContext } from '../activities/activity.ts';
import { failureOf } from '../base/errors.ts';
import type { Json } from '../store/journal.ts';
import type { Invocation } from './fold.ts';
import { type Once, performOnce } from './perform-once.ts';
import { failed, type Note, type Performed, type PerformPort } from './performed.ts';

/**
 * Performs one verb. If the process dies inside: a read or repeatable verb is done again; a `once` verb that
 * was armed is never sent again, and the service is asked what became of it. Never rejects for what happens
 * outside, only when the journal does.
 */
export async function perform(
  activity: AnyActivity,
  invocation: Invocation,
  context: SendContext,
  port: PerformPort,
): Promise<Performed> {
  const input = invocation.input as never;
  if (activity.kind === 'repeatable') await port.lastForCall();
  await port.write([begun(invocation, activity.kind, context.now())]);
  if (activity.kind === 'once') return performOnce(activity as unknown as Once, invocation, context, port);
  if (activity.kind === 'repeatable') await port.seal();
  const announcing = announcer(port);
  try {
    const result = await activity.run(input, { ...context, announce: announcing.announce });
    const ledger = result.ledger ?? [];
    announcing.throwIfBroken();
    if (result.ok) return { how: 'done', output: result.output, notes: [], ledger };
    return failed(result.failure, [], ledger);
  } catch (thrown) {
    announcing.throwIfBroken();
    return failed(failureOf(thrown));
  }
}

/**
 * A verb turns what is thrown inside of it into its outcome; that an announcement could not be kept must not
 * become one.
 */
function announcer(port: PerformPort): {
  readonly announce: (facts: readonly LedgerFact[]) => Promise<void>;
  readonly throwIfBroken: () => void;
} {
  let broken: { readonly thrown: unknown } | undefined;
  return {
    announce: async (facts) => {
      try {
        await port.write([], facts);
        await port.seal();
      } catch (thrown) {
        broken = { thrown };
        throw thrown;
      }
    },
    throwIfBroken: () => {
      if (broken !== undefined) throw broken.thrown;
    },
  };
}

function begun(invocation: Invocation, kind: string, at: Date): Note {
  const input = invocation.input as { readonly intent?: string } | undefined;
  return {
    type: 'activity.begun',
    body: {
      activity: invocation.id,
      verb: invocation.verb,
      kind,
      key: input?.intent ?? invocation.id,
      input: (invocation.input ?? null) as Json,
      ...(kind === 'once' && { begunAt: at.toISOString() }),
    },
  };
}
