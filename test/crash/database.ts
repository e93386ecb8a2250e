import { initPostgresStore } from '../../src/store/postgres/init.ts';
import { addressOf, type Servers, startServers } from '../team/servers.ts';

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

let shared: Promise<Servers> | undefined;
let made = 0;

/** An empty store in a database of its own; the server is started by the first one. */
export async function freshDatabase(): Promise<TrialDatabase> {
  shared ??= startShared();
  const { primary } = await shared;
  made += 1;
  const [name, kept] = [`trial_${made}`, `trial_${made}_kept`];
  const copy = (from: string, to: string) => primary.query(`create database ${to} template ${from}`);
  const drop = (one: string) => primary.query(`drop database if exists ${one} with (force)`);
  await copy(TEMPLATE, name);
  return {
    address: addressOf([primary.port], name),
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
}

async function startShared(): Promise<Servers> {
  const servers = await startServers();
  try {
    await servers.primary.query(`create database ${TEMPLATE}`);
    await initPostgresStore({ address: addressOf([servers.primary.port], TEMPLATE), env: {} });
    return servers;
  } catch (thrown) {
    await servers.close();
    throw thrown;
  }
}
