import { isInDoubt } from '../../machines/send-state.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Entry, Hold, Journal, StreamName } from '../store/journal.ts';
import { foldSends } from '../store/projections/sends.ts';

/**
 * What a hold must last for when the first byte of a call is written: the time from the question to the wire.
 * Milliseconds.
 */
const MARGIN_MS = 250;
/**
 * What it lasts for when a call is begun, so that there is time to connect; a renewal is worth as much.
 * Milliseconds.
 */
const ENOUGH_MS = 2_000;
const LOOK_MS = 50;

/** The streams that this process may write, and what has to stop when one of them passes to somebody else. */
export class Holds implements AsyncDisposable {
  readonly #journal: Pick<Journal, 'hold'>;
  readonly #all: Hold[] = [];
  readonly #lost = new AbortController();

  constructor(journal: Pick<Journal, 'hold'>) {
    this.#journal = journal;
  }

  /** For `append`. */
  get all(): readonly Hold[] {
    return this.#all;
  }

  /** Aborted, with the error as its reason, as soon as one of them is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Takes further streams, in the order of their names: two that need the same ones must not each have one
   * and wait for the other. Rejects with `journal.held`; what was taken before stays until `release`.
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
   * Throws `journal.lost-hold` unless each of them surely lasts for a moment. Synchronous, to be asked right
   * before the first byte of a call that changes something is written: a process that was stopped in between
   * must not go on with it.
   */
  mayLeave(): void {
    if (this.lost.aborted) throw asLost(this.lost.reason);
    const short = this.#all.find((hold) => hold.lasts() <= MARGIN_MS);
    if (short !== undefined) throw notLasting(short.resource);
  }

  /**
   * Resolves when each of them lasts long enough for a call to be sent, or was renewed meanwhile. Rejects
   * with the reason of `lost`, or of `signal`.
   */
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

  /** Gives all of them back; never rejects. */
  async release(): Promise<void> {
    for (const hold of this.#all.splice(0).reverse()) await hold.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/**
 * Appends entries under holds of their streams, which are taken for it alone. Rejects with `journal.held` and
 * what `append` rejects with.
 */
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

/**
 * What ends whoever has lost a hold. `what` is held, for people; `entries` tell what may have been sent under
 * it.
 */
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

/**
 * Waits for the first of several signals to be aborted, until it is disposed of. The signals of a run last as
 * long as the run, so whoever waits for a step must stop listening to them when the step is over.
 */
export class FirstAbort implements Disposable {
  /** Resolves when one of them is aborted, at once when one is already. */
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
