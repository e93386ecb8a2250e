import { isRefused, type Send } from '../../machines/send-state.ts';
import type { InDoubt, OnceActivity, SendContext, Sent } from '../activities/activity.ts';
import { failureOf } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry, Json } from '../store/journal.ts';
import { foldSends, isDecision } from '../store/projections/sends.ts';
import type { Invocation } from './fold.ts';
import { failed, type Note, type Performed, type PerformPort } from './performed.ts';

/** Any verb that must not happen twice, with the types erased. */
export type Once = OnceActivity<{ readonly intent: string }, unknown>;

interface Attempt {
  readonly activity: Once;
  readonly input: { readonly intent: string } & { readonly [key: string]: Json };
  readonly mark: { readonly intent: string; readonly verb: string };
  readonly context: SendContext;
  readonly port: PerformPort;
}

/** How often a throttled call is sent, in total. */
const MAX_SENDS = 3;

/**
 * Performs the states of a send (`machines/send.ts`) until it is over or a person must decide. Each state is
 * read from the journal: after a crash the next process continues there, and looks for an armed call first.
 */
export async function performSend(
  activity: Once,
  invocation: Invocation,
  context: SendContext,
  port: PerformPort,
): Promise<Performed> {
  const input = invocation.input as Attempt['input'];
  const attempt = { activity, input, mark: { intent: input.intent, verb: invocation.verb }, context, port };
  const taken = sendOf(attempt);
  const begun = await takeUp(attempt, taken);
  if (begun !== 'send') return begun;
  for (let sends = 1; ; sends += 1) {
    const sent = await sendOnce(attempt);
    if (sent === 'lost') return judge(attempt);
    if ('how' in sent) return sent;
    const refused = failed(sent.failure);
    const isLast = sent.againMs === undefined || sends >= MAX_SENDS;
    if (!isLast) await port.sleep(sent.againMs);
    const shown = await look(attempt);
    if (shown === 'something') return contradicted(attempt);
    if (isLast || typeof shown !== 'string') return refused;
    await noteNothing(attempt);
  }
}

/** Looks, prepares, or ends a send, depending on the state in which this process finds it. */
async function takeUp(attempt: Attempt, send: Send): Promise<Performed | 'send'> {
  switch (send.state) {
    case 'landed':
      return { how: 'done', output: send.output, notes: [], ledger: [] };
    case 'absent':
      return absent(send, []);
    case 'armed':
    case 'lost':
    case 'doubtful':
      return judge(attempt);
    case 'preparing':
    case 'prepared':
      return (await lookForRefused(attempt)) ?? prepare(attempt);
    default: {
      const failure = answerOf(send);
      if (!isRefused(send) || !failure.code.startsWith('credentials.')) return failed(failure);
      const found = await lookForRefused(attempt);
      if (found !== undefined) return found;
      const shown = await look(attempt);
      if (typeof shown !== 'string') return failed(unreadable(shown));
      if (shown === 'something') return contradicted(attempt);
      await noteNothing(attempt);
      // After `absent` no refused attempt can still be under way: take a new baseline. After `nothing` one
      // might be: keep the first.
      return shown === 'absent' ? prepare(attempt) : 'send';
    }
  }
}

/** Earlier refused sends of the same purpose: the refusal may not have come from the service itself. */
async function lookForRefused(attempt: Attempt): Promise<Performed | undefined> {
  const { mark, input, port } = attempt;
  for (const call of refusedBefore(port.entries(), { ...mark, input })) {
    const { intent } = call;
    const earlier = { ...attempt, input: { ...call.input, intent }, mark: { ...mark, intent } };
    const shown = await look(earlier);
    if (typeof shown !== 'string') return failed(unreadable(shown));
    if (shown === 'something') return contradicted(earlier);
  }
  return undefined;
}

async function prepare({ activity, input, mark, context, port }: Attempt): Promise<Performed | 'send'> {
  const prepared = await activity.prepare(input, context).catch(rejected);
  if (!prepared.ok) return failed(prepared.failure);
  await port.write([{ type: 'intent.prepared', body: { ...mark, baseline: prepared.output } }]);
  return 'send';
}

/**
 * ARM, one send, OUTCOME. A lost answer or a refusal is on disk before any wait, so that a later process
 * finds it. Missing credentials pause the run; the process that continues looks before it sends.
 */
async function sendOnce(attempt: Attempt): Promise<Performed | Refused | 'lost'> {
  const { activity, input, mark, context, port } = attempt;
  await port.lastForCall();
  const forbidden = await port.mayArm({ verb: mark.verb, input });
  if (forbidden !== undefined) return failed(forbidden);
  await port.write([{ type: 'intent.armed', body: { ...mark, armedAt: context.now().toISOString() } }]);
  await port.seal();
  const sent = await activity
    .send(input, context, sendOf(attempt).baseline as Json)
    .catch((thrown: unknown) => ({ sent: 'unknown' as const, failure: failureOf(thrown) }));
  if (sent.sent === 'landed')
    return { how: 'done', output: sent.output, notes: [outcome(mark, sent)], ledger: [] };
  const note = outcome(mark, { ...sent, lostAt: context.now().toISOString() });
  const ended = failed(sent.failure, [note]);
  if (sent.sent === 'absent' && (!sent.refused || ended.how === 'paused')) return ended;
  await port.write([note]);
  return sent.sent === 'unknown' ? 'lost' : { failure: sent.failure, againMs: sent.againMs };
}

interface Refused {
  readonly failure: Failure;
  readonly againMs: number | undefined;
}

function outcome(mark: Attempt['mark'], sent: Sent<unknown> & { readonly lostAt?: string }): Note {
  return { type: 'intent.outcome', body: { ...mark, ...sent } as unknown as Json };
}

/** The service shows what a refused call may have become: the call now counts as lost. */
async function contradicted(attempt: Attempt): Promise<Performed> {
  const { mark, port } = attempt;
  const send = sendOf(attempt);
  const body = { ...mark, sent: 'unknown', refused: true, failure: answerOf(send), lostAt: send.lostAt };
  await port.write([{ type: 'intent.outcome', body: body as unknown as Json }]);
  return judge(attempt);
}

/** On record before the second attempt: the look showed nothing. */
function noteNothing({ mark, port }: Attempt): Promise<void> {
  return port.write([{ type: 'intent.judged', body: { ...mark, verdict: 'nothing' } }]);
}

/** What the service shows of a refused call; `absent`: nothing, and nothing can still be under way. */
async function look(attempt: Attempt): Promise<'absent' | 'nothing' | 'something' | Failure> {
  const { activity, input, context, port } = attempt;
  for (;;) {
    try {
      const judgement = await activity.judge(input, memoryOf(sendOf(attempt), 0), context);
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

/** Asks until the outcome is certain, the in-flight window has passed, or a person must decide. */
async function judge(attempt: Attempt): Promise<Performed> {
  const { activity, input, mark, context, port } = attempt;
  for (let looks = 0; ; looks += 1) {
    const send = sendOf(attempt);
    let judgement: Awaited<ReturnType<Once['judge']>>;
    try {
      judgement = await activity.judge(input, memoryOf(send, looks), context);
    } catch (thrown) {
      return failed(unreadable(failureOf(thrown)));
    }
    if (judgement.verdict === 'wait') {
      context.report({ kind: 'wait', untilMs: judgement.untilMs, what: waitingFor(send.answer) });
      await port.sleep(judgement.ms);
      continue;
    }
    const note: Note = { type: 'intent.judged', body: { ...mark, ...judgement } as unknown as Json };
    if (judgement.verdict === 'landed')
      return { how: 'done', output: judgement.output, notes: [note], ledger: [] };
    if (judgement.verdict === 'absent') return absent({ ...send, evidence: judgement.evidence }, [note]);
    return failed(judgement.failure, [note]);
  }
}

function memoryOf(send: Send, looks: number): InDoubt {
  const { baseline, armedAt = '', firstArmedAt, answer: lost, isRefusal, lostAt } = send;
  const refusal = isRefusal ? (isRefused(send) ? 'unchecked' : 'doubtful') : undefined;
  return { baseline: baseline as Json, armedAt, firstArmedAt, refusal, looks, lost, lostAt };
}

/** A request that the service accepted only has to be found; any other may still be under way. */
function waitingFor(lost: Failure | undefined): string {
  if (lost === undefined) return 'the lost request may still arrive';
  if (lost.code === 'service.no-id') return 'the service accepted it and named no id';
  if (lost.code === 'service.old-id') return lost.shortMessage;
  return `${lost.shortMessage}; it may still be done`;
}

/** An unreadable list proves nothing: the doubt stays, and a person decides. */
function unreadable(failure: Failure): Failure {
  if (failure.code.startsWith('credentials.')) return failure;
  return {
    code: 'doubt.unreadable',
    shortMessage: 'the answer was lost, and the service cannot be asked what became of the request',
    hints: ['nothing is sent again until it is known', ...failure.hints],
    evidence: { ...failure.evidence, cause: failure.shortMessage },
  };
}

/** The service's list proves that it did not happen; the machine decides what comes next. */
function absent({ answer, evidence }: Send, notes: readonly Note[]): Performed {
  const known = { ...(answer && { lost: answer }), ...(evidence === undefined ? {} : { evidence }) };
  return { how: 'done', output: { landed: false, ...known }, notes, ledger: [] };
}

function answerOf({ answer, state }: Send): Failure {
  if (answer === undefined) throw new Error(`a send that is ${state} has an answer on record`);
  return answer;
}

function sendOf({ mark, port }: Attempt): Send {
  return foldSends(port.entries()).get(mark.intent) ?? { state: 'preparing', baseline: null };
}

function rejected(thrown: unknown): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: failureOf(thrown) };
}

/** A call with the same purpose is sent only after looking for this one. */
interface RefusedCall {
  readonly intent: string;
  readonly input: { readonly [key: string]: Json };
}

/**
 * Earlier refused sends with the same purpose (verb, purpose and input), oldest first, unless a later send of
 * the verb landed or a person decided. Pure.
 */
export function refusedBefore(
  entries: readonly Entry[],
  { intent, verb, input }: Pick<RefusedCall, 'intent' | 'input'> & { readonly verb: string },
): readonly RefusedCall[] {
  const begun = new Map<string, RefusedCall['input']>();
  for (const { type, body } of sinceResolved(entries, verb)) {
    const { key, input: given } = body as { readonly key?: Json; readonly input?: RefusedCall['input'] };
    if (type === 'activity.begun' && typeof key === 'string') begun.set(key, given ?? {});
  }
  return [...foldSends(entries)].flatMap(([earlier, send]) => {
    const given = begun.get(earlier);
    const isSame =
      given !== undefined && earlier !== intent && wishOf(earlier, given) === wishOf(intent, input);
    return isSame && send.verb === verb && isRefused(send) ? [{ intent: earlier, input: given }] : [];
  });
}

/** The entries after the last one that resolved the verb's purpose. */
function sinceResolved(entries: readonly Entry[], verb: string): readonly Entry[] {
  const last = entries.findLastIndex((entry) => {
    const { type, body } = entry;
    const { sent, verdict, verb: its } = body as Readonly<Record<string, Json>>;
    if (type === 'event') return isDecision(entry);
    if (type === 'call.decided') return its === verb;
    return its === verb && (sent === 'landed' || verdict === 'landed');
  });
  return entries.slice(last + 1);
}

/** Intents with one purpose differ only in their last number; those of single commands differ entirely. */
function wishOf(intent: string, { intent: _, ...input }: RefusedCall['input']): string {
  return JSON.stringify([intent.replace(/-[^-]*$/u, ''), Object.entries(input).sort()]);
}
