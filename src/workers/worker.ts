import { dateAt } from '../base/date.ts';
import { failureOf, LifeboatError } from '../base/errors.ts';
import type { RunProgress } from '../store/projections/runs.ts';
import { isQuiet, mayGoOn } from './may-go-on.ts';

/** A run that this process drives for the team. */
export interface Driven {
  /** Resolves when this process is done with it; rejects with the error that broke it. */
  readonly over: Promise<void>;
  /** Resolves once it only waits for a task or a time: it keeps its hold and needs no place. */
  readonly resting: Promise<void>;
  leave(why: string): Promise<void>;
}

/** A limit is reached, or the host of its instances asked to be spared; nothing was taken. */
export interface HeldBack {
  /** Milliseconds until the run is looked at again. */
  readonly againMs: number;
  /** For the log, unless it is only a limit of the config. */
  readonly why?: string;
}

export interface WorkerPort {
  runOf(runId: string): Promise<RunProgress | undefined>;
  openRuns(): Promise<readonly RunProgress[]>;
  /**
   * The ids of those of these runs, all waiting for a person, for which something has happened since at most
   * this many milliseconds before they were left. Calls `openRuns` only if a plan is among them.
   */
  newsAmong(
    runs: readonly RunProgress[],
    openRuns: () => Promise<readonly RunProgress[]>,
    marginMs: number,
  ): Promise<ReadonlySet<string>>;
  /**
   * Notes what is news of a run before it is taken up for it. Call the result when the run was driven: what
   * was noted is no news of it any more.
   */
  noted(run: RunProgress): Promise<() => void>;
  /** Why this worker may not take a run; asked before it takes any hold. */
  refusalOf(run: RunProgress): Promise<string | undefined>;
  /** Takes up a run unless something holds it back. Rejects with `journal.held` if another process has it. */
  drive(run: RunProgress): Promise<Driven | HeldBack>;
  /** Whether a process has it. */
  isHeld(runId: string): Promise<boolean>;
  wake(runs: readonly string[]): Promise<void>;
  wakeAt(run: string, at: Date): Promise<void>;
  /** The process can no longer write: it has to end, so that another takes its place. */
  end(why: LifeboatError): void;
  say(run: string, text: string): void;
  now(): number;
}

/**
 * Milliseconds until a run that this worker may not take is looked at again: soon at first, so that another
 * worker gets it, then doubled each time, up to the second figure.
 */
const REFUSED_MS = [500, 15_000] as const;
/** Until the next look at a run that its process has left, and still holds for a moment. Milliseconds. */
const LEAVING_MS = 500;
/** After an error, such as a service that cannot be reached when the run is taken up. */
const BROKEN_MS = 30_000;
/** A run with no new entry for this long may have lost its wake-up or its process. */
const QUIET_MS = 20_000;
/** How often credentials that the service refused are tried again. */
const CREDENTIALS_MS = 300_000;
/** Entries written just before a run was left may not have reached its process, so look at them once more. */
const MARGIN_MS = 5_000;
/** How many waiting runs one worker holds. */
const MAX_RESTING = 500;

const NONE: ReadonlySet<string> = new Set();

interface Taken {
  readonly driven: Driven;
  readonly wasDriven: () => void;
}

/** Takes runs that may go on, and drives each until it is over or waits for a person. */
export class Worker {
  readonly #port: WorkerPort;
  readonly #driven = new Map<string, Driven>();
  readonly #taking = new Set<string>();
  readonly #ending = new Set<Promise<void>>();
  readonly #said = new Map<string, string>();
  /** Milliseconds until the next look at a refused run. */
  readonly #refused = new Map<string, number>();
  /** Why every run is left, once this worker drains. */
  #leaving: string | undefined;

  constructor(port: WorkerPort) {
    this.#port = port;
  }

  get holds(): readonly string[] {
    return [...this.#driven.keys()];
  }

  /** Goes on with a run if it may. Resolves when the run no longer needs a place here. Idempotent. */
  async look(runId: string): Promise<void> {
    if (this.#leaving !== undefined || this.#driven.has(runId) || this.#taking.has(runId)) return;
    this.#taking.add(runId);
    try {
      const taken = await this.#take(runId);
      if (taken === undefined) return;
      const { driven } = taken;
      this.#driven.set(runId, driven);
      // It was being taken when the drain began.
      if (this.#leaving !== undefined) void driven.leave(this.#leaving).catch(() => undefined);
      const over = this.#until(runId, taken);
      this.#ending.add(over);
      void over.finally(() => this.#ending.delete(over));
      await (this.#driven.size > MAX_RESTING ? over : Promise.race([over, driven.resting]));
    } finally {
      this.#taking.delete(runId);
    }
  }

  /**
   * Wakes the runs that may go on and that no process has: their wake-up was lost, or their process. With
   * `all` also those that were written to just now, for a queue that never had their wake-ups.
   */
  async sweep(which: 'quiet' | 'all' = 'quiet'): Promise<void> {
    const now = this.#port.now();
    const found: string[] = [];
    const open = await this.#port.openRuns();
    const mine = open.filter((run) => {
      const usual = which === 'all' ? 0 : QUIET_MS;
      const quiet = run.awaits === 'credentials' ? CREDENTIALS_MS : usual;
      return run.isForWorkers === true && !this.#driven.has(run.runId) && isQuiet(run, now, quiet);
    });
    const waiting = mine.filter((run) => !mayGoOn(run));
    const news =
      waiting.length === 0 ? NONE : await this.#port.newsAmong(waiting, async () => open, MARGIN_MS);
    for (const run of mine) {
      if (!mayGoOn(run) && !news.has(run.runId)) continue;
      if (!(await this.#port.isHeld(run.runId))) found.push(run.runId);
    }
    if (found.length > 0) await this.#port.wake(found);
  }

  /** Leaves every run resumable for another worker and takes no more. Resolves when all have been left. */
  async drain(why: string): Promise<void> {
    this.#leaving = why;
    await Promise.all([...this.#driven.values()].map((driven) => driven.leave(why).catch(() => undefined)));
    await Promise.all(this.#ending);
  }

  async #hasNews(run: RunProgress, marginMs: number): Promise<boolean> {
    return (await this.#port.newsAmong([run], () => this.#port.openRuns(), marginMs)).has(run.runId);
  }

  async #take(runId: string): Promise<Taken | undefined> {
    const run = await this.#port.runOf(runId);
    if (run === undefined || run.status !== 'open' || run.isForWorkers !== true) return undefined;
    if (!mayGoOn(run) && !(await this.#hasNews(run, MARGIN_MS))) return undefined;
    // Left just now: this is another wake-up of the same time. A sweep finds it again.
    if (run.awaits === 'credentials' && !isQuiet(run, this.#port.now(), QUIET_MS)) return undefined;
    // First, since taking up a run reads its whole record, and that of a large plan is large.
    if (await this.#port.isHeld(runId)) {
      if (run.isLeft) await this.#again(runId, LEAVING_MS);
      return undefined;
    }
    const refusal = await this.#port.refusalOf(run);
    if (refusal !== undefined) {
      this.#sayOnce(runId, `not taken: ${refusal}`);
      const [first, longest] = REFUSED_MS;
      const wait = this.#refused.get(runId) ?? first;
      this.#refused.set(runId, Math.min(2 * wait, longest));
      await this.#again(runId, wait);
      return undefined;
    }
    this.#refused.delete(runId);
    try {
      const wasDriven = mayGoOn(run) ? () => undefined : await this.#port.noted(run);
      const driven = await this.#port.drive(run);
      if ('againMs' in driven) {
        if (driven.why !== undefined) this.#sayOnce(runId, `not taken yet: ${driven.why}`);
        await this.#again(runId, driven.againMs);
        return undefined;
      }
      this.#said.delete(runId);
      this.#port.say(runId, `taken: ${run.runbook} of ${run.target ?? run.instance}`);
      return { driven, wasDriven };
    } catch (thrown) {
      await this.#broke(runId, thrown);
      if (run.isLeft && failureOf(thrown).code === 'journal.held') await this.#again(runId, LEAVING_MS);
      return undefined;
    }
  }

  /** Never rejects: no caller awaits a resting run. */
  async #until(runId: string, { driven, wasDriven }: Taken): Promise<void> {
    try {
      await driven.over;
      wasDriven();
      const run = await this.#port.runOf(runId);
      if (run !== undefined) this.#port.say(runId, wordsOf(run));
      this.#driven.delete(runId);
      // News that came while it was held was not taken.
      if (run !== undefined && run.awaits === 'person' && (await this.#hasNews(run, 0)))
        await this.#port.wake([runId]);
    } catch (thrown) {
      this.#driven.delete(runId);
      await this.#broke(runId, thrown);
    }
  }

  async #broke(runId: string, thrown: unknown): Promise<void> {
    if (isUnwritable(thrown)) this.#port.end(thrown);
    const isElsewhere = thrown instanceof LifeboatError && ELSEWHERE.has(thrown.code);
    this.#sayOnce(runId, failureOf(thrown).shortMessage);
    if (!isElsewhere) await this.#again(runId, BROKEN_MS);
  }

  async #again(runId: string, ms: number): Promise<void> {
    if (this.#leaving !== undefined) return;
    // If the queue cannot be reached, a sweep finds the run.
    await this.#port.wakeAt(runId, dateAt(this.#port.now() + ms)).catch(() => undefined);
  }

  #sayOnce(runId: string, text: string): void {
    if (this.#said.get(runId) === text) return;
    this.#said.set(runId, text);
    this.#port.say(runId, text);
  }
}

/** Another process has, or may have, the run and goes on with it; if that one dies, a sweep finds the run. */
const ELSEWHERE: ReadonlySet<string> = new Set(['journal.held', 'journal.conflict', 'run.over']);

/** After these the journal takes no entry while it is open, so this process must take no run. */
const UNWRITABLE: ReadonlySet<string> = new Set(['journal.lost', 'journal.rolled-back']);

/** The process that got this error can write nothing any more, and has to end. */
export function isUnwritable(thrown: unknown): thrown is LifeboatError {
  return thrown instanceof LifeboatError && UNWRITABLE.has(thrown.code);
}

function wordsOf({ status, isLeft, awaits, title, outcome = title ?? status }: RunProgress): string {
  if (status !== 'open') return outcome.startsWith(status) ? outcome : `${status}: ${outcome}`;
  if (awaits === 'person') return `waits for a person${title === undefined ? '' : `: ${title}`}`;
  if (awaits === 'credentials') return 'waits for credentials';
  return isLeft ? 'left for another worker' : 'left';
}
