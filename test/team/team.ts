import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReaderOf } from '../../src/compose/store-of.ts';
import type { Entry } from '../../src/store/journal.ts';
import { CANARIES } from '../bench-kit/canaries.ts';
import { type DatabaseWire, openDatabaseWire } from '../bench-kit/database-wire.ts';
import { addressOf, type Pair, type PairOptions, startPair } from '../bench-kit/postgres.ts';
import type { Product } from '../bench-kit/product.ts';
import { type BenchOptions, openBench, type TestBench } from '../bench-kit/test-bench.ts';
import { openWire, type Wire } from '../crash/wire.ts';

/**
 * A person with a machine of their own: a home, a key store, and ways to the database and to the service that
 * can be hurt.
 */
export interface Person {
  readonly name: string;
  readonly bench: TestBench;
  readonly database: DatabaseWire;
  readonly service: Wire;
  /** While this file is there, the process stops itself at the next moment that `stop-at.ts` knows. */
  readonly stopFile: string;
}

/** Two people, one database with a standby, one service that counts what it is asked for. */
export interface Team {
  readonly product: Product;
  readonly servers: Pair;
  readonly ada: Person;
  readonly bob: Person;
  /** Everything in the store, in order of the log, past every wire. */
  entries(): Promise<readonly Entry[]>;
  close(): Promise<void>;
}

/** How long a lost request may still arrive. */
const IN_FLIGHT = '1s';
const DATABASE = 'lifeboat';

/** Sets everything up: the store is made, both have written to it, and both are believed. */
export async function openTeam(
  product: Product,
  options: BenchOptions = {},
  pair: PairOptions = {},
): Promise<Team> {
  await using opened = new AsyncDisposableStack();
  const servers = await startPair(pair);
  opened.defer(() => servers.remove());
  await servers.primary.query(`create database ${DATABASE}`);
  const sharedPlace = mkdtempSync(join(tmpdir(), 'lifeboat-shared-'));
  opened.defer(() => rmSync(sharedPlace, { recursive: true, force: true }));
  const ports = [servers.primary.port, servers.standby.port];
  const admit = async (name: string, more: BenchOptions): Promise<Person> => {
    const database = await openDatabaseWire(servers.primary, servers.standby);
    opened.defer(() => database.close());
    const store = database.address(DATABASE);
    const usual = { inFlight: IN_FLIGHT, taskMs: 1, idsInRow: true };
    const asked = { ...usual, ...options, ...more, operator: name, store, sharedPlace };
    const bench = await openBench(product, asked);
    opened.defer(() => bench.close());
    const service = await openWire(new URL(bench.server.url).host);
    opened.defer(() => service.close());
    return furnished({ name, bench, database, service });
  };
  const ada = await admit('Ada', {});
  const bob = await admit('Bob', { server: ada.bench.server });
  await expectDone(ada, 'store', 'init');
  await introduce(ada, bob, options.instances?.[0]?.name ?? 'orders');
  const moved = opened.move();
  const entries = async () => {
    const journal = await openReaderOf({ env: { LIFEBOAT_STORE: addressOf(ports, DATABASE) } });
    try {
      const streams = await journal.streams();
      const all = await Promise.all(streams.map(({ stream }) => journal.read(stream)));
      return all.flat().toSorted((one, other) => one.index - other.index);
    } finally {
      await journal.close();
    }
  };
  return { product, servers, ada, bob, entries, close: () => moved.disposeAsync() };
}

/** Ada writes first, and vouches for Bob's key; both hold an old key of the instance. */
async function introduce(ada: Person, bob: Person, instance: string): Promise<void> {
  for (const person of [ada, bob]) {
    const file = join(person.bench.folder, 'old-key');
    writeFileSync(file, CANARIES.oldKey, { mode: 0o600 });
    await expectDone(person, 'keys', 'add', instance, '--file', file);
  }
  const { stdout } = await expectDone(bob, 'store', 'status', '--json');
  const { installations } = JSON.parse(stdout) as {
    readonly installations: readonly { readonly installation: string; readonly state: string }[];
  };
  const unknown = installations.find(({ state }) => state === 'announced')?.installation ?? '';
  const why = ['--reason', 'compared by telephone', '--confirm', unknown];
  await expectDone(ada, 'store', 'endorse', unknown, ...why);
}

async function expectDone({ name, bench }: Person, ...words: readonly string[]) {
  const ended = await bench.run(...words);
  if (ended.code !== 0)
    throw new Error(`${name}: ${words.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
  return ended;
}

/** The config leads over the wire, and a file can make the process stop itself. */
function furnished(person: Omit<Person, 'stopFile'>): Person {
  const { bench, service } = person;
  const path = bench.env['LIFEBOAT_CONFIG'] ?? '';
  const own = new URL(bench.server.url).host;
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(own, service.address));
  const stopFile = join(bench.folder, 'stop-now');
  Object.assign(bench.env, {
    NODE_OPTIONS: `--import=${new URL('./stop-at.ts', import.meta.url).href}`,
    TEAM_STOP_FILE: stopFile,
    TEAM_STOP_AT: 'undici:client:connected',
  });
  return { ...person, stopFile };
}
