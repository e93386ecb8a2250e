import { initPostgresStore } from '../../src/store/postgres/init.ts';
import { addressOf, ask, type Servers, startServers } from '../team/servers.ts';

/** The database of one trial, on a server that all of them share. */
export interface TrialDatabase {
  /** For LIFEBOAT_STORE. */
  readonly address: string;
  /** Keeps what is there now; nobody may be connected. */
  keep(): Promise<void>;
  /** Puts back what was kept; whoever is connected is cut off. */
  putBack(): Promise<void>;
  drop(): Promise<void>;
}

const TEMPLATE = 'lifeboat_empty';

/** Tells the processes that this one starts where the server is. */
const PORT = 'TRIAL_DATABASE_PORT';

let shared: Promise<Servers> | undefined;
let made = 0;

/** Starts the server that all trials share, here and in the processes that are started from here. */
export async function shareDatabases(): Promise<void> {
  shared ??= startShared();
  process.env[PORT] = String((await shared).primary.port);
}

/** An empty store in a database of its own; the server is started by the first one. */
export async function freshDatabase(): Promise<TrialDatabase> {
  if (process.env[PORT] === undefined) await shareDatabases();
  const port = Number(process.env[PORT]);
  made += 1;
  const name = `trial_${process.pid}_${made}`;
  const kept = `${name}_kept`;
  const copy = (from: string, to: string) => ask(port, `create database ${to} template ${from}`);
  const drop = (one: string) => ask(port, `drop database if exists ${one} with (force)`);
  await copy(TEMPLATE, name);
  return {
    // Where the clock runs twenty times as fast, the usual five seconds are over before a busy server
    // answers.
    address: `${addressOf([port], name)}&connect_timeout=100`,
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
  await (await shared)?.close();
  shared = undefined;
  delete process.env[PORT];
}

async function startShared(): Promise<Servers> {
  const servers = await startServers();
  try {
    await servers.primary.query(`create database ${TEMPLATE}`);
    await initPostgresStore({
      address: `${addressOf([servers.primary.port], TEMPLATE)}&connect_timeout=100`,
      env: {},
    });
    return servers;
  } catch (thrown) {
    await servers.close();
    throw thrown;
  }
}
