import type { Failure } from '../../machines/parts/failure.ts';
import type { ActivityContext, AnyActivity, LedgerFact, Progress } from '../activities/activity.ts';
import { EXIT, LifeboatError } from '../errors.ts';
import type { Entry, Json } from '../store/journal.ts';
import { type Answer, decide, metaOf } from './answer.ts';
import { type Folded, fold, type Invocation, type MachineEvent, statePath, step } from './fold.ts';
import { aborted, leftOrThrow, mustStay, sleepUnlessLeft } from './leaving.ts';
import { arrivedAt, noteOverdue } from './overdue.ts';
import { perform } from './perform.ts';
import type { Note } from './performed.ts';
import type { Run, RunDeps, RunEnd, RunState } from './run.ts';
import { RunLog } from './run-log.ts';

const LEAVE_GRACE_MS = 5_000;

/** Drives one run: performs what its machine invokes, takes answers, and writes before it acts. Whoever makes it holds the run. */
export class Driver implements Run {
  readonly ended: Promise<RunEnd>;
  readonly #deps: RunDeps;
  readonly #log: RunLog;
  readonly #listeners = new Set<() => void>();
  readonly #leaving = new AbortController();
  #left: string | undefined;
  #folded: Folded;
  #activity: RunState['activity'];
  #paused: Failure | undefined;
  #wakeUp: (() => void) | undefined;
  #answering: Promise<void> = Promise.resolve();
  /** Ends the verb that is under way without hearing its outcome. Only a verb that changes nothing has one. */
  #overtake: AbortController | undefined;

  constructor(deps: RunDeps, entries: Entry[], release: () => void) {
    this.#deps = deps;
    this.#log = new RunLog(deps, entries);
    const started = entries.find((entry) => entry.type === 'run.started')?.body as
      | { input?: Json }
      | undefined;
    this.#folded = fold(deps.runbook, started?.input ?? {}, entries);
    this.ended = this.#drive().finally(release);
    this.ended.catch(() => undefined);
  }

  state(): RunState {
    return {
      runId: this.#deps.runId,
      instance: this.#deps.instance,
      snapshot: this.#folded.snapshot,
      entries: this.#log.entries,
      activity: this.#activity,
      paused: this.#paused,
    };
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Answers are taken one after the other: the second of two quick ones meets the state that the first led to. */
  answer(answer: Answer): Promise<void> {
    const taken = this.#answering.then(() => this.#take(answer));
    this.#answering = taken.catch(() => undefined);
    return taken;
  }

  wake(): void {
    this.#paused = undefined;
    this.#stir();
  }

  async detach(why = 'the operator left'): Promise<void> {
    this.#left ??= why;
    this.#leaving.abort();
    this.#stir();
    // A run that breaks says so by `ended`; said here as well, it would end the process in the middle of that.
    await this.ended.catch(() => undefined);
  }

  async #take(answer: Answer): Promise<void> {
    const before = this.#folded;
    const { event, label, text } = await decide(before.snapshot, answer, this.#deps.take);
    const passed = await this.#deps.gate?.check(this.state(), answer);
    if (passed?.refusal !== undefined) {
      await this.#append(passed.notes);
      throw passed.refusal;
    }
    const overtake = this.#overtake;
    if (before.invocation !== undefined && overtake === undefined)
      throw new LifeboatError('answer.misfit', 'the step that is under way cannot be left before it ends', {
        hints: ['the run is as it was'],
      });
    const body = { event: event.type, label, ...(text === undefined ? {} : { reason: text }) };
    const moved = await this.#advance(before, event, [...(passed?.notes ?? []), { type: 'answer', body }]);
    if (!moved)
      throw new LifeboatError('answer.late', 'the run has gone on meanwhile', {
        hints: ['the answer was not taken: look again'],
      });
    overtake?.abort();
    this.#stir();
  }

  async #drive(): Promise<RunEnd> {
    for (;;) {
      if (this.#folded.snapshot.status === 'done') return this.#close();
      if (this.#leaving.signal.aborted) return this.#leave();
      if (this.#paused !== undefined) {
        if (this.#deps.leaveWhenPaused) return { how: 'paused', exitCode: EXIT.credentials };
        await this.#stirred();
      } else if (this.#folded.invocation !== undefined) {
        await this.#performNext();
      } else {
        await this.#stirred();
      }
    }
  }

  async #performNext(): Promise<void> {
    const before = this.#folded;
    const { invocation } = before;
    if (invocation === undefined) return;
    const activity = this.#deps.activities[invocation.verb];
    if (activity === undefined) throw new Error(`no activity performs the verb ${invocation.verb}`);
    const destructive = this.#folded.snapshot.hasTag('destructive' as never);
    const left = new AbortController();
    const overtake = activity.kind === 'read' ? new AbortController() : undefined;
    this.#overtake = overtake;
    this.#activity = { verb: invocation.verb, since: this.#deps.now().toISOString(), progress: undefined };
    this.#tell();
    const noting: Promise<void>[] = [];
    const signal =
      overtake === undefined ? left.signal : AbortSignal.any([this.#leaving.signal, overtake.signal]);
    const performing = perform(activity, invocation, this.#context(invocation, signal, noting), {
      write: async (notes, ledger) => {
        mustStay(left.signal);
        await this.#append(notes, ledger);
      },
      entries: () => this.#log.entries,
      seal: async () => {
        if (destructive) await this.#deps.seal(this.#log.stream, 'armed');
        mustStay(left.signal);
      },
      sleep: (ms) => sleepUnlessLeft(ms, this.#leaving.signal),
    });
    const performed = await Promise.race([performing, this.#patience(activity, overtake)]).catch(leftOrThrow);
    this.#activity = undefined;
    this.#overtake = undefined;
    await Promise.all(noting);
    if (performed === 'left' || this.#folded !== before) {
      left.abort();
      performing.catch(() => undefined);
      return;
    }
    if (performed.how === 'paused') {
      const body = { reason: 'credentials', failure: performed.failure as unknown as Json };
      await this.#log.inTurn(async () => {
        if (this.#folded !== before) return;
        this.#paused = performed.failure;
        await this.#log.write([...performed.notes, { type: 'run.paused', body }], performed.ledger);
      });
      this.#tell();
      return;
    }
    const event: MachineEvent =
      performed.how === 'done'
        ? { type: `xstate.done.actor.${invocation.id}`, output: performed.output, actorId: invocation.id }
        : { type: `xstate.error.actor.${invocation.id}`, error: performed.failure, actorId: invocation.id };
    if (this.#leaving.signal.aborted && activity.kind === 'read' && performed.how === 'failed') return;
    // An answer beside the verb may have come first; what the verb found then concerns nobody.
    await this.#advance(before, event, performed.notes, performed.ledger);
  }

  #context(invocation: Invocation, signal: AbortSignal, noting: Promise<void>[]): ActivityContext {
    const own = this.#activity;
    let told = own;
    return {
      runId: this.#deps.runId,
      instance: this.#deps.instance,
      begunAt: this.#log.entries[0]?.at,
      arrivedAt: arrivedAt(this.#log.entries, statePath(this.#folded.snapshot)),
      signal,
      now: this.#deps.now,
      report: (progress) => {
        // What was left behind reports to nobody.
        if (own === undefined || this.#activity !== told) return;
        told = { ...own, progress };
        this.#activity = told;
        if (progress.overdue !== undefined) noting.push(this.#noteOverdue(invocation, progress));
        this.#tell();
      },
    };
  }

  /** Rejects when the journal does, which the driver hears when the verb has ended. */
  #noteOverdue(invocation: Invocation, progress: Progress): Promise<void> {
    const noted = this.#log.inTurn(async () => {
      const { snapshot } = this.#folded;
      const note = noteOverdue(this.#log.entries, statePath(snapshot), invocation, progress);
      if (note === undefined || this.#folded.invocation !== invocation) return;
      await this.#log.write([note]);
      this.#tell();
    });
    noted.catch(() => undefined);
    return noted;
  }

  /**
   * Resolves when the operator leaves: at once for a verb that only asks, after a grace time for one that changes something,
   * because its answer is worth waiting for. What is cut off is in doubt, and the next resume asks the service.
   */
  async #patience(activity: AnyActivity, overtake: AbortController | undefined): Promise<'left'> {
    await aborted(
      overtake === undefined
        ? this.#leaving.signal
        : AbortSignal.any([this.#leaving.signal, overtake.signal]),
    );
    const grace = activity.kind === 'read' ? 0 : (this.#deps.leaveGraceMs ?? LEAVE_GRACE_MS);
    await new Promise((resolve) => setTimeout(resolve, grace).unref());
    return 'left';
  }

  /**
   * Computes the next state, makes event, notes and ledger facts durable in one transaction, and only then moves. Does nothing and gives
   * false when the run has moved on from the state that the event was meant for.
   */
  #advance(
    before: Folded,
    event: MachineEvent,
    notes: readonly Note[],
    ledger: readonly LedgerFact[] = [],
  ): Promise<boolean> {
    return this.#log.inTurn(() => this.#move(before, event, notes, ledger));
  }

  async #move(
    before: Folded,
    event: MachineEvent,
    notes: readonly Note[],
    ledger: readonly LedgerFact[],
  ): Promise<boolean> {
    if (this.#folded !== before) return false;
    const next = step(this.#deps.runbook, before, event);
    const title = metaOf(next.snapshot)?.title;
    const body = { event, to: statePath(next.snapshot), ...(title === undefined ? {} : { title }) };
    const asked = this.#deps.gate?.arrived({ ...this.state(), snapshot: next.snapshot }) ?? [];
    await this.#log.write([...notes, { type: 'event', body: body as unknown as Json }, ...asked], ledger);
    this.#folded = next;
    this.#deps.stepped?.(this.state());
    this.#tell();
    return true;
  }

  async #append(notes: readonly Note[], ledger: readonly LedgerFact[] = []): Promise<void> {
    await this.#log.append(notes, ledger);
    this.#tell();
  }

  async #close(): Promise<RunEnd> {
    const { runbook } = this.#deps;
    const { snapshot } = this.#folded;
    const closing = runbook.closing(snapshot.context as never, statePath(snapshot));
    if (!this.#log.entries.some((entry) => entry.type === 'run.closed')) {
      const obligations = runbook.obligations?.(snapshot.context as never);
      const body = { ...closing, ...(obligations === undefined ? {} : { obligations }) };
      const notes = [...this.#lastNotes(true), { type: 'run.closed', body: body as unknown as Json }];
      await this.#log.close(notes);
      this.#tell();
    }
    await this.#deps.seal(this.#log.stream, 'closed');
    return { how: 'ended', exitCode: closing.proven ? EXIT.closed : EXIT.failed };
  }

  async #leave(): Promise<RunEnd> {
    await this.#answering;
    const body = { why: this.#left ?? '' };
    await this.#append([...this.#lastNotes(false), { type: 'run.detached', body }]);
    await this.#deps.seal(this.#log.stream, 'handed-over');
    return { how: 'detached', exitCode: EXIT.interrupted };
  }

  #lastNotes(isOver: boolean): readonly Note[] {
    return this.#deps.lastNotes?.(isOver) ?? [];
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #stirred(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeUp = resolve;
      this.#tell();
    });
  }

  #stir(): void {
    this.#wakeUp?.();
    this.#wakeUp = undefined;
    this.#tell();
  }
}
