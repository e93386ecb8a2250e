import { isInDoubt } from '../../machines/send-state.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Entry, Hold, Journal, StreamName } from '../store/journal.ts';
import { foldSends } from '../store/projections/sends.ts';

/** Milliseconds a hold must last at the first byte of a call: the time from the check to the network. */
const MARGIN_MS = 250;
/** Milliseconds a hold must last when a call is begun, for time to connect; a renewal also suffices. */
const ENOUGH_MS = 2_000;
const LOOK_MS = 50;

/** The streams that this process may write, and a signal for when it loses one of them. */
export class Holds implements AsyncDisposable {
  readonly #journal: Pick<Journal, 'hold'>;
  readonly #all: Hold[] = [];
  readonly #lost = new AbortController();

  constructor(journal: Pick<Journal, 'hold'>) {
    this.#journal = journal;
  }

  get all(): readonly Hold[] {
    return this.#all;
  }

  /** Aborted, with the error as its reason, as soon as one of them is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Takes further streams in the order of their names, so that two processes cannot deadlock. Rejects with
   * `journal.held`; streams taken before stay held until `release`.
   */
  async take(...streams: readonly StreamName[]): Promise<void> {
    const missing = new Set(streams.filter((name) => !this.#all.some(({ resource }) => resource === name)));
    for (const stream of [...missing].sort()) {
      const hold = await this.#journal.hold(stream);
      this.#all.push(hold);
      const lose = () => this.#lost.abort(hold.lost.reason);
      if (hold.lost.aborted) lose();
      else hold.lost.addEventListener('abort', lose, { once: true });
    }
  }

  /**
   * Throws `journal.lost-hold` unless each hold still lasts for a moment. Synchronous, called right before
   * the first byte of a change: a process that was stopped in between must not continue.
   */
  mayLeave(): void {
    if (this.lost.aborted) throw asLost(this.lost.reason);
    const short = this.#all.find((hold) => hold.lasts() <= MARGIN_MS);
    if (short !== undefined) throw notLasting(short.resource);
  }

  /** Resolves when each hold lasts for a call or was renewed. Rejects with `lost`'s or `signal`'s reason. */
  async lastForCall(signal: AbortSignal): Promise<void> {
    using stop = new FirstAbort(signal, this.lost);
    const atFirst = this.#lasts();
    for (let left = atFirst; left < ENOUGH_MS && left <= atFirst; left = this.#lasts()) {
      const look = new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      await Promise.race([look, stop.come]);
      stop.throwIfCome();
    }
  }

  #lasts(): number {
    return Math.min(...this.#all.map((hold) => hold.lasts()));
  }

  /** Never rejects. */
  async release(): Promise<void> {
    for (const hold of this.#all.splice(0).reverse()) await hold.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/** Appends under holds taken only for this. Rejects with `journal.held` and the errors of `append`. */
export async function appendHolding(
  journal: Pick<Journal, 'hold' | 'append'>,
  entries: Parameters<Journal['append']>[0],
): ReturnType<Journal['append']> {
  await using holds = new Holds(journal);
  await holds.take(...entries.map(({ stream }) => stream));
  return await journal.append(entries, holds.all);
}

function asLost(reason: unknown): unknown {
  return reason instanceof LifeboatError ? reason : notLasting('the stream');
}

/** `what` names the held thing for people; `entries` show what may have been sent under it. */
export function lostHold(
  what: string,
  entries: readonly Entry[],
  lost: AbortSignal,
  hints: readonly string[],
): LifeboatError {
  const inDoubt = [...foldSends(entries)].flatMap(([id, send]) => (isInDoubt(send) ? [id] : []));
  const sent = `${inDoubt.join(', ')} may have been sent: whoever goes on asks the service first`;
  const why = lost.reason instanceof LifeboatError ? [lost.reason.shortMessage] : [];
  return new LifeboatError(
    'journal.lost-hold',
    `the hold of ${what} is lost: another process may have it now, so nothing more is sent from here`,
    {
      hints: [...why, ...(inDoubt.length === 0 ? [] : [sent]), ...hints],
      exitCode: EXIT.waiting,
      cause: lost.reason,
    },
  );
}

function notLasting(resource: string): LifeboatError {
  return new LifeboatError('journal.lost-hold', `the hold of ${resource} may have run out`, {
    hints: ['nothing was sent', 'the store cannot be reached, or this process was stopped: try again'],
    exitCode: EXIT.waiting,
  });
}

/** Waits for the first of several signals, until disposed of: a run's signals outlive its steps. */
export class FirstAbort implements Disposable {
  /** Resolves when one of them aborts, at once if one already has. */
  readonly come: Promise<void>;
  readonly #signals: readonly AbortSignal[];
  readonly #resolve: () => void;

  constructor(...signals: readonly AbortSignal[]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.come = promise;
    this.#signals = signals;
    this.#resolve = () => resolve();
    if (signals.some(({ aborted }) => aborted)) resolve();
    else for (const signal of signals) signal.addEventListener('abort', this.#resolve, { once: true });
  }

  throwIfCome(): void {
    for (const signal of this.#signals) signal.throwIfAborted();
  }

  [Symbol.dispose](): void {
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#resolve);
  }
}
