import type { Answer } from '../../machines/parts/question.ts';
import { statePath } from '../../machines/parts/states.ts';
import type { LedgerFact, Progress, SendContext } from '../activities/activity.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Failure } from '../base/failure.ts';
import type { Entry, Hold, Json, Wake } from '../store/journal.ts';
import type { Awaits } from '../store/run-entries.ts';
import { decide, metaOf, questionOf } from './answer.ts';
import { endOf, type Folded, fold, type Invocation, type MachineEvent, step, stoppedAt } from './fold.ts';
import type { Holds } from './holds.ts';
import { perform } from './perform.ts';
import type { Note, PerformPort } from './performed.ts';
import type { Due, Run, RunDeps, RunEnd, RunState } from './run.ts';
import { inputOf, RunLog } from './run-log.ts';
import { arrivedAt, noteOverdue } from './time-notes.ts';
import { leftOrThrow, UnderWay } from './under-way.ts';
import { wakesOf } from './wakes.ts';

const LEAVE_GRACE_MS = 5_000;

/**
 * Drives one run: performs what its machine invokes, takes answers, and writes before it acts. Releases its
 * holds at the end. If one is lost, nothing more is written and `ended` rejects with `journal.lost-hold`.
 */
export class Driver implements Run {
  readonly ended: Promise<RunEnd>;
  readonly #deps: RunDeps;
  readonly #log: RunLog;
  readonly #holds: Holds;
  readonly #listeners = new Set<() => void>();
  readonly #leaving = new AbortController();
  #left: { readonly why: string; readonly awaits: Awaits | undefined } | undefined;
  #folded: Folded;
  #activity: RunState['activity'];
  #paused: Failure | undefined;
  #wakeUp: (() => void) | undefined;
  #answering: Promise<void> = Promise.resolve();
  /** A step that is due without an answer; answers come after it. */
  #beingTaken: Promise<void> = Promise.resolve();
  #underWay: UnderWay | undefined;

  constructor(deps: RunDeps, entries: readonly Entry[], holds: Holds) {
    this.#deps = deps;
    this.#holds = holds;
    this.#log = new RunLog(deps, entries, holds);
    this.#folded = fold(deps.runbook, inputOf(entries) ?? {}, entries);
    holds.lost.addEventListener('abort', () => this.#stir(), { once: true });
    this.ended = this.#drive();
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

  get holds(): readonly Hold[] {
    return [...this.#holds.all];
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** One at a time: the second of two quick answers meets the next state. */
  answer(answer: Answer): Promise<void> {
    const taken = this.#answering.then(() => this.#take(answer));
    this.#answering = taken.catch(() => undefined);
    return taken;
  }

  /** Events are taken in turn with the answers. */
  tell(event: MachineEvent, notes: readonly Note[] = []): Promise<void> {
    const told = this.#answering.then(() => this.#hear(event, notes));
    this.#answering = told.catch(() => undefined);
    return told;
  }

  async #hear(event: MachineEvent, notes: readonly Note[]): Promise<void> {
    const before = this.#folded;
    if (!before.snapshot.can(event))
      throw new LifeboatError('answer.misfit', `the run cannot take ${event.type} now`, {
        hints: ['the run is unchanged'],
      });
    await this.#advance(before, event, notes);
    this.#stir();
  }

  note(notes: readonly Note[]): Promise<void> {
    return this.#append(notes);
  }

  wake(): void {
    this.#paused = undefined;
    this.#stir();
  }

  async detach(why = 'the operator left', awaits?: Awaits): Promise<void> {
    this.#left ??= { why, awaits };
    this.#leaving.abort();
    this.#stir();
    // `ended` reports the failure of a run; throwing it here too would end the process.
    await this.ended.catch(() => undefined);
  }

  async #take(answer: Answer): Promise<void> {
    await this.#beingTaken;
    const before = this.#folded;
    const { event, label, text } = await decide(before.snapshot, answer, this.#deps.take);
    const passed = await this.#deps.gate?.check(this.state(), answer);
    if (passed?.refusal !== undefined) {
      await this.#append(passed.notes);
      throw passed.refusal;
    }
    const underWay = this.#underWay;
    if (before.invocation !== undefined && underWay?.mayBeOvertaken !== true)
      throw new LifeboatError('answer.misfit', 'the step that is under way cannot be left before it ends', {
        hints: ['the run is unchanged'],
      });
    const body = { event: event.type, label, ...(text === undefined ? {} : { reason: text }) };
    const moved = await this.#advance(before, event, [...(passed?.notes ?? []), { type: 'answer', body }]);
    if (!moved)
      throw new LifeboatError('answer.late', 'the run has moved on in the meantime', {
        hints: ['your answer was not used: read the question again'],
      });
    underWay?.overtake();
    this.#stir();
  }

  async #drive(): Promise<RunEnd> {
    try {
      return await this.#goOn();
    } catch (thrown) {
      throw this.#holds.lost.aborted ? this.#log.lost() : thrown;
    } finally {
      await this.#holds.release();
    }
  }

  async #goOn(): Promise<RunEnd> {
    for (;;) {
      this.#holds.lost.throwIfAborted();
      if (this.#folded.snapshot.status === 'done') return this.#close();
      if (this.#leaving.signal.aborted) return this.#leave();
      if (this.#paused !== undefined) {
        if (this.#deps.leaveWhenPaused) {
          await this.#deps.seal();
          return { how: 'paused', exitCode: EXIT.credentials };
        }
        await this.#stirred();
      } else if (this.#folded.invocation !== undefined) {
        await this.#performNext();
      } else {
        // In one turn, so that nothing that stirs the run can come in between.
        const due = this.#deps.gate?.due?.(this.state());
        if (due === undefined) await this.#stirred();
        else {
          this.#beingTaken = this.#takeDue(due);
          await this.#beingTaken;
        }
      }
    }
  }

  async #takeDue(due: Due): Promise<void> {
    const before = this.#folded;
    if ('event' in due) await this.#advance(before, due.event, []);
    else
      await this.#log.inTurn(async () => {
        if (this.#folded === before) await this.#log.write(due.notes);
      });
    this.#tell();
  }

  async #performNext(): Promise<void> {
    const before = this.#folded;
    const { invocation } = before;
    if (invocation === undefined) return;
    const activity = this.#deps.activities[invocation.verb];
    if (activity === undefined) throw new Error(`no activity performs the verb ${invocation.verb}`);
    const underWay = new UnderWay(activity.kind, this.#leaving.signal, this.#holds);
    this.#underWay = underWay;
    this.#activity = { verb: invocation.verb, since: this.#deps.now().toISOString(), progress: undefined };
    this.#tell();
    const noting: Promise<void>[] = [];
    const context = this.#context(invocation, underWay, noting);
    const performing = perform(activity, invocation, context, this.#port(underWay));
    const grace = this.#deps.leaveGraceMs ?? LEAVE_GRACE_MS;
    const performed = await underWay.unlessLeft(performing, grace).catch(leftOrThrow);
    this.#activity = undefined;
    this.#underWay = undefined;
    await Promise.all(noting);
    if (performed === 'left' || this.#folded !== before) {
      underWay.leave();
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
    if (this.#leaving.signal.aborted && activity.kind === 'read' && performed.how === 'failed') return;
    // If an answer beside the verb came first, the verb's outcome no longer matters.
    const { notes, ledger } = performed;
    const isRecorded = await this.#advance(before, endOf(invocation, performed), notes, ledger);
    if (isRecorded && performed.how === 'done') await performed.recorded?.().catch(() => undefined);
  }

  #port(underWay: UnderWay): PerformPort {
    return {
      write: async (notes, ledger) => {
        underWay.mustStay();
        await this.#append(notes, ledger);
      },
      entries: () => this.#log.entries,
      lastForCall: () => underWay.lastForCall(),
      mayArm: async (call) => {
        const found = await this.#deps.gate?.mayArm(this.#log.entries, call);
        underWay.mustStay();
        if (found !== undefined && found.notes.length > 0) await this.#append(found.notes);
        return found?.refusal?.toFailure();
      },
      seal: async () => {
        await this.#deps.seal();
        underWay.mustStay();
      },
      sleep: (ms) => underWay.sleep(ms),
    };
  }

  #context(invocation: Invocation, underWay: UnderWay, noting: Promise<void>[]): SendContext {
    const own = this.#activity;
    let latest = own;
    const [log, state] = [this.#log, statePath(this.#folded.snapshot)];
    return {
      runId: this.#deps.runId,
      instance: this.#deps.instance,
      get begunAt() {
        return log.byOurClock(log.entries[0]?.at);
      },
      get arrivedAt() {
        return log.byOurClock(arrivedAt(log.entries, state));
      },
      signal: underWay.signal,
      mayLeave: () => underWay.mayLeave(),
      now: this.#deps.now,
      report: (progress) => {
        if (own === undefined || this.#activity !== latest) return;
        latest = { ...own, progress };
        this.#activity = latest;
        if (progress.overdue !== undefined) noting.push(this.#noteOverdue(invocation, progress));
        this.#tell();
      },
    };
  }

  /** Rejects with the journal's errors; the driver gets them once the verb has ended. */
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
   * Computes the next state, makes event, notes and ledger facts durable in one transaction, and only then
   * moves. Does nothing and returns false if the event was meant for a state that the run has left.
   */
  #advance(
    before: Folded,
    event: MachineEvent,
    notes: readonly Note[],
    ledger: readonly LedgerFact[] = [],
  ): Promise<boolean> {
    return this.#log.inTurn(async () => {
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
    });
  }

  async #append(
    notes: readonly Note[],
    ledger: readonly LedgerFact[] = [],
    wakes: readonly Wake[] = [],
  ): Promise<void> {
    await this.#log.append(notes, ledger, wakes);
    this.#tell();
  }

  async #close(): Promise<RunEnd> {
    const [{ runbook }, { snapshot }] = [this.#deps, this.#folded];
    const closing = runbook.closing(snapshot.context as never, statePath(snapshot));
    if (!this.#log.entries.some((entry) => entry.type === 'run.closed')) {
      const followUps = runbook.followUps?.(snapshot.context as never);
      const summary = closing.summary.flatMap(({ facts }) => facts);
      const failure = closing.outcome === 'stopped' ? stoppedAt(runbook, this.#log.entries) : undefined;
      const body = {
        ...{ ...closing, summary },
        ...(followUps === undefined ? {} : { followUps }),
        ...(failure === undefined ? {} : { failure }),
      };
      const notes = [
        ...(this.#deps.lastNotes?.(true) ?? []),
        { type: 'run.closed', body: body as unknown as Json },
      ];
      await this.#append(notes, [], wakesOf(this.#log.entries, 'over'));
    }
    await this.#deps.seal();
    return { how: 'ended', exitCode: closing.outcome === 'done' ? EXIT.closed : EXIT.failed };
  }

  async #leave(): Promise<RunEnd> {
    await this.#answering;
    const awaits = this.#awaits() ?? this.#left?.awaits;
    const body = { why: this.#left?.why ?? '', ...(awaits === undefined ? {} : { awaits }) };
    const notes = [...(this.#deps.lastNotes?.(false) ?? []), { type: 'run.detached', body }];
    await this.#append(notes, [], wakesOf(this.#log.entries, awaits ?? 'free'));
    await this.#deps.seal();
    return { how: 'detached', exitCode: EXIT.interrupted };
  }

  /** What the run waits for; undefined if it can go on by itself. */
  #awaits(): Awaits | undefined {
    if (this.#paused !== undefined) return 'credentials';
    const { invocation, snapshot } = this.#folded;
    return invocation === undefined && questionOf(snapshot) !== undefined ? 'person' : undefined;
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
