import type { AnyActivity } from '../activities/activity.ts';
import { LifeboatError } from '../base/errors.ts';
import { FirstAbort, type Holds } from './holds.ts';

/** A verb being performed: what ends it early, and whether it may still write and send. */
export class UnderWay {
  /** Aborts the verb's waits; when the operator leaves a change, only after a grace time. */
  readonly signal: AbortSignal;
  readonly #kind: AnyActivity['kind'];
  readonly #leaving: AbortSignal;
  readonly #holds: Holds;
  readonly #left = new AbortController();
  readonly #overtaken = new AbortController();

  constructor(kind: AnyActivity['kind'], leaving: AbortSignal, holds: Holds) {
    this.#kind = kind;
    this.#leaving = leaving;
    this.#holds = holds;
    const ends = kind === 'read' ? [leaving, this.#overtaken.signal] : [this.#left.signal];
    this.signal = AbortSignal.any([holds.lost, ...ends]);
  }

  /** Whether an answer beside it may end it without its outcome. */
  get mayBeOvertaken(): boolean {
    return this.#kind === 'read';
  }

  overtake(): void {
    if (this.mayBeOvertaken) this.#overtaken.abort();
  }

  /** From now on it can neither write nor send: another process may hold the run. */
  leave(): void {
    this.#left.abort();
  }

  mustStay(): void {
    this.#holds.lost.throwIfAborted();
    mustStay(this.#left.signal);
  }

  mayLeave(): void {
    mustStay(this.#left.signal);
    this.#holds.mayLeave();
  }

  lastForCall(): Promise<void> {
    return this.#holds.lastForCall(this.#left.signal);
  }

  /** Rejects if the run is left during the sleep. */
  async sleep(ms: number): Promise<void> {
    using leaving = new FirstAbort(this.#leaving, this.#holds.lost);
    using passed = new Timer(ms);
    const left = await Promise.race([passed.over.then(() => false), leaving.come.then(() => true)]);
    if (left) throw new LifeboatError(LEFT, 'the run was left while it waited');
  }

  /**
   * The result of `performing`, or `left` if the operator leaves first: at once for a read, after `graceMs`
   * for a change, whose answer is worth the wait. A call cut off is in doubt, and the next resume asks the
   * service. After a hold is lost there is no grace time: the answer could not be recorded.
   */
  async unlessLeft<Value>(performing: Promise<Value>, graceMs: number): Promise<Value | 'left'> {
    const { lost } = this.#holds;
    using ending = new FirstAbort(this.#leaving, this.#overtaken.signal, lost);
    const end = ending.come.then((): typeof ENDING => ENDING);
    const first = await Promise.race([performing, end]);
    if (first !== ENDING) return first;
    using tooLate = new FirstAbort(lost);
    using grace = new Timer(this.#kind === 'read' ? 0 : graceMs);
    const left = Promise.race([grace.over, tooLate.come]).then(() => 'left' as const);
    return await Promise.race([performing, left]);
  }
}

const ENDING = Symbol('ending');

class Timer implements Disposable {
  readonly over: Promise<void>;
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#timer = setTimeout(resolve, ms);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

const LEFT = 'run.left';

function mustStay(left: AbortSignal): void {
  if (left.aborted) throw new LifeboatError(LEFT, 'the run was left while this step was under way');
}

/** Rethrows unless the verb was left. */
export function leftOrThrow(thrown: unknown): 'left' {
  if (thrown instanceof LifeboatError && thrown.code === LEFT) return 'left';
  throw thrown;
}
