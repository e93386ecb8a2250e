import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { LifeboatError } from '../base/errors.ts';
import {
  createInstanceData,
  type InstanceData,
  type LogStore,
  type TakenBackup,
} from './data/instance-data.ts';
import { type Database, makePostgresEngine } from './engine/engine.ts';
import { type EngineUser, engineUser, type Launcher, makeLauncher } from './engine/launcher.ts';
import { locatePostgres } from './engine/locate-postgres.ts';
import type { Home } from './home.ts';
import { type BackupStore, FolderStore } from './manager/store.ts';
import { InstanceMetrics } from './metrics.ts';

/** Where the instances of a lab have their data and their backups. */
export interface Host {
  /** For people: which PostgreSQL, or that there is none. */
  readonly description: string;
  readonly store: BackupStore;
  /** Undefined if instances have no database. */
  readonly databases: Databases | undefined;
  /** For a new, empty instance; with `archive`, its log is archived. Rejects with `lab.postgres`. */
  createData(name: string, archive: LogStore | undefined): Promise<InstanceData<TakenBackup>>;
  metricsOf(data: InstanceData<TakenBackup>): InstanceMetrics;
  /** Ends all data and everything that works on it. */
  close(): Promise<void>;
}

export interface Databases {
  readonly launcher: Launcher;
  /** From a base backup, beside the instances. */
  restore(name: string, content: Readable): Promise<Database>;
}

/** A kind of host without a folder yet. */
export interface HostPlan {
  /** For databases, if not the user who starts the lab. */
  readonly user: EngineUser | undefined;
  open(place: HostPlace): Promise<Host>;
}

interface HostPlace {
  readonly home: Home;
  /** For stored backups. */
  readonly folder: string;
  readonly now: () => Date;
  /** Stops what is being made. */
  readonly signal: AbortSignal;
}

/** Rejects with `lab.no-postgres` if there is none. */
export async function postgresHost(options: {
  readonly fsync: boolean;
  readonly emptyDatabase: string | undefined;
}): Promise<HostPlan> {
  const located = locatePostgres();
  const launcher = await makeLauncher(await engineUser());
  return {
    user: launcher.user,
    open: async ({ home, folder, now, signal }) => {
      const engine = await makePostgresEngine({ located, launcher, folder: home.engine, ...options, signal });
      const made: InstanceData[] = [];
      return {
        description: engine.description,
        store: new FolderStore(join(folder, 'store')),
        databases: { launcher, restore: engine.restore },
        createData: async (name, archive) => {
          const data = await createInstanceData(engine, name, archive === undefined ? {} : { archive });
          made.push(data);
          return data;
        },
        metricsOf: (data) => new InstanceMetrics(() => data.dataFolder, now),
        close: async () => {
          await Promise.all([engine.close(), ...made.map((data) => data.remove())]);
        },
      };
    },
  };
}

/** For what only a database can do. */
export function withoutDatabase(): LifeboatError {
  return new LifeboatError('lab.simulated', 'a simulated instance holds no data', {
    hints: ['for data that can be looked at: `lifeboat lab` without --simulated, on real PostgreSQL'],
  });
}
