import type { Failure } from '../../machines/parts/failure.ts';
import type { AnyActivity, LedgerFact, Progress } from '../activities/activity.ts';
import type { Entry, Hold, Journal, Json, NewEntry, StreamName } from '../store/journal.ts';
import { handOn, type OpenCall, openCalls } from './in-doubt.ts';
import { foldIntents } from './intents.ts';
import { newId } from './new-id.ts';
import { perform } from './perform.ts';
import type { Note, Performed } from './performed.ts';
import { leftBehind } from './refuse-in-doubt.ts';

/** One verb that a person asks for outside of any runbook. */
export interface Call {
  readonly verb: string;
  readonly input: Readonly<Record<string, Json>>;
  /** Why, for the record. */
  readonly reason?: string | undefined;
}

export interface CallDeps {
  readonly journal: Journal;
  /** The instance's name: its ledger is where the call is written. */
  readonly instance: string;
  /** Who makes the call, for the record. */
  readonly who?: object;
  readonly activities: Readonly<Record<string, AnyActivity>>;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Rejects when `signal` ends it. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly report: (progress: Progress) => void;
  /** Signs the ledger's head once a call is armed; absent for calls that destroy nothing. */
  readonly seal?: (stream: StreamName) => Promise<void>;
}

/** How a call ended, and, where its answer was not taken for one, what came instead. */
export interface CallEnd {
  readonly performed: Performed;
  readonly lost: Failure | undefined;
  /** By what the service showed that it was done, where its answer was lost. */
  readonly evidence?: Json | undefined;
}

/** Calls outside of runbooks, in the ledger of one instance. Whoever has it holds the ledger. */
export interface Caller {
  /** Calls of earlier processes that were armed and never settled, oldest first. */
  open(): readonly OpenCall[];
  /**
   * Performs one verb under the rules of a run: what may not happen twice is prepared, armed and sent once, and what became of
   * it is asked for. If the process dies inside, `open` of the next one tells. Rejects with the signal's reason when it is
   * stopped, and with what the journal rejects with.
   */
  perform(call: Call): Promise<CallEnd>;
  /** Asks the service what became of an open call; sends nothing. */
  settle(open: OpenCall): Promise<CallEnd>;
  /** Closes an open call by a person's decision: it became a task with this id, or nothing. */
  decide(open: OpenCall, became: number | undefined, reason: string): Promise<void>;
  release(): void;
}

/**
 * Takes the ledger of an instance, and into it what runs that are over have left in doubt; rejects with `journal.held` while a run or another
 * call has it.
 */
export async function takeLedger(deps: CallDeps): Promise<Caller> {
  const stream: StreamName = `instance/${deps.instance}`;
  const hold: Hold = await deps.journal.hold(stream);
  const entries: Entry[] = [];
  const by = deps.who === undefined ? {} : { who: deps.who as Json };
  try {
    entries.push(...(await deps.journal.read(stream)));
    const left = handOn(await leftBehind(deps.journal, deps.instance));
    if (left.length > 0) entries.push(...(await deps.journal.append(left)));
  } catch (thrown) {
    hold.release();
    throw thrown;
  }

  const append = async (notes: readonly Note[], facts: readonly LedgerFact[] = []): Promise<void> => {
    const written: NewEntry[] = [...notes, ...facts].map((note) => ({ stream, ...note }));
    if (written.length > 0) entries.push(...(await deps.journal.append(written)));
  };

  const run = async (id: string, { verb, input }: Call): Promise<CallEnd> => {
    const activity = deps.activities[verb];
    if (activity === undefined) throw new Error(`no activity performs the verb ${verb}`);
    const context = {
      runId: id,
      instance: deps.instance,
      signal: deps.signal,
      now: deps.now,
      report: deps.report,
    };
    const before = entries.length;
    const performed = await perform(activity, { id, verb, input: { ...input, intent: id } }, context, {
      write: async (notes, facts) => {
        deps.signal.throwIfAborted();
        await append(notes, facts);
      },
      entries: () => entries,
      seal: async () => {
        await deps.seal?.(stream);
        deps.signal.throwIfAborted();
      },
      sleep: deps.sleep,
    });
    const ended = { type: 'call.ended', body: endOf(id, verb, performed) };
    await append([...performed.notes, ended], performed.ledger);
    const intents = foldIntents(entries);
    // A call that was never armed and is done: an earlier one of the same wish, which was refused, turned out
    // to be.
    const judged = entries.slice(before).findLast(({ type }) => type === 'intent.judged');
    const { intent = '' } = (judged?.body ?? {}) as { readonly intent?: string };
    const known = intents.get(id) ?? intents.get(intent);
    return { performed, lost: known?.lost, evidence: known?.evidence };
  };

  return {
    open: () => openCalls(entries),
    perform: async (call) => {
      const id = `call-${newId()}`;
      const { verb, input, reason } = call;
      const why = { ...(reason === undefined ? {} : { reason }), ...by };
      await append([{ type: 'call.begun', body: { call: id, verb, input, ...why } }]);
      return run(id, call);
    },
    settle: ({ intent, verb, input }) => run(intent, { verb, input }),
    decide: (open, became, reason) => {
      const body = { call: open.intent, verb: open.verb, became: became ?? null, reason, ...by };
      return append([{ type: 'call.decided', body }]);
    },
    release: () => hold.release(),
  };
}

function endOf(call: string, verb: string, performed: Performed): Json {
  if (performed.how === 'done')
    return { call, verb, how: 'done', output: (performed.output ?? null) as Json };
  return { call, verb, how: performed.how, failure: performed.failure as unknown as Json };
}
