import type { ChangeContext, InDoubt, Judgement, OnceActivity } from '../../src/activities/activity.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { type Answer, type ServiceClient, skewMs } from '../../src/service/client.ts';
import { Backup, Restore } from '../../src/service/schemas.ts';
import { BackupListing, backupsOf, restoresOf } from '../../src/service/v0.ts';

/** A task of the model, by true time. The world's habits decide what the service reports of it. */
export interface ModelTask {
  readonly id: number;
  readonly atMs: number;
  readonly runsMs: number;
  readonly backup: number;
  readonly from: number;
}

/** How a service reports its data. Clocks are ahead of true time by the given amounts. */
export interface Habits {
  readonly skewMs: number;
  readonly tellsDate: boolean;
  /** The clock that stamps tasks and data, ahead of that of the answers. */
  readonly stampMs: number;
  readonly stamps: 'milliseconds' | 'seconds' | 'zoneless' | 'offset';
  readonly leavesOut: 'nothing' | 'triggered_at' | 'backup_id' | 'restored_from';
  /** From the request for a list until it is read, and from there until it has arrived. */
  readonly thereMs: number;
  readonly backMs: number;
  /** Our own clock is set by this much at that true time. */
  readonly stepMs: number;
  readonly stepAtMs: number;
  /** Milliseconds after its trigger until a task is in the list. */
  readonly lagMs: number;
  /** From `afterMs`, by true time, the list lacks what was triggered before `olderMs`. */
  readonly forgets: { readonly afterMs: number; readonly olderMs: number } | undefined;
  /** From `afterMs` the list is an earlier one again, without anything triggered at `fromMs` or later. */
  readonly rollsBack: { readonly afterMs: number; readonly fromMs: number } | undefined;
  /** The list shows only some of its tasks, the newest or the oldest; each can be read by its id. */
  readonly cap?: { readonly shows: 'newest' | 'oldest'; readonly rows: number } | undefined;
  /** How many finished tasks of earlier years the list also has. */
  readonly padding: number;
  /** The listing of the deprecated version, which reports no content of a restore. */
  readonly isV0: boolean;
}

const FORMER_MS = Date.parse('2020-01-01T00:00:00Z');

/** A service and two clocks in model time: a list shows the state at the moment when it was read. */
export class World {
  trueMs: number;
  /** Whether a verb had to look more than once. */
  waited = false;
  /** When the list of tasks was last read. */
  readOffMs = 0;
  readonly #tasks: readonly ModelTask[];
  readonly #own: readonly ModelTask[];
  readonly #habits: Habits;
  #padding: readonly unknown[] | undefined;
  /** What a list with a cap last showed. */
  #capped: ReadonlySet<ModelTask> | undefined;

  constructor(startMs: number, tasks: readonly ModelTask[], own: readonly ModelTask[], habits: Habits) {
    this.trueMs = startMs;
    this.#tasks = tasks;
    this.#own = own;
    this.#habits = habits;
  }

  /** Our clock. */
  now(): Date {
    const { stepMs, stepAtMs } = this.#habits;
    return new Date(this.trueMs + (this.trueMs >= stepAtMs ? stepMs : 0));
  }

  #visible(): readonly ModelTask[] {
    const all = this.#there();
    const { cap } = this.#habits;
    if (cap === undefined) return all;
    const kept = cap.shows === 'oldest' ? all.slice(0, cap.rows) : all.slice(-cap.rows);
    this.#capped = new Set(kept);
    return kept;
  }

  #there(): readonly ModelTask[] {
    this.readOffMs = this.trueMs;
    const { lagMs, forgets, rollsBack } = this.#habits;
    const oldest = forgets !== undefined && this.trueMs >= forgets.afterMs ? forgets.olderMs : 0;
    const end = rollsBack !== undefined && this.trueMs >= rollsBack.afterMs ? rollsBack.fromMs : undefined;
    return this.#tasks.filter(
      ({ atMs }) => atMs + lagMs <= this.trueMs && atMs >= oldest && (end === undefined || atMs < end),
    );
  }

  /** Whether the list that was last read shows a task. */
  hasShown(task: ModelTask): boolean {
    const { atMs } = task;
    if (this.#capped?.has(task) === false) return false;
    return atMs + this.#habits.lagMs <= this.readOffMs;
  }

  /** Tasks of earlier years, created once: a list of ten thousand is requested many times. */
  #padded<Row>(make: (task: ModelTask) => Row): readonly Row[] {
    this.#padding ??= Array.from({ length: this.#habits.padding }, (_, at) =>
      make({ id: 1 + at, atMs: FORMER_MS + at * 60_000, runsMs: 1_000, backup: 1, from: FORMER_MS }),
    );
    return this.#padding as readonly Row[];
  }

  deps(inFlightMs: number): ActivityDeps {
    const service: Partial<ServiceClient> = {
      ...this.#limits(),
      ready: async () => undefined,
      restore: (id) => this.#one(id, (task) => this.#restore(task)),
      backups: () => this.#list(() => this.#own.map((task) => this.#backup(task))),
      restores: () => this.#list(() => this.#restores()),
    };
    const keyring = { load: async () => new Secret('a-key-of-this-world') };
    return { service, keyring, inFlightMs } as unknown as ActivityDeps;
  }

  /** The same world, where the tasks are backups. */
  depsForBackups(inFlightMs: number): ActivityDeps {
    const backups = () => this.#list(() => this.#backups());
    const backup = (id: number) => this.#one(id, (task) => this.#backup(task));
    const service = { ...this.#limits(), ready: async () => undefined, backups, backup };
    return { service, inFlightMs } as unknown as ActivityDeps;
  }

  #limits(): Pick<ServiceClient, 'limits'> {
    return { limits: this.#habits.isV0 ? { name: 'V0', deprecation: '', unsaid: [] } : undefined };
  }

  #one<Row>(id: number, read: (task: ModelTask) => Row): Promise<Answer<Row>> {
    return this.#list(() => {
      const task = this.#there().find((one) => one.id === id);
      if (task === undefined && id <= this.#habits.padding)
        return read({ id, atMs: FORMER_MS, runsMs: 1_000, backup: 1, from: FORMER_MS });
      if (task === undefined) throw new LifeboatError('service.not-found', 'there is no such task');
      return read(task);
    });
  }

  /** A time of the service in its format. */
  stamp(trueMs: number): string {
    const { skewMs: skew, stampMs, stamps } = this.#habits;
    const iso = new Date(trueMs + skew + stampMs).toISOString();
    if (stamps === 'seconds') return iso.replace(/\.\d+/u, '');
    if (stamps === 'zoneless') return iso.slice(0, -1);
    return stamps === 'offset' ? iso.replace('Z', '+00:00') : iso;
  }

  async #list<T>(read: () => T): Promise<Answer<T>> {
    const sentAt = this.now();
    this.trueMs += this.#habits.thereMs;
    const value = read();
    const date = new Date(Math.floor((this.trueMs + this.#habits.skewMs) / 1000) * 1000);
    this.trueMs += this.#habits.backMs;
    const skew = this.#habits.tellsDate ? skewMs(date, sentAt, this.now()) : undefined;
    return { value, raw: undefined, status: 200, skew };
  }

  #backups(): readonly Backup[] {
    const old = this.#padded((task) => this.#backup(task));
    if (!this.#habits.isV0) return [...this.#visible().map((task) => this.#backup(task)), ...old];
    const backups = this.#visible().map((task) => ({
      id: task.id,
      backup_agent_task: this.#agentTask(task),
    }));
    return [...backupsOf(BackupListing().parse({ id: 1, backups, restores: [] })), ...old];
  }

  #restores(): readonly Restore[] {
    const old = this.#padded((task) => this.#restore(task));
    if (!this.#habits.isV0) return [...this.#visible().map((task) => this.#restore(task)), ...old];
    const restores = this.#visible().map((task) => ({
      id: task.id,
      backup_agent_tasks: [this.#agentTask(task)],
    }));
    return [...restoresOf(BackupListing().parse({ id: 1, backups: [], restores })), ...old];
  }

  #agentTask({ atMs, runsMs }: ModelTask) {
    const { triggered_at: created_at } = this.#trigger(atMs);
    return { status: this.#status(atMs, runsMs), created_at };
  }

  #backup({ id, atMs, runsMs }: ModelTask): Backup {
    return Backup.parse({
      id,
      status: this.#status(atMs, runsMs),
      ...this.#trigger(atMs),
      downloadable: true,
    });
  }

  #restore({ id, atMs, runsMs, backup, from }: ModelTask): Restore {
    const { leavesOut } = this.#habits;
    return Restore.parse({
      id,
      status: this.#status(atMs, runsMs),
      ...(leavesOut === 'backup_id' ? {} : { backup_id: backup }),
      metadata: leavesOut === 'restored_from' ? null : { restored_from: this.stamp(from) },
      ...this.#trigger(atMs),
    });
  }

  #trigger(atMs: number): { readonly triggered_at?: string } {
    return this.#habits.leavesOut === 'triggered_at' ? {} : { triggered_at: this.stamp(atMs) };
  }

  #status(atMs: number, runsMs: number): string {
    const forMs = this.trueMs - atMs;
    if (forMs < runsMs / 2) return 'queued';
    return forMs < runsMs ? 'running' : 'done';
  }
}

/** Asks a verb for the outcome of its lost request until it decides, as the runner does. */
export async function lookUntilDecided<Input extends { readonly intent: string }, Output>(
  activity: OnceActivity<Input, Output>,
  input: Input,
  world: World,
  doubt: Omit<InDoubt, 'looks'>,
): Promise<Exclude<Judgement<Output>, { verdict: 'wait' }>> {
  for (let looks = 0; looks < 10_000; looks += 1) {
    const judgement = await activity.judge(
      input,
      { ...doubt, looks },
      contextOf(() => world.now()),
    );
    if (judgement.verdict !== 'wait') return judgement;
    if (judgement.ms <= 0) throw new Error('a wait must lead somewhere');
    world.waited = true;
    world.trueMs += judgement.ms;
  }
  throw new Error('it never decides');
}

/** A verb's context from the runner. */
export function contextOf(now: () => Date, overrides: Partial<ChangeContext> = {}): ChangeContext {
  return {
    runId: 'R',
    instance: 'orders',
    signal: new AbortController().signal,
    now,
    report: () => undefined,
    mayLeave: () => undefined,
    announce: async () => undefined,
    ...overrides,
  };
}
