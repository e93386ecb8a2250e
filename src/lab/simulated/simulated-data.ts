import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { LifeboatError } from '../../base/errors.ts';
import type { Binding, InstanceData, TakenBackup } from '../data/instance-data.ts';
import type { Query } from '../engine/engine.ts';
import { withoutDatabase } from '../host.ts';

interface SimulatedParts {
  /** What every backup holds. */
  readonly content: Buffer;
  readonly archiving: boolean;
  /** Takes as long as a task does. */
  readonly takeTime: () => Promise<void>;
  /** A folder of the lab, for figures of its disk. */
  readonly folder: string;
}

/**
 * The data part of an instance without data. Backups are archives that say so; a restore reads one to its
 * end, which takes its key, and changes nothing. Who asks for data is refused with `lab.simulated`.
 */
export class SimulatedData implements InstanceData<TakenBackup> {
  readonly query: Query = NO_QUERY;
  readonly pid = undefined;
  readonly socketFolder = '';
  readonly #parts: SimulatedParts;
  #running = true;
  /** The backups that a point in time can be reached from, oldest first. */
  #kept: readonly { readonly id: string; readonly from: number }[] = [];

  constructor(parts: SimulatedParts) {
    this.#parts = parts;
  }

  get running(): boolean {
    return this.#running;
  }

  get dataFolder(): string {
    return this.#parts.folder;
  }

  get archiving(): boolean {
    return this.#parts.archiving;
  }

  baseBackup(): { readonly content: Readable; facts(): Promise<TakenBackup> } {
    this.#assertRunning();
    const { content, takeTime } = this.#parts;
    const startedAt = new Date();
    let stoppedAt = startedAt;
    const stream = Readable.from(
      (async function* () {
        await takeTime();
        yield content;
        stoppedAt = new Date();
      })(),
    );
    return {
      content: stream,
      facts: async () => {
        await finished(stream, { writable: false });
        return { manifest: { simulated: 'it holds no data' }, startedAt, stoppedAt };
      },
    };
  }

  keepBackup(backupId: string, { stoppedAt }: TakenBackup): void {
    this.#kept = [...this.#kept, { id: backupId, from: stoppedAt.getTime() }];
  }

  async forgetBackup(backupId: string): Promise<void> {
    this.#kept = this.#kept.filter(({ id }) => id !== backupId);
  }

  async range(): Promise<{ readonly start: Date; readonly end: Date } | undefined> {
    const [first] = this.#kept;
    if (!this.archiving || first === undefined) return undefined;
    return { start: new Date(first.from), end: new Date() };
  }

  async restoreBackup(content: Readable, origin: 'own' | 'other'): Promise<void> {
    await this.#readWhole(content);
    // Another database begins an archive of its own.
    if (origin === 'other') this.#kept = [];
  }

  async restoreTo(time: Date, open: (backupId: string) => Readable): Promise<{ readonly backupId: string }> {
    const backup = this.#kept.findLast(({ from }) => from <= time.getTime());
    if (backup === undefined || time > new Date()) {
      throw new LifeboatError('lab.time', 'the time is outside of the range that can be restored', {
        hints: ['choose a time between the start and the end of the range'],
      });
    }
    await this.#readWhole(open(backup.id));
    return { backupId: backup.id };
  }

  async stop(): Promise<void> {
    this.#running = false;
  }

  async start(): Promise<void> {
    await this.#parts.takeTime();
    this.#running = true;
  }

  async kill(): Promise<void> {
    this.#running = false;
  }

  async bind(): Promise<Binding> {
    throw withoutDatabase();
  }

  async unbind(): Promise<void> {}

  async remove(): Promise<void> {
    this.#running = false;
  }

  async #readWhole(content: Readable): Promise<void> {
    content.resume();
    await finished(content, { writable: false });
    await this.#parts.takeTime();
    this.#assertRunning();
  }

  #assertRunning(): void {
    if (this.#running) return;
    throw new LifeboatError('lab.down', 'the simulated instance is down', {
      hints: ['start the instance, or wait until its restore is over'],
    });
  }
}

const NO_QUERY: Query = async () => {
  throw withoutDatabase();
};
