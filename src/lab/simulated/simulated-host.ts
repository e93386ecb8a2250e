import { createHash } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { encryptor } from '../../backup/encryptor.ts';
import { LifeboatError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { Binding, InstanceData, TakenBackup } from '../data/instance-data.ts';
import type { Query } from '../engine/engine.ts';
import type { HostPlan } from '../host.ts';
import { withoutDatabase } from '../host.ts';
import type { BackupStore, Stored } from '../manager/store.ts';
import { InstanceMetrics } from '../metrics.ts';
import { chances } from '../random.ts';

/** For people, wherever a lab says what it runs on. */
const SIMULATED = 'simulated: no databases, and nothing is restored';

interface SimulatedHostPlan extends HostPlan {
  /** From here on tasks take their time: the lab is ready. */
  begin(): void;
}

/** No databases: instances are objects in memory. The seed picks each task's real time within `taskMs`. */
export function simulatedHost(options: {
  readonly taskMs?: readonly [least: number, most: number];
  readonly seed?: number;
}): SimulatedHostPlan {
  const { taskMs = [0, 0], seed = 1 } = options;
  const [least, most] = taskMs;
  const next = chances(seed);
  let hasBegun = false;
  return {
    user: undefined,
    begin: () => {
      hasBegun = true;
    },
    open: async ({ home, now, signal }) => {
      const content = await contentOfBackups();
      const takeTime = async () => {
        if (hasBegun && most > 0)
          await pause(least + next() * (most - least), undefined, { signal, ref: false });
      };
      const metrics = new InstanceMetrics(() => home.state, now);
      return {
        description: SIMULATED,
        store: new SharedArchives(),
        databases: undefined,
        createData: async (_, archive) =>
          new SimulatedData({ content, archiving: archive !== undefined, takeTime, folder: home.state }),
        metricsOf: () => metrics,
        close: async () => undefined,
      };
    },
  };
}

/** A tar as small as a tar can be that says what it is. */
async function contentOfBackups(): Promise<Buffer> {
  const tar = pack();
  tar.entry(
    { name: 'SIMULATED.txt', mtime: new Date(0) },
    'A backup of a simulated instance of `lifeboat lab`: there is no database behind it, and it holds no data.\n',
  );
  tar.finalize();
  return await buffer(tar);
}

interface Archive {
  readonly content: Buffer;
  readonly bytes: Promise<Buffer>;
}

/** Backups in memory, small and mostly alike: the same content and key share one encrypted archive. */
class SharedArchives implements BackupStore {
  readonly #archives = new WeakMap<Secret, Archive>();
  readonly #kept = new Map<string, Buffer>();

  async write(backupId: string, content: Readable, key: Secret, signal: AbortSignal): Promise<Stored> {
    const plain = await buffer(addAbortSignal(signal, content));
    const known = this.#archives.get(key);
    const archive =
      known?.content.equals(plain) === true ? known : { content: plain, bytes: seal(plain, key) };
    this.#archives.set(key, archive);
    const bytes = await archive.bytes;
    this.#kept.set(backupId, bytes);
    return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  }

  /** Nothing reads the facts of a backup but a person in the folder of a lab. */
  async describe(): Promise<void> {}

  read(backupId: string, start: number, end: number): Readable {
    const bytes = this.#kept.get(backupId);
    if (bytes === undefined) throw new Error(`the backup ${backupId} is not in the store`);
    return Readable.from([bytes.subarray(start, end)]);
  }

  async remove(backupId: string): Promise<void> {
    this.#kept.delete(backupId);
  }
}

/** As a backup of a database is stored: gzip in what `openssl enc` opens. */
async function seal(content: Buffer, key: Secret): Promise<Buffer> {
  const gzip = createGzip();
  const cipher = encryptor({ key, profile: 'md5' });
  const [bytes] = await Promise.all([buffer(cipher), pipeline(Readable.from([content]), gzip, cipher)]);
  return bytes;
}

interface SimulatedParts {
  /** What every backup holds. */
  readonly content: Buffer;
  readonly archiving: boolean;
  readonly takeTime: () => Promise<void>;
  /** A folder of the lab, for figures of its disk. */
  readonly folder: string;
}

/**
 * The data part of an instance without data. Backups are archives that say so; a restore reads one to its
 * end, which takes its key, and changes nothing. Who asks for data is refused with `lab.simulated`.
 */
class SimulatedData implements InstanceData<TakenBackup> {
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
