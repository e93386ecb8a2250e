import type { Failure } from '../../machines/parts/failure.ts';
import type { ActivityContext, AnyActivity, LedgerFact } from '../activities/activity.ts';
import { EXIT, LifeboatError } from '../errors.ts';
import type { Entry, Head, Json, NewEntry, StreamName } from '../journal/journal.ts';
import { type Answer, decide, metaOf } from './answer.ts';
import { type Folded, fold, type MachineEvent, statePath, step } from './fold.ts';
import { foldIntents } from './intents.ts';
import { type Note, perform } from './perform.ts';
import type { Run, RunDeps, RunEnd, RunState } from './run.ts';

const LEAVE_GRACE_MS = 5_000;
const LEFT = 'run.left';

/** Drives one run: performs what its machine invokes, takes answers, and writes before it acts. Whoever makes it holds the run. */
export class Driver implements Run {
  readonly ended: Promise<RunEnd>;
  readonly #deps: RunDeps;
  readonly #stream: StreamName;
  readonly #entries: Entry[];
  readonly #listeners = new Set<() => void>();
  readonly #leaving = new AbortController();
  #folded: Folded;
  #activity: RunState['activity'];
  #paused: Failure | undefined;
  #wakeUp: (() => void) | undefined;
  #answering: Promise<void> = Promise.resolve();

  constructor(deps: RunDeps, entries: Entry[], release: () => void) {
    this.#deps = deps;
    this.#stream = `run/${deps.runId}`;
    this.#entries = entries;
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
      entries: this.#entries,
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

  async detach(): Promise<void> {
    this.#leaving.abort();
    this.#stir();
    await this.ended;
  }

  async #take(answer: Answer): Promise<void> {
    const { event, label, text } = await decide(this.#folded.snapshot, answer, this.#deps.take);
    const passed = await this.#deps.gate?.check(this.state(), answer);
    if (passed?.refusal !== undefined) {
      await this.#append(passed.notes, []);
      throw passed.refusal;
    }
    await this.#advance(event, [
      ...(passed?.notes ?? []),
      { type: 'answer', body: { event: event.type, label, ...(text === undefined ? {} : { reason: text }) } },
    ]);
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
    const { invocation } = this.#folded;
    if (invocation === undefined) return;
    const activity = this.#deps.activities[invocation.verb];
    if (activity === undefined) throw new Error(`no activity performs the verb ${invocation.verb}`);
    const destructive = this.#folded.snapshot.hasTag('destructive' as never);
    const left = new AbortController();
    this.#activity = { verb: invocation.verb, since: this.#deps.now().toISOString(), progress: undefined };
    this.#tell();
    const performing = perform(activity, invocation, this.#context(activity, left.signal), {
      write: async (notes) => {
        mustStay(left.signal);
        await this.#append(notes, []);
      },
      memory: (intent) => foldIntents(this.#entries).get(intent),
      seal: async () => {
        if (destructive) await this.#deps.seal(this.#stream, 'armed');
        mustStay(left.signal);
      },
      sleep: (ms) => this.#sleep(ms),
    });
    const performed = await Promise.race([performing, this.#patience(activity)]).catch(leftOrThrow);
    this.#activity = undefined;
    if (performed === 'left') {
      left.abort();
      performing.catch(() => undefined);
      return;
    }
    if (performed.how === 'paused') {
      this.#paused = performed.failure;
      await this.#append(
        [
          ...performed.notes,
          {
            type: 'run.paused',
            body: { reason: 'credentials', failure: performed.failure as unknown as Json },
          },
        ],
        [],
      );
      return;
    }
    const event: MachineEvent =
      performed.how === 'done'
        ? { type: `xstate.done.actor.${invocation.id}`, output: performed.output, actorId: invocation.id }
        : { type: `xstate.error.actor.${invocation.id}`, error: performed.failure, actorId: invocation.id };
    if (this.#leaving.signal.aborted && activity.kind === 'read' && performed.how === 'failed') return;
    await this.#advance(event, performed.notes, performed.ledger);
  }

  #context(activity: AnyActivity, left: AbortSignal): ActivityContext {
    return {
      runId: this.#deps.runId,
      instance: this.#deps.instance,
      signal: activity.kind === 'read' ? this.#leaving.signal : left,
      now: this.#deps.now,
      report: (progress) => {
        if (this.#activity !== undefined) this.#activity = { ...this.#activity, progress };
        this.#tell();
      },
    };
  }

  /**
   * Resolves when the operator leaves: at once for a verb that only asks, after a grace time for one that changes something,
   * because its answer is worth waiting for. What is cut off is in doubt, and the next resume asks the service.
   */
  async #patience(activity: AnyActivity): Promise<'left'> {
    await aborted(this.#leaving.signal);
    const grace = activity.kind === 'read' ? 0 : (this.#deps.leaveGraceMs ?? LEAVE_GRACE_MS);
    await new Promise((resolve) => setTimeout(resolve, grace).unref());
    return 'left';
  }

  /** Computes the next state, makes event, notes and ledger facts durable in one transaction, and only then moves. */
  async #advance(
    event: MachineEvent,
    notes: readonly Note[],
    ledger: readonly LedgerFact[] = [],
  ): Promise<void> {
    const next = step(this.#deps.runbook, this.#folded, event);
    const title = metaOf(next.snapshot)?.title;
    const body = { event, to: statePath(next.snapshot), ...(title === undefined ? {} : { title }) };
    const asked = this.#deps.gate?.arrived({ ...this.state(), snapshot: next.snapshot }) ?? [];
    await this.#append([...notes, { type: 'event', body: body as unknown as Json }, ...asked], ledger);
    this.#folded = next;
    this.#deps.stepped?.(this.state());
    this.#tell();
  }

  async #append(notes: readonly Note[], ledger: readonly LedgerFact[]): Promise<void> {
    const own = notes.map((note): NewEntry => ({ stream: this.#stream, ...note }));
    const facts = ledger.map(
      ({ instance = this.#deps.instance, ...fact }): NewEntry => ({
        stream: `instance/${instance}`,
        ...fact,
      }),
    );
    const written = await this.#deps.journal.append([...own, ...facts], [this.#head()]);
    this.#entries.push(...written.filter((entry) => entry.stream === this.#stream));
    this.#tell();
  }

  #head(): Head {
    const last = this.#entries.at(-1);
    if (last === undefined) throw new Error('a run has a first entry before anybody drives it');
    return { stream: this.#stream, seq: last.seq, hash: last.hash };
  }

  async #close(): Promise<RunEnd> {
    const { runbook } = this.#deps;
    const { snapshot } = this.#folded;
    const closing = runbook.closing(snapshot.context as never, statePath(snapshot));
    if (!this.#entries.some((entry) => entry.type === 'run.closed')) {
      const obligations = runbook.obligations?.(snapshot.context as never);
      const body = { ...closing, ...(obligations === undefined ? {} : { obligations }) };
      await this.#append([...this.#lastNotes(), { type: 'run.closed', body: body as unknown as Json }], []);
    }
    await this.#deps.seal(this.#stream, 'closed');
    return { how: 'ended', exitCode: closing.proven ? EXIT.closed : EXIT.failed };
  }

  async #leave(): Promise<RunEnd> {
    await this.#answering;
    await this.#append(
      [...this.#lastNotes(), { type: 'run.detached', body: { why: 'the operator left' } }],
      [],
    );
    await this.#deps.seal(this.#stream, 'handed-over');
    return { how: 'detached', exitCode: EXIT.interrupted };
  }

  #lastNotes(): readonly Note[] {
    return this.#deps.lastNotes?.() ?? [];
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

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      void aborted(this.#leaving.signal).then(() => {
        clearTimeout(timer);
        reject(new LifeboatError(LEFT, 'the run was left while it waited'));
      });
    });
  }
}

/** A verb that was left behind must not write or send any more: the hold on the run may belong to somebody else by now. */
function mustStay(left: AbortSignal): void {
  if (left.aborted) throw new LifeboatError(LEFT, 'the run was left while this step was under way');
}

function leftOrThrow(thrown: unknown): 'left' {
  if (thrown instanceof LifeboatError && thrown.code === LEFT) return 'left';
  throw thrown;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
