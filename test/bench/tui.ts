/*
 * `npm run bench:tui [-- --quick]`: what the app costs, each figure beside that of the least program that
 * Ink can draw, measured in the same run. Nothing here passes or fails: budgets stand beside the figures.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { BARE_INK, bundleScreen } from '../bench-kit/bundle-screen.ts';
import { hasTerminal } from '../bench-kit/pseudo-terminal.ts';
import { openScreen, type Screened } from './tui-screen.ts';

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const KEYS = quick ? 40 : 200;
/** A key a second is an hour of a person who never rests. */
const HOUR_OF_KEYS = quick ? 600 : 3_600;
const SECONDS = quick ? 4 : 10;
const EVENTS = 1_000;
/** Fewer than the fleet has instances, so that the cursor never stands at the end. */
const HURRIED = 300;
const CLI = resolve(import.meta.dirname, '../../dist/cli.js');

/** Nothing listens there: the board says so and asks again half a minute later. */
const CONFIG = ['orders', 'billing', 'ledger']
  .map(
    (name) =>
      `  ${name}:\n    url: http://127.0.0.1:9/service-instances/${name}\n    token: { env: TOKEN }\n    rehearsal: true\n`,
  )
  .join('');

const print = (what: string, figure: string, budget: string) =>
  process.stdout.write(`${what.padEnd(52)} ${figure.padEnd(34)} budget ${budget}\n`);

if (!hasTerminal()) throw new Error('the terminal comes from util-linux `script`, which is not here');
const folder = mkdtempSync(join(tmpdir(), 'lifeboat-bench-tui-'));
try {
  const here = (name: string) => join(import.meta.dirname, name);
  const peer = [process.execPath, await bundleScreen(here('tui-peer.ts'), folder, BARE_INK)];
  const fleet = [process.execPath, await bundleScreen(here('tui-fleet.ts'), folder)];
  const plan = [process.execPath, await bundleScreen(here('tui-plan.ts'), folder)];
  mkdirSync(join(folder, 'home'), { mode: 0o700 });
  writeFileSync(join(folder, 'lifeboat.yaml'), `platform: none\ninstances:\n${CONFIG}`);
  const env = {
    HOME: folder,
    LIFEBOAT_HOME: join(folder, 'home'),
    LIFEBOAT_CONFIG: join(folder, 'lifeboat.yaml'),
    LIFEBOAT_KEYCHAIN: 'vault',
    TOKEN: 'bench',
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
  };
  const openApp = () => openScreen([process.execPath, CLI], 'all instances', env);
  const openPeer = (events = 0) => openScreen(peer, 'row 1', { ...env, EVENTS: String(events) });

  const first: { app: number; peer: number }[] = [];
  // The first start compiles, and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const app = await during(openApp, async ({ firstMs }) => firstMs);
    const bare = await during(openPeer, async ({ firstMs }) => firstMs);
    if (round > 0) first.push({ app, peer: bare });
  }
  print(
    'first frame of the app / bare Ink',
    beside(
      first.map(({ app }) => app),
      first.map((one) => one.peer),
      'ms',
    ),
    '<= 2',
  );

  const app = await during(openApp, measure);
  const bare = await during(openPeer, measure);
  print('key to frame / bare Ink, median', beside(app.keyMs, bare.keyMs, 'ms'), '<= 2');
  print('  99 of 100 keys', times(at(app.keyMs, 0.99), at(bare.keyMs, 0.99), 'ms'), '<= 2');
  print('bytes a key / bare Ink', beside(app.keyBytes, bare.keyBytes, 'bytes'), '<= 4');
  print(
    'processor at rest on the board',
    `${(app.restMs / SECONDS).toFixed(1)} ms a second`,
    '<= 10 ms a second',
  );
  print('memory at rest / bare Ink', times(app.memory, bare.memory, 'MiB'), '<= 1.5');
  print(
    `  after ${HOUR_OF_KEYS.toLocaleString('en')} keys / before`,
    times(app.memoryLater, app.memory, 'MiB'),
    `<= 1.3; bare Ink ${(bare.memoryLater / bare.memory).toFixed(2)}`,
  );

  const few = await during(() => openPeer(EVENTS), perSecond);
  for (const [what, command, wanted] of [
    ['the board', fleet, 'all instances'],
    ['the screen of a plan', plan, 'recover group by group'],
  ] as const) {
    const written = join(folder, 'frames.json');
    const busy = await during(
      () => openScreen(command, wanted, { ...env, EVENTS: String(EVENTS), FRAMES: written }),
      async (screen) => ({ cpuMs: await perSecond(screen), moved: await moved(screen) }),
    );
    const frames = JSON.parse(readFileSync(written, 'utf8')) as readonly number[];
    print(
      `${what}, 500 instances, ${EVENTS.toLocaleString('en')} events a second`,
      `${at(frames, 0.5).toFixed(1)} ms a frame, 95 of 100 in ${at(frames, 0.95).toFixed(1)}`,
      '<= 16 ms a frame',
    );
    print('  its processor / bare Ink', times(busy.cpuMs, few, 'ms a second'), 'none');
    if (busy.moved !== undefined)
      print('  keys of a fast hold that were dropped', `${HURRIED - busy.moved} of ${HURRIED}`, 'none');
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function during<Value>(open: () => Promise<Screened>, act: (screen: Screened) => Promise<Value>) {
  const screen = await open();
  try {
    return await act(screen);
  } finally {
    await screen.close();
  }
}

async function measure(screen: Screened) {
  // What was asked at the start has answered, or has failed to.
  await screen.rest(3);
  const memory = screen.residentMiB();
  const restMs = await screen.rest(SECONDS);
  const { ms: keyMs, bytes: keyBytes } = await screen.keys(KEYS);
  await screen.hurry(HOUR_OF_KEYS);
  return { memory, restMs, keyMs, keyBytes, memoryLater: screen.residentMiB() };
}

/** Processor time of all that happens, in milliseconds a second. */
async function perSecond(screen: Screened): Promise<number> {
  await screen.rest(2);
  return (await screen.rest(SECONDS)) / SECONDS;
}

/** How far a fast hold of a key moves the cursor; undefined on a screen whose rows have no number. */
async function moved(screen: Screened): Promise<number | undefined> {
  // A list has no cursor until a key puts it on the first row.
  const before = (await cursorOf(screen)) ?? -1;
  await screen.hurry(HURRIED);
  const after = await cursorOf(screen);
  return after === undefined ? undefined : after - before;
}

/** The number of the instance at the cursor. */
async function cursorOf(screen: Screened): Promise<number | undefined> {
  const row = (await screen.rows()).find((line) => line.includes('❯'));
  const number = /orders-(\d+)/u.exec(row ?? '')?.[1];
  return number === undefined ? undefined : Number(number);
}

function beside(app: readonly number[], bare: readonly number[], unit: string): string {
  return times(at(app, 0.5), at(bare, 0.5), unit);
}

function times(app: number, bare: number, unit: string): string {
  return `${(app / bare).toFixed(2)} (${app.toFixed(1)} ${unit} / ${bare.toFixed(1)})`;
}

/** The value below which such a part of them lies. */
function at(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
