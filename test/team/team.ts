import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openWire, type Wire } from '../crash/wire.ts';
import { type House, type HouseOptions, openHouse } from '../e2e/house.ts';
import type { Product } from '../e2e/product.ts';
import { type DatabaseWire, openDatabaseWire } from './database-wire.ts';
import { addressOf, type Pair, startPair } from './servers.ts';

/** Somebody with a machine of their own: a home, a key store, and ways to the database and to the service that can be hurt. */
export interface Person {
  readonly name: string;
  readonly house: House;
  readonly database: DatabaseWire;
  readonly service: Wire;
  /** A file whose presence lets the process stop itself at the next moment that `stop-at.ts` knows. */
  readonly stopFile: string;
}

/** Two people, one database with a standby, one service that counts what it is asked for. */
export interface Team {
  readonly pair: Pair;
  readonly ada: Person;
  readonly bob: Person;
  /** The store for whoever looks on from nowhere: no wire lies before it. */
  readonly store: string;
  close(): Promise<void>;
}

/** How long a lost request may still arrive. */
const IN_FLIGHT = '1s';
const DATABASE = 'lifeboat';

/** Sets everything up: the store is made, both have written to it, and both are believed. */
export async function openTeam(product: Product, options: HouseOptions = {}): Promise<Team> {
  await using opened = new AsyncDisposableStack();
  const pair = await startPair();
  opened.defer(() => pair.close());
  await pair.query(`create database ${DATABASE}`);
  const ports = [pair.primary.port, pair.standby.port];
  const join = async (name: string, more: HouseOptions): Promise<Person> => {
    const database = await openDatabaseWire(ports);
    opened.defer(() => database.close());
    const store = addressOf(database.ports, DATABASE);
    const house = await openHouse(product, {
      settle: IN_FLIGHT,
      taskMs: 1,
      ...options,
      ...more,
      operator: name,
      store,
    });
    opened.defer(() => house.close());
    const service = await openWire(new URL(house.server.url).host);
    opened.defer(() => service.close());
    return furnished({ name, house, database, service });
  };
  const ada = await join('Ada', {});
  const bob = await join('Bob', { server: ada.house.server });
  await expectDone(ada, 'store', 'init');
  await introduce(ada, bob);
  const { move } = { move: opened.move() };
  return { pair, ada, bob, store: addressOf(ports, DATABASE), close: () => move.disposeAsync() };
}

/** Ada writes first, and vouches for Bob's key. */
async function introduce(ada: Person, bob: Person): Promise<void> {
  await expectDone(ada, ...LOOK);
  await expectDone(bob, ...LOOK);
  const status = JSON.parse((await expectDone(bob, 'store', 'status', '--json')).stdout) as {
    readonly installations: readonly { readonly installation: string; readonly state: string }[];
  };
  const [unknown] = status.installations.filter(({ state }) => state === 'announced');
  if (unknown === undefined) throw new Error('nobody has announced a key');
  await expectDone(
    ada,
    'store',
    'endorse',
    unknown.installation,
    '--reason',
    'compared by telephone',
    '--confirm',
    unknown.installation,
  );
}

/** Writes to the store without a call to the service. */
const LOOK = ['keys', 'add', 'orders', '--file', 'old-key'] as const;

async function expectDone({ name, house }: Person, ...words: readonly string[]) {
  const ended = await house.run(...words);
  if (ended.code !== 0)
    throw new Error(`${name}: ${words.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
  return ended;
}

/** The config leads over the wire, and the process may be told to stop itself. */
function furnished({ name, house, database, service }: Omit<Person, 'stopFile'>): Person {
  const path = house.env['LIFEBOAT_CONFIG'] ?? '';
  const own = new URL(house.server.url).host;
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(own, service.address));
  const stopFile = join(house.folder, 'stop-now');
  Object.assign(house.env, {
    NODE_OPTIONS: `--import=${new URL('./stop-at.ts', import.meta.url).href}`,
    TEAM_STOP_FILE: stopFile,
    TEAM_STOP_AT: 'undici:client:connected',
  });
  return { name, house, database, service, stopFile };
}
