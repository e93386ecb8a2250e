import { initPostgresStore } from '../../src/store/postgres/schema.ts';
import { addressOf, ask, type Cluster, startCluster } from '../bench-kit/postgres.ts';

/** The database of one trial, on a server that all of them share. */
export interface TrialDatabase {
  /** For LIFEBOAT_STORE. */
  readonly address: string;
  /** Keeps what is there now; there may be no connection. */
  keep(): Promise<void>;
  /** Puts back what was kept; connections are cut off. */
  putBack(): Promise<void>;
  drop(): Promise<void>;
}

/**
 * How long a hold on a team's store lasts without a sign of its holder: longer than a process is stopped here
 * on a quiet machine, and short, since the next process waits for the end of a killed one.
 */
export const LEASE_MS = 3_000;
/** A holder renews its lease after this share of it, so a stopped one may have used up that much before. */
const RENEWED_AFTER = 1 / 3;

/** Whether another process may have the runs of one that was stopped this many milliseconds ago. */
export function mayBeTaken(stoppedMs: number): boolean {
  return stoppedMs >= LEASE_MS * (1 - RENEWED_AFTER);
}

const TEMPLATE = 'lifeboat_empty';

/** Tells the processes that this one starts where the server is. */
const PORT = 'TRIAL_DATABASE_PORT';

let shared: Promise<Cluster> | undefined;
let made = 0;

/** Starts the server that all trials share, here and in the processes that are started from here. */
export async function shareDatabases(): Promise<void> {
  shared ??= startShared();
  process.env[PORT] = String((await shared).port);
}

/** An empty store in a database of its own; the server is started by the first one. */
export async function freshDatabase(): Promise<TrialDatabase> {
  if (process.env[PORT] === undefined) await shareDatabases();
  const where = { host: '127.0.0.1', port: Number(process.env[PORT]) };
  made += 1;
  const name = `trial_${process.pid}_${made}`;
  const kept = `${name}_kept`;
  const copy = (from: string, to: string) => ask(where, `create database ${to} template ${from}`);
  const drop = (one: string) => ask(where, `drop database if exists ${one} with (force)`);
  await copy(TEMPLATE, name);
  return {
    // Where the clock runs twenty times as fast, the usual five seconds are over before a busy server
    // answers.
    address: `${addressOf([where.port], name)}&connect_timeout=100`,
    keep: async () => void (await copy(name, kept)),
    putBack: async () => {
      await drop(name);
      await copy(kept, name);
    },
    drop: async () => {
      await drop(name);
      await drop(kept);
    },
  };
}

/** Ends the shared server, if there is one. */
export async function closeDatabases(): Promise<void> {
  await (await shared)?.remove();
  shared = undefined;
  delete process.env[PORT];
}

async function startShared(): Promise<Cluster> {
  const cluster = await startCluster({ open: true });
  try {
    await cluster.query(`create database ${TEMPLATE}`);
    await initPostgresStore({
      address: `${addressOf([cluster.port], TEMPLATE)}&connect_timeout=100`,
      env: {},
    });
    return cluster;
  } catch (thrown) {
    await cluster.remove();
    throw thrown;
  }
}
