import type { InDoubt, OnceActivity, SendContext, Sent } from '../activities/activity.ts';
import { failureOf } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Json } from '../store/journal.ts';
import { foldIntents, type IntentMemory } from '../store/projections/intents.ts';
import type { Invocation } from './fold.ts';
import { type RefusedCall, refusedBefore } from './intents.ts';
import { failed, type Note, type Performed, type PerformPort } from './performed.ts';

/** Any verb that must not happen twice, as the runner holds it. */
export type Once = OnceActivity<{ readonly intent: string }, unknown>;

/**
 * Performs a verb that must not happen twice: PREPARE, ARM, one send, OUTCOME, and where that is not certain,
 * the service is asked. If the process dies inside, what was armed is never sent again, unless it was refused
 * and nothing shows that it was done.
 */
export async function performOnce(
  activity: Once,
  invocation: Invocation,
  context: SendContext,
  port: PerformPort,
): Promise<Performed> {
  const input = invocation.input as { readonly intent: string } & { readonly [key: string]: Json };
  const { verb } = invocation;
  const attempt = { activity, input, mark: { intent: input.intent, verb }, context, port };
  const known = memoryOf(port, input.intent);
  if (known?.landed !== undefined) return { how: 'done', output: known.landed, notes: [], ledger: [] };
  if (known?.absent !== undefined) return absent(known.absent, [], known.lost);
  if (known?.armedAt !== undefined && (known.refused === undefined || known.lost !== undefined))
    return judge(attempt);
  let isOver = known?.refused === undefined;
  for (const call of refusedUntilNow(attempt, known)) {
    const { intent } = call;
    const earlier = { ...attempt, input: { ...call.input, intent }, mark: { intent, verb } };
    const shown = await look(earlier, inDoubtOf(call.memory, 0));
    if (typeof shown !== 'string') return failed(unreadable(shown));
    if (call.memory === known) isOver = shown === 'absent';
    if (shown !== 'something') continue;
    await port.write([contradicted(earlier.mark, call.memory)]);
    return judge(earlier);
  }
  const sent = await sendUntilLetIn(attempt, isOver);
  return sent === 'unknown' ? judge(attempt) : sent;
}

/**
 * What was refused and would be sent once more: this very intent, after new credentials, and earlier ones of
 * the same wish.
 */
function refusedUntilNow(
  { input, mark, port }: Attempt,
  known: IntentMemory | undefined,
): readonly RefusedCall[] {
  const own = known?.refused === undefined ? [] : [{ intent: mark.intent, input, memory: known }];
  return [...refusedBefore(port.entries(), { ...mark, input }), ...own];
}

/** One intent of a `once` verb: what is sent, how the journal names it, and the hands that do it. */
interface Attempt {
  readonly activity: Once;
  readonly input: { readonly intent: string } & { readonly [key: string]: Json };
  readonly mark: { readonly intent: string; readonly verb: string };
  readonly context: SendContext;
  readonly port: PerformPort;
}

/** Sends of a call that is turned away every time. */
const MOST_SENDS = 3;

/**
 * PREPARE, and one send; where that was turned away unread, another one, a few times. That it was turned away
 * is on disk before the wait: a process that comes later finds it refused. `isFirst` is false where earlier
 * sends of the intent may still be under way: their baseline stays. Nothing is sent again unless the service
 * can be looked at, and shows nothing that is not in the first baseline: the refusal need not be the
 * service's own.
 */
async function sendUntilLetIn(attempt: Attempt, isFirst: boolean): Promise<Performed | 'unknown'> {
  const { activity, input, mark, context, port } = attempt;
  if (isFirst) {
    const prepared = await activity.prepare(input, context).catch(rejected);
    if (!prepared.ok) return failed(prepared.failure);
    await port.write([{ type: 'intent.prepared', body: { ...mark, baseline: prepared.output } }]);
  }
  for (let sends = 1; ; sends += 1) {
    const sent = await sendOnce(attempt);
    if (sent === 'unknown' || 'how' in sent) return sent;
    const { failure, againMs, lostAt } = sent;
    const refused = failed(failure, [outcome(mark, sent)], []);
    // New credentials are needed before the service can be looked at; the process that comes with them looks
    // before anything is sent.
    if (refused.how === 'paused') return refused;
    const isLast = againMs === undefined || sends >= MOST_SENDS;
    if (!isLast) {
      await port.write(refused.notes);
      await port.sleep(againMs);
    }
    const memory = refusedNow(attempt, failure, lostAt);
    const shown = await look(attempt, inDoubtOf(memory, 0));
    if (shown === 'something') {
      await port.write([contradicted(mark, memory)]);
      return 'unknown';
    }
    if (isLast) return refused;
    if (typeof shown !== 'string') return failed(failure);
  }
}

/** `lostAt`: when the refusal came, by this machine's clock. */
type Refused = Extract<Sent<unknown>, { sent: 'absent' }> & { readonly lostAt: string };

/**
 * ARM, one send, OUTCOME. Everything that is not certain comes back as `unknown`, already on disk; a refusal
 * as it was said.
 */
async function sendOnce({
  activity,
  input,
  mark,
  context,
  port,
}: Attempt): Promise<Performed | Refused | 'unknown'> {
  await port.lastForCall();
  const refused = await port.mayArm({ verb: mark.verb, input });
  if (refused !== undefined) return failed(refused);
  await port.write([{ type: 'intent.armed', body: { ...mark, armedAt: context.now().toISOString() } }]);
  await port.seal();
  const sent = await activity
    .send(input, context, memoryOf(port, mark.intent)?.baseline ?? null)
    .catch((thrown: unknown) => ({ sent: 'unknown' as const, failure: failureOf(thrown) }));
  if (sent.sent === 'landed')
    return { how: 'done', output: sent.output, notes: [outcome(mark, sent)], ledger: [] };
  const ended = { ...sent, lostAt: context.now().toISOString() };
  if (ended.sent === 'absent') return ended.refused ? ended : failed(ended.failure, [outcome(mark, ended)]);
  await port.write([outcome(mark, ended)]);
  return 'unknown';
}

function outcome(mark: Attempt['mark'], sent: Sent<unknown>): Note {
  return { type: 'intent.outcome', body: { ...mark, ...sent } as unknown as Json };
}

/** What the journal says once the service has shown that a refusal need not be true. */
function contradicted(mark: Attempt['mark'], { refused, lostAt }: IntentMemory): Note {
  const body = { ...mark, sent: 'unknown', refused: true, failure: refused, lostAt };
  return { type: 'intent.outcome', body: body as unknown as Json };
}

/** The memory of an intent as it is once its refusal is on disk. */
function refusedNow({ mark, port }: Attempt, failure: Failure, lostAt: string): IntentMemory {
  const known = memoryOf(port, mark.intent) ?? { baseline: null };
  return { ...known, refused: failure, lostAt };
}

/**
 * Whether the service shows something that a refused call may have become; `absent` when it shows nothing and
 * nothing can be under way any more. The failure where the service cannot be looked at.
 */
async function look(
  { activity, input, context, port }: Attempt,
  memory: InDoubt,
): Promise<'absent' | 'nothing' | 'something' | Failure> {
  for (;;) {
    try {
      const judgement = await activity.judge(input, memory, context);
      if (judgement.verdict === 'absent') return 'absent';
      if (judgement.verdict !== 'wait') return 'something';
      if (judgement.shows !== 'unknown') return judgement.shows;
      context.report({ kind: 'wait', untilMs: judgement.untilMs, what: 'the service cannot be asked' });
      await port.sleep(judgement.ms);
    } catch (thrown) {
      return failureOf(thrown);
    }
  }
}

/** What an activity judges by. */
function inDoubtOf(known: IntentMemory | undefined, looks: number): InDoubt {
  const { baseline = null, armedAt = '', firstArmedAt, refused, lost = refused, lostAt } = known ?? {};
  const refusal = refused && (known?.lost === undefined ? 'unchecked' : 'doubtful');
  return { baseline, armedAt, firstArmedAt, refusal, looks, lost, lostAt };
}

/** Asks the service until it is certain, the in-flight window has passed, or a person has to decide. */
async function judge({ activity, input, mark, context, port }: Attempt): Promise<Performed> {
  for (let looks = 0; ; looks += 1) {
    const known = memoryOf(port, mark.intent);
    let judgement: Awaited<ReturnType<Once['judge']>>;
    try {
      judgement = await activity.judge(input, inDoubtOf(known, looks), context);
    } catch (thrown) {
      return failed(unreadable(failureOf(thrown)));
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
    return failed(judgement.failure, [note]);
  }
}

/** An accepted request is only looked for; any other may still be under way. */
function waitingFor(lost: Failure | undefined): string {
  if (lost === undefined) return 'the lost request may still arrive';
  if (lost.code === 'service.no-id') return 'the service accepted it and named no id';
  if (lost.code === 'service.old-id') return lost.shortMessage;
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

/**
 * Proven not to have happened: by an answer (a failure to show) or by the service's list (the machine decides
 * what next).
 */
function absent(
  reason: Failure | true,
  notes: readonly Note[],
  lost: Failure | undefined,
  evidence?: Json,
): Performed {
  if (reason !== true) return failed(reason, notes);
  const known = { ...(lost && { lost }), ...(evidence === undefined ? {} : { evidence }) };
  return { how: 'done', output: { landed: false, ...known }, notes, ledger: [] };
}

function memoryOf(port: PerformPort, intent: string): IntentMemory | undefined {
  return foldIntents(port.entries()).get(intent);
}

function rejected(thrown: unknown): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: failureOf(thrown) };
}
