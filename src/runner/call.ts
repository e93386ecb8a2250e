import type { AnyActivity, LedgerFact, Progress } from '../activities/activity.ts';
import { failureOf } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import { plainAddress } from '../base/redact.ts';
import type { Entry, Journal, Json, NewEntry, StreamName } from '../store/journal.ts';
import { type OpenCall, readLedgerTail } from '../store/projections/pending-calls.ts';
import { foldSends } from '../store/projections/sends.ts';
import { doubtsOfClosedRuns } from './assert-not-in-doubt.ts';
import { appendHolding, Holds, lostHold } from './holds.ts';
import { moveToLedger, openCalls } from './in-doubt.ts';
import { assertSameName } from './one-name.ts';
import { perform } from './perform.ts';
import type { Note, Performed } from './performed.ts';
import { newId } from './runs.ts';
import { assertSamePlace } from './where-sent.ts';

/** One verb that a person requests outside of any runbook. */
export interface Call {
  readonly verb: string;
  readonly input: Readonly<Record<string, Json>>;
  /** The reason, for the record. */
  readonly reason?: string | undefined;
}

export interface CallDeps {
  readonly journal: Journal;
  /** The instance's name; the call is recorded in its ledger. */
  readonly instance: string;
  /** Its address, for the record: another instance is never asked about a call sent to this one. */
  readonly url: string;
  /** The caller, for the record. */
  readonly who?: object;
  readonly activities: Readonly<Record<string, AnyActivity>>;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly report: (progress: Progress) => void;
  /** Stores a checkpoint of the log outside the store, before any byte of a change may be sent. */
  readonly seal: () => Promise<void>;
}

/** How a call ended, and the failure if its answer was lost. */
export interface CallEnd {
  readonly performed: Performed;
  readonly lost: Failure | undefined;
  /** What the service showed as proof that it was done, if its answer was lost. */
  readonly evidence?: Json | undefined;
}

/** Makes calls outside of runbooks, recorded in the ledger of one instance. A Caller holds that ledger. */
export interface Caller {
  /** Calls of earlier processes that were armed and never decided, oldest first. */
  open(): readonly OpenCall[];
  /**
   * Performs one verb under the rules of a run: a call that must not happen twice is prepared, armed, sent
   * once, and then looked up. If the process dies inside, `open` of the next Caller shows the call. Rejects
   * with the signal's reason when stopped, with `journal.lost-hold` if another process may have the ledger by
   * now, and with the journal's errors.
   */
  perform(call: Call): Promise<CallEnd>;
  /** Asks the service about the outcome of an open call; sends nothing. Rejects as `assertSamePlace` does. */
  lookUp(open: OpenCall): Promise<CallEnd>;
  /** Resolves an open call by a person's decision: it became a task with this id, or nothing. */
  decide(open: OpenCall, became: number | undefined, reason: string): Promise<void>;
  /**
   * Records facts that belong to the call, under the hold of this ledger, or of another one that is taken for
   * this.
   */
  record(facts: readonly LedgerFact[]): Promise<void>;
  /** Aborted if another process may have the ledger by now: then nothing more is written or sent. */
  readonly lost: AbortSignal;
  /** Does nothing the second time. */
  release(): Promise<void>;
}

/**
 * Takes the ledger of an instance, and moves into it the calls in doubt of runs that are over. Rejects with
 * `journal.held` while a run or another call has the ledger.
 */
export async function takeLedger(deps: CallDeps): Promise<Caller> {
  const stream: StreamName = `instance/${deps.instance}`;
  const holds = new Holds(deps.journal);
  await holds.take(stream);
  const entries: Entry[] = [];
  const signal = AbortSignal.any([deps.signal, holds.lost]);
  const url = plainAddress(deps.url) ?? '';
  const by = deps.who === undefined ? {} : { who: deps.who as Json };
  try {
    entries.push(...(await readLedgerTail(deps.journal, stream)));
    const left = moveToLedger(await doubtsOfClosedRuns(deps.journal, deps.instance));
    if (left.length > 0) entries.push(...(await deps.journal.append(left, holds.all)));
  } catch (thrown) {
    await holds.release();
    throw thrown;
  }

  const append = async (notes: readonly Note[], facts: readonly LedgerFact[] = []): Promise<void> => {
    const written: NewEntry[] = [...notes, ...facts].map(({ type, body }) => ({ stream, type, body }));
    if (written.length > 0) entries.push(...(await deps.journal.append(written, holds.all)));
  };

  const run = async (id: string, call: Call): Promise<CallEnd> => {
    try {
      return await performAndWrite(id, call);
    } catch (thrown) {
      if (!holds.lost.aborted) throw thrown;
      const look = `what was sent and when: lifeboat calls list --instance ${deps.instance}`;
      throw lostHold(`the ledger of ${deps.instance}`, entries, holds.lost, [look]);
    }
  };

  const performAndWrite = async (id: string, { verb, input }: Call): Promise<CallEnd> => {
    const activity = deps.activities[verb];
    if (activity === undefined) throw new Error(`no activity performs the verb ${verb}`);
    const context = {
      runId: id,
      instance: deps.instance,
      signal,
      now: deps.now,
      report: deps.report,
      mayLeave: () => {
        deps.signal.throwIfAborted();
        holds.mayLeave();
      },
    };
    const before = entries.length;
    const performed = await perform(activity, { id, verb, input: { ...input, intent: id } }, context, {
      write: async (notes, facts) => {
        signal.throwIfAborted();
        await append(notes, facts);
      },
      entries: () => entries,
      lastForCall: () => holds.lastForCall(deps.signal),
      // A single command makes no change that needs a second person's approval. The call is now on record
      // with its address, so a process that began first under another name is noticed.
      mayArm: () => assertSameName(deps.journal, deps).then(() => undefined, failureOf),
      seal: async () => {
        await deps.seal();
        signal.throwIfAborted();
      },
      sleep: (ms) => deps.sleep(ms, signal),
    });
    const ended = { type: 'call.ended', body: endOf(id, verb, performed) };
    await append([...performed.notes, ended], performed.ledger);
    // A call that was done without being armed: an earlier refused call with the same purpose turned out to
    // have been executed.
    const judged = entries.slice(before).findLast(({ type }) => type === 'intent.judged');
    const { intent = '' } = (judged?.body ?? {}) as { readonly intent?: string };
    const sends = foldSends(entries);
    const send = sends.get(id) ?? sends.get(intent);
    return { performed, lost: send?.answer, evidence: send?.evidence as Json | undefined };
  };

  return {
    open: () => openCalls(entries),
    perform: async (call) => {
      const id = `call-${newId()}`;
      const { verb, input, reason } = call;
      const why = { ...(reason === undefined ? {} : { reason }), ...by };
      await append([{ type: 'call.begun', body: { call: id, verb, input, url, ...why } }]);
      return run(id, call);
    },
    lookUp: async ({ intent, verb, input }) => {
      await assertSamePlace(deps.journal, { instance: deps.instance, intent, verb }, url);
      return run(intent, { verb, input });
    },
    decide: async (open, became, reason) => {
      await assertSamePlace(deps.journal, { ...open, instance: deps.instance }, url);
      const body = { call: open.intent, verb: open.verb, became: became ?? null, reason, ...by };
      return append([{ type: 'call.decided', body }]);
    },
    record: async (facts) => {
      const isOwn = ({ instance = deps.instance }: LedgerFact) => instance === deps.instance;
      await append([], facts.filter(isOwn));
      const others = facts.filter((fact) => !isOwn(fact));
      if (others.length === 0) return;
      await appendHolding(
        deps.journal,
        others.map(({ instance = '', ...fact }): NewEntry => ({ stream: `instance/${instance}`, ...fact })),
      );
    },
    lost: holds.lost,
    release: () => holds.release(),
  };
}

function endOf(call: string, verb: string, performed: Performed): Json {
  if (performed.how === 'done')
    return { call, verb, how: 'done', output: (performed.output ?? null) as Json };
  return { call, verb, how: performed.how, failure: performed.failure as unknown as Json };
}
