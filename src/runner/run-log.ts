import type { LedgerFact } from '../activities/activity.ts';
import type { Entry, Head, Journal, NewEntry, StreamName } from '../store/journal.ts';
import { clockNotes } from './clock-notes.ts';
import { doubtsOfRun, handOn, isGrave } from './in-doubt.ts';
import type { Note } from './performed.ts';
import type { Clock, RunDeps } from './run.ts';

/**
 * The entries of one run, and the only hand that adds to them. Each append names the entry before it, so they are made one after the other.
 */
export class RunLog {
  readonly stream: StreamName;
  readonly entries: Entry[];
  readonly #journal: Journal;
  readonly #instance: string;
  readonly #clock: Clock | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(deps: Pick<RunDeps, 'journal' | 'runId' | 'instance' | 'clock'>, entries: Entry[]) {
    const { journal, runId, instance, clock } = deps;
    this.stream = `run/${runId}`;
    this.entries = entries;
    this.#journal = journal;
    this.#instance = instance;
    this.#clock = clock;
  }

  /** Runs `act` when everything before it is written; nothing else writes meanwhile. Only inside of it may `write` be called. */
  inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(act);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  append(notes: readonly Note[], ledger: readonly LedgerFact[] = []): Promise<void> {
    return this.inTurn(() => this.write(notes, ledger));
  }

  /** The last notes. What is still in doubt nobody asks about after them, so it goes to the ledgers with them. */
  close(notes: readonly Note[]): Promise<void> {
    return this.inTurn(() => {
      const left = handOn(doubtsOfRun(this).filter(isGrave));
      const facts = left.map(({ stream, ...fact }) => ({
        ...fact,
        instance: stream.slice('instance/'.length),
      }));
      return this.write(notes, facts);
    });
  }

  /** Notes of the run, and facts for ledgers, in one transaction. Rejects when the journal does. */
  async write(notes: readonly Note[], ledger: readonly LedgerFact[] = []): Promise<void> {
    const own = [...clockNotes(this.#clock?.moved() ?? 0), ...notes].map(
      (note): NewEntry => ({ stream: this.stream, ...note }),
    );
    const facts = ledger.map(
      ({ instance = this.#instance, ...fact }): NewEntry => ({ stream: `instance/${instance}`, ...fact }),
    );
    const written = await this.#journal.append([...own, ...facts], [this.#head()]);
    this.entries.push(...written.filter((entry) => entry.stream === this.stream));
  }

  #head(): Head {
    const last = this.entries.at(-1);
    if (last === undefined) throw new Error('a run has a first entry before anybody drives it');
    return { stream: this.stream, seq: last.seq, hash: last.hash };
  }
}
