import type { LedgerFact } from '../activities/activity.ts';
import { isoOf } from '../base/date.ts';
import type { LifeboatError } from '../base/errors.ts';
import { msOf } from '../base/instant.ts';
import type { Entry, Journal, Json, NewEntry, StreamName, Wake } from '../store/journal.ts';
import { type Holds, lostHold } from './holds.ts';
import type { Note } from './performed.ts';
import type { Clock, RunDeps } from './run.ts';
import { clockNotes } from './time-notes.ts';

/** The only writer of a run's entries: one append at a time, under the holds of the run and its ledgers. */
export class RunLog {
  readonly stream: StreamName;
  readonly entries: Entry[];
  readonly #journal: Journal;
  readonly #holds: Holds;
  readonly #instance: string;
  readonly #clock: Clock | undefined;
  readonly #now: () => Date;
  /** How far this machine's clock is ahead of the entries' clock at the newest append, in milliseconds. */
  #leadMs: number | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    deps: Pick<RunDeps, 'journal' | 'runId' | 'instance' | 'clock' | 'now'>,
    entries: readonly Entry[],
    holds: Holds,
  ) {
    const { journal, runId, instance, clock, now } = deps;
    this.stream = `run/${runId}`;
    this.entries = [...entries];
    this.#journal = journal;
    this.#holds = holds;
    this.#instance = instance;
    this.#clock = clock;
    this.#now = now;
    this.#leadMs = journal.stampedBy === 'machine' ? 0 : undefined;
  }

  /**
   * The time of an entry by this machine's clock, which all waits use; never too early, so that no wait ends
   * too soon. Undefined until the first append if a database stamps entries; a verb always knows it, because
   * its beginning was appended.
   */
  byOurClock(at: string | undefined): string | undefined {
    const lead = this.#leadMs;
    if (at === undefined || lead === undefined || lead === 0) return lead === undefined ? undefined : at;
    const ms = msOf(at) + lead;
    return Number.isNaN(ms) ? undefined : isoOf(ms);
  }

  /** Runs `act` after all earlier writes, with no other during it. `write` may be called only inside. */
  inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(act);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  append(
    notes: readonly Note[],
    ledger: readonly LedgerFact[] = [],
    wakes: readonly Wake[] = [],
  ): Promise<void> {
    return this.inTurn(() => this.write(notes, ledger, wakes));
  }

  /** Writes everything in one transaction. Rejects with the journal's errors, and once a hold is lost. */
  async write(
    notes: readonly Note[],
    ledger: readonly LedgerFact[] = [],
    wakes: readonly Wake[] = [],
  ): Promise<void> {
    this.#holds.lost.throwIfAborted();
    const moved = clockNotes(this.#clock?.moved() ?? 0, this.#journal);
    const own = [...moved, ...notes].map((note): NewEntry => ({ stream: this.stream, ...note }));
    const facts = ledger.map(
      ({ instance = this.#instance, ...fact }): NewEntry => ({ stream: `instance/${instance}`, ...fact }),
    );
    const written = await this.#journal.append([...own, ...facts], this.#holds.all, wakes);
    this.entries.push(...written.filter((entry) => entry.stream === this.stream));
    const stamped = msOf(written.at(-1)?.at ?? '');
    if (this.#journal.stampedBy === 'database' && !Number.isNaN(stamped))
      this.#leadMs = this.#now().getTime() - stamped;
  }

  /** The error that ends the run in this process if one of its holds is lost. */
  lost(): LifeboatError {
    const run = this.stream.slice('run/'.length);
    return lostHold(`run ${run}`, this.entries, this.#holds.lost, [
      'to see its progress: lifeboat runs',
      `resume it when nobody else does: lifeboat resume ${run}`,
    ]);
  }
}

export function inputOf([started]: readonly Entry[]): Json | undefined {
  return (started?.body as { readonly input?: Json } | undefined)?.input;
}
