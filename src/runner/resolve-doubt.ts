import { effectOf } from '../../machines/verbs.ts';
import type { AnyActivity, Progress } from '../activities/activity.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry, Journal, Json, StreamName } from '../store/journal.ts';
import { type Doubt, doubtsOfStream, readLedgerTail } from '../store/projections/pending-calls.ts';
import { callName } from './assert-not-in-doubt.ts';
import { Holds } from './holds.ts';
import { type Once, performSend } from './perform-send.ts';
import { assertSamePlace } from './where-sent.ts';

/*
 * Calls in doubt that no run can ask about any more: the run is over, an earlier version sent the call as a
 * single command, or the part of the store with it is lost. The outcome goes on the instance's ledger.
 */

export interface Asking {
  readonly journal: Journal;
  /** For the record. */
  readonly who: object;
  /** The instance's address in the config. A call sent to another address is not asked about. */
  readonly url: string;
}

export interface Look extends Asking {
  readonly activities: Readonly<Record<string, AnyActivity>>;
  readonly signal: AbortSignal;
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly report: (progress: Progress) => void;
}

/** The outcome of a call: a task with this id, something without an id, or nothing. */
export interface Became {
  readonly landed: boolean;
  readonly id: number | undefined;
  /** The service's words that show it. */
  readonly evidence: Json | undefined;
  /** The failure that came instead of an answer. */
  readonly lost: Failure | undefined;
}

/**
 * Asks the service what became of a call; sends nothing. Records and returns what it shows; returns the
 * failure while nothing is certain. Rejects as `assertSamePlace` does, with `journal.held` while another
 * process has the ledger, and with the signal's reason.
 */
export async function lookUp(doubt: Doubt, look: Look): Promise<Became | Failure> {
  return underHold(doubt, look, async (entries, write) => {
    const activity = look.activities[doubt.verb];
    if (activity?.kind !== 'once') throw new Error(`no activity asks about the verb ${doubt.verb}`);
    const input = { ...doubt.input, intent: doubt.intent };
    const invocation = { id: doubt.intent, verb: doubt.verb, input };
    const context = {
      runId: doubt.run?.runId ?? doubt.intent,
      instance: doubt.instance,
      signal: look.signal,
      now: () => new Date(),
      report: look.report,
      mayLeave: sendsNothing,
    };
    const performed = await performSend(activity as unknown as Once, invocation, context, {
      write: async () => undefined,
      entries: () => entries,
      lastForCall: async () => undefined,
      mayArm: sendsNothing,
      seal: async () => undefined,
      sleep: (ms) => look.sleep(ms, look.signal),
    });
    if (performed.how !== 'done') return performed.failure;
    const output = (performed.output ?? {}) as { readonly landed?: boolean; readonly id?: number };
    const judged = performed.notes.find(({ type }) => type === 'intent.judged')?.body;
    const { evidence } = (judged ?? {}) as { readonly evidence?: Json };
    const became = { landed: output.landed !== false, id: output.id, evidence, lost: doubt.answer };
    await write(became, 'the service shows it');
    return became;
  });
}

/** Records a person's decision about a call. Rejects as `lookUp` does. */
export async function decideDoubt(
  doubt: Doubt,
  asking: Asking,
  became: Pick<Became, 'landed' | 'id'>,
  reason: string,
): Promise<void> {
  const known = { ...became, evidence: undefined, lost: doubt.answer };
  await underHold(doubt, asking, async (_, write) => write(known, reason));
}

/** Holds the streams of the call and its ledger; rejects if the call is no longer in doubt. */
async function underHold<T>(
  doubt: Doubt,
  { journal, who, url }: Asking,
  work: (entries: readonly Entry[], write: (became: Became, reason: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const ledger: StreamName = `instance/${doubt.instance}`;
  const stream: StreamName = doubt.run === undefined ? ledger : `run/${doubt.run.runId}`;
  await using holds = new Holds(journal);
  await holds.take(stream, ledger);
  const read = stream === ledger ? readLedgerTail(journal, stream) : journal.read(stream);
  const entries = await read;
  const open = doubtsOfStream(stream, entries).some(({ intent }) => intent === doubt.intent);
  if (!open) throw resolvedMeanwhile(doubt);
  await assertSamePlace(journal, doubt, url);
  return await work(entries, async ({ landed, id, evidence }, reason) => {
    holds.lost.throwIfAborted();
    const shown = evidence === undefined ? {} : { evidence };
    const body = { call: callName(doubt), verb: doubt.verb, landed, became: id ?? null, reason, ...shown };
    const by = { who: who as Json };
    await journal.append([{ stream: ledger, type: 'call.decided', body: { ...body, ...by } }], holds.all);
  });
}

/** What a call becomes at the service, as far as the service lists it. */
export function taskOf(verb: string): 'backup' | 'restore' | 'task' {
  const effect = effectOf(verb);
  return effect === 'backup' || effect === 'restore' ? effect : 'task';
}

function resolvedMeanwhile(doubt: Doubt): LifeboatError {
  return new LifeboatError('call.unknown', `${callName(doubt)} is no longer in doubt`, {
    hints: ['`lifeboat runs --in-doubt` lists the calls that are'],
    exitCode: EXIT.usage,
  });
}

function sendsNothing(): never {
  throw new Error('a look sends nothing');
}
