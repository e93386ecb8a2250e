import { verbTo } from '../../machines/parts/verb-words.ts';
import { effectOf } from '../../machines/verbs.ts';
import type { AnyActivity, LedgerFact, SendContext, SentTask } from '../activities/activity.ts';
import { failureOf, LifeboatError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import { show } from '../base/text.ts';
import type { Entry, Json } from '../store/journal.ts';
import { fieldsOf } from '../store/journal.ts';
import { foldSends } from '../store/projections/sends.ts';
import type { Invocation } from './fold.ts';
import { type Once, performSend } from './perform-send.ts';
import { failed, type Note, type Performed, type PerformPort } from './performed.ts';

/**
 * Performs one verb. After a crash inside it, a read or repeatable verb is performed again; an armed `once`
 * verb is never sent again, and the service is asked about its outcome; an `attended` verb that was begun
 * fails with `activity.lost`. Rejects only with the journal's errors.
 */
export async function perform(
  activity: AnyActivity,
  invocation: Invocation,
  context: SendContext,
  port: PerformPort,
): Promise<Performed> {
  const input = invocation.input as never;
  const isChange = activity.kind === 'repeatable' || activity.kind === 'attended';
  if (activity.kind === 'attended' && wasBegun(invocation, port.entries())) return failed(lost(invocation));
  if (isChange) {
    await port.lastForCall();
    const refused = await port.mayArm(invocation);
    if (refused !== undefined) return failed(refused);
  }
  await port.write([begun(invocation, activity.kind, context.now())]);
  if (activity.kind === 'once') return performSend(activity as unknown as Once, invocation, context, port);
  if (isChange) await port.seal();
  const announcing = announcer(port);
  try {
    const sent = sentTasks(port.entries());
    const result = await activity.run(input, { ...context, sent, announce: announcing.announce });
    const ledger = result.ledger ?? [];
    announcing.throwIfBroken();
    if (result.ok) {
      const { output, recorded } = result;
      return { how: 'done', output, notes: [], ledger, recorded };
    }
    return failed(result.failure, [], ledger);
  } catch (thrown) {
    announcing.throwIfBroken();
    return failed(failureOf(thrown));
  }
}

/** Whether another process took up this invocation before: its end would have moved the machine. */
function wasBegun({ id }: Invocation, entries: readonly Entry[]): boolean {
  const moved = entries.findLastIndex(({ type }) => type === 'event');
  return entries
    .slice(moved + 1)
    .some(({ type, body }) => type === 'activity.begun' && (body as { activity?: Json }).activity === id);
}

function lost({ verb, input }: Invocation): Failure {
  return new LifeboatError('activity.lost', `nobody knows how it ended: to ${show(verbTo(verb, input))}`, {
    hints: [
      'Lifeboat was ended while it was under way: it may be done, in part or whole, or still go on',
      'look at what it has done; it runs again only when you say so',
    ],
  }).toFailure();
}

/** A verb turns what it throws into its outcome; a failure to record an announcement must not become one. */
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

/** The backups and restores that a run requested, in order. Pure. */
function sentTasks(entries: readonly Entry[]): readonly SentTask[] {
  const sides = new Map(
    entries.flatMap(({ type, body }) => {
      const { key, input } = fieldsOf(body);
      return type === 'activity.begun' && typeof key === 'string' ? [[key, fieldsOf(input)['on']]] : [];
    }),
  );
  return [...foldSends(entries)].flatMap(([id, { verb = '', armedAt, baseline, output }]) => {
    const effect = effectOf(verb);
    if (armedAt === undefined || (effect !== 'backup' && effect !== 'restore')) return [];
    const became = fieldsOf(output)['id'];
    const on = sides.get(id) === 'target' ? { on: 'target' as const } : {};
    return [
      { what: effect, ...on, baseline: baseline as Json, ...(typeof became === 'number' ? { became } : {}) },
    ];
  });
}
