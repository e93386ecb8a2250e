import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { placeChecks } from '../../src/commands/doctor/places.ts';
import { openReaderOf } from '../../src/compose/store-of.ts';
import { openWorkspace } from '../../src/compose/workspace.ts';
import { memoryStore } from '../../src/keys/key-store.ts';
import { initPostgresStore } from '../../src/store/postgres/schema.ts';
import { startCluster } from '../bench-kit/postgres.ts';
import { temporaryHome } from '../store/temporary-home.ts';

const cluster = await startCluster({ open: true });
afterAll(() => cluster.remove());

/** A person with a home and keys of their own. */
function person() {
  const folder = temporaryHome();
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  const keys = memoryStore();
  const said: string[] = [];
  const own = join(folder, 'checkpoints');
  mkdirSync(own);
  const stream = { isTTY: false, write: (text: string) => said.push(text) > 0 };
  const contextOf = (store: string, alone?: string) => {
    const env = { LIFEBOAT_HOME: home, LIFEBOAT_STORE: store };
    const streams = { stdin: stream, stdout: stream, stderr: stream };
    return { env, version: '0', configPath: undefined, alone, ...streams } as never;
  };
  /** What any command does that changes something; by default without checkpoints. */
  const work = async (store: string, { places = [own], alone }: Working = {}) => {
    const checkpoints = places.map((path) => ({ folder: path }));
    const workspace = await openWorkspace(contextOf(store, alone), { checkpoints, store: keys });
    try {
      const hold = await workspace.journal.hold('run/a');
      await workspace.journal.append([{ stream: 'run/a', type: 'run.started', body: {} }], [hold]);
      await hold.release();
      await workspace.sealer.sealNow();
    } finally {
      await workspace.close();
    }
  };
  return { work, contextOf, said, keys };
}

interface Working {
  readonly places?: readonly string[];
  readonly alone?: string;
}

function sharedFolder(): string {
  const path = join(temporaryHome(), 'shared');
  mkdirSync(path);
  return path;
}

async function madeStore() {
  const places = [sharedFolder()];
  const database = await cluster.makeDatabase();
  const address = cluster.address(database);
  const init = () => initPostgresStore({ address, env: process.env });
  await init();
  const makeAgain = async () => {
    await cluster.query('drop schema lifeboat cascade', database);
    await init();
  };
  /** Keeps what is there; gives what puts it back. */
  const keep = async () => {
    const copy = async (from: string, to: string) => {
      await cluster.query(`drop database if exists ${to} with (force)`);
      await cluster.query(`create database ${to} template ${from}`);
    };
    await copy(database, `${database}_kept`);
    return () => copy(`${database}_kept`, database);
  };
  return { address, places, makeAgain, keep };
}

test('a store that was created again at its address stops a person who wrote to the old one, even after a colleague', async () => {
  const { address, makeAgain } = await madeStore();
  const [ada, bob] = [person(), person()];
  await ada.work(address);
  await ada.work(address);
  await makeAgain();
  await bob.work(address);
  const refused = { code: 'journal.rolled-back', exitCode: 5 };
  await expect(ada.work(address)).rejects.toMatchObject(refused);
  // However the address is written.
  const other = `${address.replace('postgres://', 'postgresql://')}${address.includes('?') ? '&' : '?'}connect_timeout=9`;
  await expect(ada.work(other)).rejects.toMatchObject(refused);
  const checks = await placeChecks(ada.contextOf(address), { checkpoints: [] } as never, undefined, false);
  expect(checks).toContainEqual(expect.objectContaining({ what: 'journal', state: 'bad' }));
  const context: { readonly stderr: unknown } = ada.contextOf(address);
  await (await openReaderOf(context as never)).close();
  expect(ada.said.join('')).toContain('see lifeboat doctor');
  await bob.work(address);
});

test('a log that was begun in the same session is remembered too', async () => {
  const { address, makeAgain } = await madeStore();
  const [ada, bob] = [person(), person()];
  await ada.work(address);
  await makeAgain();
  await bob.work(address);
  await expect(ada.work(address)).rejects.toMatchObject({ code: 'journal.rolled-back' });
});

test('a home that has used a store at another address can join a team', async () => {
  const [first, second] = [await madeStore(), await madeStore()];
  const [ada, bob] = [person(), person()];
  await ada.work(first.address, first);
  await bob.work(second.address, second);
  await ada.work(second.address, second);
  await ada.work(first.address, first);
});

const UNSHARED = { code: 'store.unshared', exitCode: 2 };

test.for(['put back to yesterday', 'made anew'])(
  'a team’s database that was %s stops a colleague whose own home has seen none of the lost entries',
  async (how) => {
    const { address, places, makeAgain, keep } = await madeStore();
    const [ada, bob] = [person(), person()];
    for (const one of [ada, bob]) await one.work(address, { places });
    const putBack = await keep();
    await ada.work(address, { places });
    await (how === 'made anew' ? makeAgain() : putBack());
    const refused = { code: 'journal.rolled-back', exitCode: 5 };
    await expect(bob.work(address, { places })).rejects.toMatchObject(refused);
    // Nor does a new member begin another log behind them.
    await expect(person().work(address, { places })).rejects.toMatchObject(refused);
    await expect(bob.work(address, { places, alone: 'the folder is full' })).rejects.toMatchObject(refused);
  },
);

test('a folder with the checkpoints of another log stops a team even when its own are there', async () => {
  const [one, other] = [await madeStore(), await madeStore()];
  const ada = person();
  await ada.work(one.address, one);
  await person().work(other.address, other);
  cpSync(String(other.places[0]), String(one.places[0]), { recursive: true });
  const refusal = await ada.work(one.address, one).catch((thrown: unknown) => thrown);
  expect(refusal).toMatchObject({ code: 'journal.rolled-back' });
  expect(refusal).toMatchObject({
    hints: expect.arrayContaining([expect.stringContaining('a folder for this one alone')]),
  });
});

test('a team without a shared folder changes nothing, unless a person gives a reason, which is recorded', async () => {
  const { address, places } = await madeStore();
  const [ada, bob] = [person(), person()];
  await expect(ada.work(address, { places: [] })).rejects.toMatchObject(UNSHARED);
  const gone = [join(String(places[0]), 'not-mounted')];
  await expect(ada.work(address, { places: gone })).rejects.toMatchObject(UNSHARED);
  await ada.work(address, { places });
  // An empty folder may be a disk that is not mounted, or not the one of the others.
  for (const one of [ada, bob])
    await expect(one.work(address, { places: [sharedFolder()] })).rejects.toMatchObject(UNSHARED);
  const first = sharedFolder();
  await ada.work(address, { places: [first], alone: 'first use of the folder' });
  await bob.work(address, { places: [first] });
  const journal = await openReaderOf(ada.contextOf(address));
  const said = (await journal.read('store/log')).filter(({ type }) => type === 'alone.accepted');
  await journal.close();
  expect(said).toMatchObject([{ body: { reason: 'first use of the folder', lack: expect.any(String) } }]);
});

test('no call is sent before the folder of the team has its checkpoint', async () => {
  const { address, places } = await madeStore();
  const [ada] = [person()];
  await ada.work(address, { places });
  const folder = String(places[0]);
  const workspace = await openWorkspace(ada.contextOf(address), {
    checkpoints: [{ folder }],
    store: ada.keys,
  });
  const hold = await workspace.journal.hold('run/b');
  await workspace.journal.append([{ stream: 'run/b', type: 'run.started', body: {} }], [hold]);
  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, 'no folder any more');
  await expect(workspace.sealer.sealNow()).rejects.toMatchObject({
    code: 'evidence.not-sealed',
    hints: expect.arrayContaining([expect.stringContaining('--alone REASON')]),
  });
  await hold.release();
  await workspace.close();
});

test('a log that is begun elsewhere while a process works stops that process', async () => {
  const [one, other] = [await madeStore(), await madeStore()];
  const ada = person();
  await ada.work(one.address, one);
  const checkpoints = one.places.map((folder) => ({ folder }));
  const workspace = await openWorkspace(ada.contextOf(one.address), { checkpoints, store: ada.keys });
  await person().work(other.address, other);
  cpSync(String(other.places[0]), String(one.places[0]), { recursive: true });
  const hold = await workspace.journal.hold('run/b');
  await workspace.journal.append([{ stream: 'run/b', type: 'run.started', body: {} }], [hold]);
  await expect(workspace.sealer.sealNow()).rejects.toMatchObject({ code: 'journal.rolled-back' });
  await hold.release();
  await workspace.close();
});

test('doctor names what a team lacks', async () => {
  const { address, places } = await madeStore();
  const ada = person();
  await ada.work(address, { places });
  const checks = (checkpoints: readonly { readonly folder: string }[]) =>
    placeChecks(ada.contextOf(address), { checkpoints } as never, undefined, false);
  const bad = { what: 'checkpoints: shared', state: 'bad' };
  expect(await checks([])).toContainEqual(expect.objectContaining(bad));
  const found = await checks(places.map((folder) => ({ folder })));
  expect(found.filter(({ state }) => state === 'bad')).toEqual([]);
});
