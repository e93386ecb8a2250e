import { EXIT, LifeboatError } from '../../base/errors.ts';
import { msOf } from '../../base/instant.ts';
import type { ChildSnapshot, DrivenChild } from '../../plans/conductor-port.ts';
import type { Start } from '../../plans/schedule.ts';
import { type Entry, fieldsOf, type JournalReader } from '../../store/journal.ts';
import { type ChildRow, childOf } from '../../store/projections/plan-children.ts';
import type { ChildRuns } from './child-runs.ts';
import { NOTHING_ASKED, snapshotOnRecord } from './snapshot-on-record.ts';

/**
 * The runs of the steps of a plan that is left to the workers: the process that conducts the plan begins
 * them, and sees of them what is on record. One whose question is answered here is driven here from then on.
 */
export class LeftChildren {
  readonly #journal: JournalReader;
  readonly #runs: ChildRuns;
  readonly #children = new Map<string, LeftChild>();
  readonly #stop = new AbortController();

  /** Sees everything that is appended from now on. */
  static async of(journal: JournalReader, runs: ChildRuns): Promise<LeftChildren> {
    const { size } = await journal.log.head();
    const children = new LeftChildren(journal, runs);
    children.#follow(size).catch((thrown: unknown) => children.#broke(thrown));
    return children;
  }

  private constructor(journal: JournalReader, runs: ChildRuns) {
    this.#journal = journal;
    this.#runs = runs;
  }

  /** Begins the run of a step, once however often it is called, and watches it. */
  async begin(start: Start): Promise<DrivenChild> {
    const runId = await this.#runs.leaveToWorkers(start);
    const known = this.#children.get(runId);
    if (known !== undefined) return known;
    const child = new LeftChild(runId, this.#journal, () => this.#runs.begin(start));
    // It hears of what is appended from here on, and reads what was before.
    this.#children.set(runId, child);
    const forget = () => void this.#children.delete(runId);
    child.ended.then(forget, forget);
    await child.look();
    return child;
  }

  close(): void {
    this.#stop.abort();
  }

  async #follow(from: number): Promise<void> {
    for await (const entries of this.#journal.follow(from, this.#stop.signal))
      for (const entry of entries) this.#children.get(entry.stream.slice('run/'.length))?.take(entry);
  }

  #broke(thrown: unknown): void {
    for (const child of this.#children.values()) child.breaks(thrown);
    this.#children.clear();
  }
}

/** After these entries a child may have ended, or asks, or goes on. */
const CHANGES: ReadonlySet<string> = new Set(['run.resumed', 'run.detached', 'run.closed', 'run.abandoned']);

/** A child that others drive, until its question is answered here. */
class LeftChild implements DrivenChild {
  readonly runId: string;
  readonly ended: DrivenChild['ended'];
  readonly #journal: JournalReader;
  readonly #takeUp: () => Promise<DrivenChild>;
  readonly #over = Promise.withResolvers<Awaited<DrivenChild['ended']>>();
  readonly #listeners = new Set<() => void>();
  #row: ChildRow | undefined;
  #asked: ChildSnapshot = NOTHING_ASKED;
  #here: DrivenChild | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(runId: string, journal: JournalReader, takeUp: () => Promise<DrivenChild>) {
    this.runId = runId;
    this.#journal = journal;
    this.#takeUp = takeUp;
    this.ended = this.#over.promise;
    this.ended.catch(() => undefined);
  }

  get startedMs(): number {
    return msOf(this.#row?.startedAt);
  }

  /** Reads where it stands, after every earlier look. */
  look(): Promise<void> {
    const looked = this.#looking.then(() => this.#read());
    this.#looking = looked.catch(() => undefined);
    return looked;
  }

  /**
   * Hears of an entry. It may be told late, or while its record is being read: so it is no step of a fold,
   * but a reason to look. Only the title of its state is taken from it.
   */
  take({ type, body }: Entry): void {
    if (this.#here !== undefined) return;
    if (CHANGES.has(type)) this.look().catch((thrown: unknown) => this.breaks(thrown));
    const { title } = fieldsOf(body);
    if (type !== 'event' || typeof title !== 'string' || this.#row === undefined) return;
    this.#row = { ...this.#row, where: title };
    this.#tell();
  }

  breaks(thrown: unknown): void {
    this.#over.reject(thrown);
  }

  async #read(): Promise<void> {
    const row = await childOf(this.#journal, this.runId);
    if (row === undefined) return;
    const isAsking = row.isLeft && row.awaits !== undefined;
    // What this version cannot fold cannot be answered here.
    const asked = isAsking ? await snapshotOnRecord(this.#journal, this.runId) : undefined;
    this.#asked = asked ?? NOTHING_ASKED;
    this.#row = row;
    if (row.result !== undefined)
      this.#over.resolve({ result: row.result, endedMs: msOf(row.endedAt), cause: row.cause });
    this.#tell();
  }

  state(): ChildSnapshot {
    return this.#here?.state() ?? { ...this.#asked, where: this.#row?.where };
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes it up here. Rejects with `journal.held` while another process has it. */
  async answer(answer: Parameters<DrivenChild['answer']>[0]): Promise<void> {
    if (this.#here === undefined) {
      if (this.#asked.question === undefined)
        throw new LifeboatError('plan.no-question', `run ${this.runId} asks nothing now`, {
          hints: ['nothing was answered', `where it stands: lifeboat audit show ${this.runId}`],
          exitCode: EXIT.usage,
        });
      const here = await this.#takeUp();
      this.#here = here;
      here.subscribe(() => this.#tell());
      here.ended.then(this.#over.resolve, this.#over.reject);
    }
    await this.#here.answer(answer);
  }

  wake(): void {
    this.#here?.wake();
  }

  async detach(why: string): Promise<void> {
    await this.#here?.detach(why);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
