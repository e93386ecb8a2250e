import type { Failure } from '../../machines/parts/failure.ts';
import type { ActivityContext, AnyActivity, LedgerFact, OnceActivity } from '../activities/activity.ts';
import { failureOf } from '../errors.ts';
import type { Json, NewEntry } from '../journal/journal.ts';
import type { Invocation } from './fold.ts';
import type { IntentMemory } from './intents.ts';

/** How an invocation ended: what the machine is told, and what else becomes durable in the same transaction. */
export type Performed =
  | {
      readonly how: 'done';
      readonly output: unknown;
      readonly notes: readonly Note[];
      readonly ledger: readonly LedgerFact[];
    }
  | {
      readonly how: 'failed';
      readonly failure: Failure;
      readonly notes: readonly Note[];
      readonly ledger: readonly LedgerFact[];
    }
  | {
      readonly how: 'paused';
      readonly failure: Failure;
      readonly notes: readonly Note[];
      readonly ledger: readonly LedgerFact[];
    };

/** An entry for the run's own stream. */
export type Note = Omit<NewEntry, 'stream'>;

export interface PerformPort {
  /** Makes notes and facts durable; nothing that they announce may happen before it resolves. */
  write(notes: readonly Note[], ledger?: readonly LedgerFact[]): Promise<void>;
  memory(intent: string): IntentMemory | undefined;
  /** Called when a destructive call is armed, after the note is durable and before the first byte. */
  seal(): Promise<void>;
  sleep(ms: number): Promise<void>;
}

/**
 * Performs one verb. If the process dies inside: a read or repeatable verb is done again; a `once` verb that was armed is never sent
 * again, and the service is asked what became of it. Never rejects for what happens outside, only when the journal does.
 */
export async function perform(
  activity: AnyActivity,
  invocation: Invocation,
  context: ActivityContext,
  port: PerformPort,
): Promise<Performed> {
  const input = invocation.input as never;
  await port.write([begun(invocation, activity.kind)]);
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
    return failed(failureOf(thrown), [], []);
  }
}

/** A verb turns what is thrown inside of it into its outcome; that the journal did not take an announcement must not become one. */
function announcer(port: PerformPort): {
  readonly announce: (facts: readonly LedgerFact[]) => Promise<void>;
  readonly throwIfBroken: () => void;
} {
  let broken: { readonly thrown: unknown } | undefined;
  return {
    announce: async (facts) => {
      try {
        await port.write([], facts);
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

type Once = OnceActivity<{ readonly intent: string }, unknown>;

async function performOnce(
  activity: Once,
  invocation: Invocation,
  context: ActivityContext,
  port: PerformPort,
): Promise<Performed> {
  const input = invocation.input as { readonly intent: string };
  const mark = { intent: input.intent, verb: invocation.verb };
  const attempt = { activity, input, mark, context, port };
  const known = port.memory(input.intent);
  if (known?.landed !== undefined) return { how: 'done', output: known.landed, notes: [], ledger: [] };
  if (known?.absent !== undefined) return absent(known.absent, [], known.lost);
  if (known?.armedAt === undefined) {
    const sent = await sendUntilLetIn(attempt);
    if (sent !== 'unknown') return sent;
  }
  return judge(attempt);
}

/** One intent of a `once` verb: what is sent, how the journal names it, and the hands that do it. */
interface Attempt {
  readonly activity: Once;
  readonly input: { readonly intent: string };
  readonly mark: { readonly intent: string; readonly verb: string };
  readonly context: ActivityContext;
  readonly port: PerformPort;
}

/** Sends of a call that is turned away every time. */
const MOST_SENDS = 3;

/**
 * One send, and where that was turned away before it was looked into, all of it once more, a few times. That it was turned away is on disk
 * before the wait: a process that comes later finds it refused.
 */
async function sendUntilLetIn(attempt: Attempt): Promise<Performed | 'unknown'> {
  const { port } = attempt;
  for (let sends = 1; ; sends += 1) {
    const sent = await sendOnce(attempt);
    if (sent === 'unknown' || !('againMs' in sent)) return sent;
    if (sends >= MOST_SENDS) return sent.refused;
    await port.write(sent.refused.notes);
    await port.sleep(sent.againMs);
  }
}

interface TurnedAway {
  readonly refused: Performed;
  readonly againMs: number;
}

/** PREPARE, ARM, one send, OUTCOME. Everything that is not certain comes back as `unknown`, already on disk. */
async function sendOnce({
  activity,
  input,
  mark,
  context,
  port,
}: Attempt): Promise<Performed | TurnedAway | 'unknown'> {
  const prepared = await activity.prepare(input, context).catch(rejected);
  if (!prepared.ok) return failed(prepared.failure, [], []);
  await port.write([{ type: 'intent.prepared', body: { ...mark, baseline: prepared.output } }]);
  await port.write([{ type: 'intent.armed', body: mark }]);
  await port.seal();
  const sent = await activity
    .send(input, context)
    .catch((thrown: unknown) => ({ sent: 'unknown' as const, failure: failureOf(thrown) }));
  const outcome: Note = { type: 'intent.outcome', body: { ...mark, ...sent } as unknown as Json };
  if (sent.sent === 'landed') return { how: 'done', output: sent.output, notes: [outcome], ledger: [] };
  if (sent.sent === 'absent') {
    const refused = failed(sent.failure, [outcome], []);
    return sent.againMs === undefined ? refused : { refused, againMs: sent.againMs };
  }
  await port.write([outcome]);
  return 'unknown';
}

/** Asks the service until it is certain, the settle time has passed, or a person has to decide. */
async function judge({ activity, input, mark, context, port }: Attempt): Promise<Performed> {
  for (let looks = 0; ; looks += 1) {
    const known = port.memory(input.intent);
    const memory = {
      baseline: known?.baseline ?? null,
      armedAt: known?.armedAt ?? '',
      looks,
      lost: known?.lost,
      lostAt: known?.lostAt,
    };
    let judgement: Awaited<ReturnType<Once['judge']>>;
    try {
      judgement = await activity.judge(input, memory, context);
    } catch (thrown) {
      return failed(unreadable(failureOf(thrown)), [], []);
    }
    if (judgement.verdict === 'wait') {
      context.report({ kind: 'wait', untilMs: judgement.untilMs, what: waitingFor(known?.lost) });
      await port.sleep(judgement.ms);
      continue;
    }
    const note: Note = { type: 'intent.judged', body: { ...mark, ...judgement } as unknown as Json };
    if (judgement.verdict === 'landed')
      return { how: 'done', output: judgement.output, notes: [note], ledger: [] };
    if (judgement.verdict === 'absent') return absent(true, [note], known?.lost, judgement.evidence);
    return failed(judgement.failure, [note], []);
  }
}

/** An accepted request is only looked for; any other may still be under way. */
function waitingFor(lost: Failure | undefined): string {
  if (lost === undefined) return 'the lost request may still arrive';
  if (lost.code === 'service.no-id') return 'the service took it and named no id';
  return `${lost.shortMessage}; it may still be done`;
}

/** A list that cannot be read proves nothing: the doubt stays, and a person decides. */
function unreadable(failure: Failure): Failure {
  if (failure.code.startsWith('credentials.')) return failure;
  return {
    code: 'doubt.unreadable',
    shortMessage: 'the answer was lost, and the service cannot be asked what became of the request',
    hints: ['nothing is sent again until it is known', ...failure.hints],
    evidence: { ...failure.evidence, cause: failure.shortMessage },
  };
}

/** Proven not to have happened: by an answer (a failure to show) or by the service's list (the machine decides what next). */
function absent(
  reason: Failure | true,
  notes: readonly Note[],
  lost: Failure | undefined,
  evidence?: Json,
): Performed {
  if (reason !== true) return failed(reason, notes, []);
  const told = { ...(lost && { lost }), ...(evidence === undefined ? {} : { evidence }) };
  return { how: 'done', output: { landed: false, ...told }, notes, ledger: [] };
}

/** A refused or missing credential pauses the run; everything else is told to the machine. */
function failed(failure: Failure, notes: readonly Note[], ledger: readonly LedgerFact[]): Performed {
  if (failure.code.startsWith('credentials.')) return { how: 'paused', failure, notes, ledger };
  return { how: 'failed', failure, notes, ledger };
}

function rejected(thrown: unknown): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: failureOf(thrown) };
}

function begun(invocation: Invocation, kind: string): Note {
  const input = invocation.input as { readonly intent?: string } | undefined;
  return {
    type: 'activity.begun',
    body: {
      activity: invocation.id,
      verb: invocation.verb,
      kind,
      key: input?.intent ?? invocation.id,
      input: (invocation.input ?? null) as Json,
    },
  };
}
