/*
 * Presses keys at random, as a child or a cat would: `node test/tui/walker.ts [--seed N] [--keys N]` walks
 * the app over an invented world and says where it broke. The same seed walks the same way.
 */
import { mock } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isTooSmall, type Layout, type Size } from '../../src/tui/bands.ts';
import { createFacts } from '../../src/tui/facts.ts';
import { glyphsFor } from '../../src/tui/glyphs.ts';
import { createHost, type Host } from '../../src/tui/host.ts';
import type { Stroke } from '../../src/tui/keys.ts';
import type { LiveScreen, ScreenRequest } from '../../src/tui/live-screen.ts';
import { loadScreen } from '../../src/tui/screens/index.ts';
import { type Random, randomFrom } from './random.ts';
import { textIn } from './shown.ts';
import { rowOf, troublesAround, troublesOf } from './walker-checks.ts';
import { createWorld, text, type World } from './walker-world.ts';

export interface WalkOptions {
  readonly seed: number;
  /** How many keys are pressed. */
  readonly keys: number;
}

/** How many keys each screen got, by its name; what has no name goes by its title. */
export type Walked = ReadonlyMap<string, number>;

/** One request for each screen there is: a new one is walked as soon as it has its line here. */
const REQUESTS: {
  readonly [Name in ScreenRequest['name']]: (
    world: World,
    random: Random,
  ) => ScreenRequest & { readonly name: Name };
} = {
  board: () => ({ name: 'board' }),
  start: ({ names }, random) => ({
    name: 'start',
    ...(names.length > 0 && random.inPercent(50) ? { instance: random.one(names) } : {}),
  }),
  runs: () => ({ name: 'runs' }),
  watch: ({ runIds }, random) => ({ name: 'watch', runId: random.one(['not-a-run', ...runIds]) }),
  instance: ({ names }, random) => ({ name: 'instance', instance: random.one(['not-there', ...names]) }),
  keys: ({ names }, random) => ({
    name: 'keys',
    ...(names.length > 0 && random.inPercent(50) ? { addTo: random.one(names) } : {}),
  }),
  journal: ({ runIds }, random) => ({
    name: 'journal',
    ...(runIds.length > 0 && random.inPercent(50) ? { stream: `run/${random.one(runIds)}` } : {}),
  }),
  each: ({ names }, random) => ({
    name: 'each',
    what: random.inPercent(50) ? 'backup' : 'card',
    instances: random.inPercent(20) ? [] : [...names],
  }),
  followups: () => ({ name: 'followups' }),
  lab: () => ({ name: 'lab' }),
  report: ({ runIds }, random) => ({ name: 'report', runId: random.one(['not-a-run', ...runIds]) }),
};

/** The screens that can be opened by name. */
export const SCREENS = Object.keys(REQUESTS) as readonly ScreenRequest['name'][];

const SIZES = [
  [80, 24],
  [80, 24],
  [100, 30],
  [160, 50],
  [40, 12],
  [60, 20],
  [120, 16],
  [200, 70],
  [39, 11],
  [5, 2],
] as const;

/** Keys of a keyboard, whether the screen has a use for them or not. */
const KEYBOARD = [
  ...Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 /?:!.,;-+*#@~äß注א'),
  ...['up', 'down', 'left', 'right', 'home', 'end', 'pageup', 'pagedown', 'enter', 'escape', 'tab'],
  ...['backspace', 'delete', 'ctrl+left', 'meta+b', 'meta+backspace'],
  ...Array.from('abcdefghklnoprstuvwyz', (letter) => `ctrl+${letter}`),
];

/** Keys that mean the same on every screen that has no use of its own for them. */
const EVERYWHERE = new Set(['ctrl+k', ':', '!', '?', 'ctrl+r', 'ctrl+z', 'escape', 'q', 'ctrl+c']);

/** As a keyboard repeats: after half a second, then thirty a second. */
const REPEATS = { first: 500, next: 33 } as const;
const LAST_ACTS = 25;
/** Turns of the event loop in which what is left has to be over. */
const LEAVING_TURNS = 200;

/**
 * Walks over the app: keys that the screen shows and keys that it does not, held ones, pastes, resizes, and
 * time that passes. After each of them the frame is whole, and nothing was done that was not asked for.
 * Rejects with what broke, and how to see it again. Holds the timers of the process until then.
 */
export async function walk({ seed, keys }: WalkOptions): Promise<Walked> {
  const random = randomFrom(seed);
  const walked = new Map<string, number>();
  const acts: string[] = [];
  await loadAll();
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.UTC(2026, 10, 21, 3, 12, 45) });
  let left = keys;
  try {
    while (left > 0) left -= await sit(random, Math.min(left, 700), { walked, acts });
    return walked;
  } catch (cause) {
    const again = `node test/tui/walker.ts --seed ${seed} --keys ${keys}`;
    const last = acts.slice(-LAST_ACTS).join('\n  ');
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${said}\nafter\n  ${last}\nsee it again: ${again}`, { cause });
  } finally {
    mock.timers.reset();
  }
}

interface Notes {
  readonly walked: Map<string, number>;
  readonly acts: string[];
}

/** One person at one app, until it is closed or this many keys are pressed; returns the number of keys. */
async function sit(random: Random, most: number, { walked, acts }: Notes): Promise<number> {
  const now = () => new Date();
  const world = createWorld(random, now);
  const facts = createFacts(world.loaders, now);
  let isDone = false;
  const host = createHost({
    look: { glyphs: glyphsFor({ LANG: random.one(['C.UTF-8', 'C']) }), colour: random.inPercent(50) },
    now,
    monotonic: () => Date.now(),
    readMoment: async (typed) =>
      typed.length % 2 === 0 ? { time: now() } : { problem: `${typed} is no time` },
    write: () => undefined,
    lend: (act) => act(),
    suspend: () => undefined,
    onDone: () => {
      isDone = true;
    },
    app: { port: world, facts },
  });
  const size = (): Size => {
    const [columns, rows] = random.one(SIZES);
    return { columns, rows };
  };
  let window = size();
  let pressed = 0;
  /** The newest screen with a name: the help and the palette lie over it. */
  let named: LiveScreen | undefined;
  const act = (what: string) => acts.push(`${nameOf(host.top())} ${window.columns}x${window.rows}: ${what}`);
  const look = async () => {
    await settled();
    const screen = host.top();
    if (screen === undefined) throw new Error('no screen is left');
    if (screen.request !== undefined) named = screen;
    const layout = host.layOut(window);
    const wrong = [
      ...troublesOf(layout, window),
      ...troublesAround(screen, layout, window),
      ...world.unmeant.map((answer) => `an answer that was not meant: ${answer}`),
      // Every run of a drill is a rehearsal, whatever the home is about.
      ...(isAboutHome(screen) &&
      !screen.title().includes('of drills') &&
      world.badge === 'LIVE' &&
      rowOf(layout, 0).includes(' REHEARSAL ')
        ? ['the real thing is called a rehearsal']
        : []),
    ];
    if (wrong.length > 0) throw new Error(`${wrong.slice(0, 5).join('\n')}\n${textIn(layout)}`);
    return { screen, layout };
  };
  const pressOne = (stroke: Stroke, { screen }: Awaited<ReturnType<typeof look>>) => {
    const begun = world.begun.length;
    const isShown = isFor(screen, stroke);
    // An answer may have come since it was looked at.
    const before = host.layOut(window);
    const frame = textIn(before);
    walked.set(nameOf(screen), (walked.get(nameOf(screen)) ?? 0) + 1);
    pressed += 1;
    const wished = named?.needs() ?? [];
    host.press(stroke, window);
    const wish = world.begun[begun];
    const isListed = named?.request?.name === 'each' && isListedIn(named.request, wish);
    if (wish !== undefined && !isListed && !wished.some((need) => isAbout(need, wish)))
      throw new Error(`a run was begun that no page had shown: ${JSON.stringify(wish)}`);
    if (isShown || isDone || isTooSmall(window) || host.top() === undefined) return;
    const now = host.layOut(window);
    const after = textIn(now);
    // What was said goes away with any key, which may say why it does nothing: the rows above that count.
    const said = Math.max(saidRows(before), saidRows(now));
    // One of several rows covers rows of each pane above it, which come back when it goes.
    if (said > 1) return;
    if (withoutLast(after, said) !== withoutLast(frame, said))
      throw new Error(`a key that is not shown did something\nbefore:\n${frame}\nafter:\n${after}`);
  };
  const hold = async (stroke: Stroke) => {
    const answers = () => world.runs.reduce((sum, run) => sum + run.answers.length, 0);
    const before = answers();
    const begun = world.begun.length;
    for (let at = random.upTo(20); at >= 0 && !isDone; at -= 1) {
      pressOne(stroke, await look());
      mock.timers.tick(at === 0 ? 0 : REPEATS.next);
    }
    if (answers() - before > 1) throw new Error('a key that was held answered more than one question');
    if (world.begun.length - begun > 1) throw new Error('a key that was held began more than one run');
  };

  host.open({ name: 'board' });
  while (pressed < most && !isDone) {
    const seen = await look();
    const chance = random.upTo(100);
    if (chance < 4) {
      window = size();
      act('resized');
    } else if (chance < 8) {
      const pasted = random.one(['orders-dr', 'orders', '\r', 'q\r', '2026-11-21 02:00', text(random)]);
      act(`paste ${JSON.stringify(pasted)}`);
      host.paste(pasted, window);
    } else if (chance < 13) {
      const ms = random.one([1, 70, 1_000, 5_000, 31_000]);
      act(`${ms} ms pass`);
      mock.timers.tick(ms);
    } else if (chance < 16) {
      const request = REQUESTS[random.one(SCREENS)](world, random);
      act(`open ${JSON.stringify(request)}`);
      host.open(request);
    } else {
      const stroke = strokeFor(seen.screen, random);
      const isHeld = chance > 96;
      act(`${isHeld ? 'hold' : 'press'} ${JSON.stringify(stroke)}`);
      if (isHeld) {
        mock.timers.tick(REPEATS.first);
        await hold(stroke);
      } else {
        pressOne(stroke, seen);
        mock.timers.tick(random.one([0, 0, 40, 700]));
      }
    }
  }
  acts.push('the app is closed');
  await leave(host);
  facts.stop();
  return pressed;
}

/** So that opening a screen takes no reading of files, which is over whenever it is over. */
async function loadAll(): Promise<void> {
  const world = createWorld(randomFrom(0), () => new Date(0));
  for (const name of SCREENS) await loadScreen(REQUESTS[name](world, randomFrom(0)));
}

/** Closes the app, as the end of its terminal does. */
async function leave(host: Host): Promise<void> {
  let isOver = false;
  const leaving = host.leave('the walk is over').then(() => {
    isOver = true;
  });
  for (let turn = 0; turn < LEAVING_TURNS && !isOver; turn += 1) {
    await settled();
    mock.timers.tick(100);
  }
  if (!isOver) throw new Error('the app cannot be left');
  await leaving;
  host.stop();
}

/** In seven of ten cases a key that the screen has a use for. */
function strokeFor(screen: LiveScreen, random: Random): Stroke {
  const bound = screen.keys().flatMap(({ keys }) => keys);
  // What Enter does reaches farthest.
  if (random.inPercent(10)) return { kind: 'key', key: 'enter' };
  if (random.inPercent(3)) return { kind: 'chunk', text: random.one(['\r', 'q\r', 'yy', 'orders']) };
  const key = bound.length > 0 && random.inPercent(70) ? random.one(bound) : random.one(KEYBOARD);
  return Array.from(key).length === 1 ? { kind: 'key', key, text: key } : { kind: 'key', key };
}

/** Whether the screen, or every screen, says of itself that this key may do something. */
function isFor(screen: LiveScreen, stroke: Stroke): boolean {
  // A run remembers keys and has fields where any key is text.
  if (screen.isTyping() || nameOf(screen) === 'run') return true;
  if (stroke.kind === 'chunk') return false;
  return EVERYWHERE.has(stroke.key) || screen.keys().some(({ keys }) => keys.includes(stroke.key));
}

/** Of several instances that a page has listed, each gets a backup and nothing else. */
type Each = ScreenRequest & { readonly name: 'each' };

function isListedIn({ what, instances }: Each, wish: World['begun'][number] | undefined): boolean {
  if (wish === undefined || wish.perform === true || !instances.includes(wish.instance)) return false;
  return what === 'backup'
    ? wish.runbook === 'back-up-and-verify'
    : wish.runbook === 'disaster-recovery' && wish.prepare === true;
}

function isAbout(need: ReturnType<LiveScreen['needs']>[number], wish: World['begun'][number]): boolean {
  if (need.source !== 'dryRun') return false;
  const { of } = need;
  return of.runbook === wish.runbook && of.instance === wish.instance && of.target === wish.target;
}

/** A screen over all instances of the config: what is at stake there follows from the config alone. */
function isAboutHome(screen: LiveScreen): boolean {
  return screen.request !== undefined && ['board', 'runs', 'keys'].includes(screen.request.name);
}

/** By which it is counted: its name, or what it is to a person. */
function nameOf(screen: LiveScreen | undefined): string {
  const title = screen?.title() ?? 'nothing';
  if (screen?.request !== undefined) return screen.request.name;
  if (title.startsWith('run of ')) return 'run';
  if (title.startsWith('help: ')) return 'help';
  return title === 'find anything' ? 'palette' : 'notice';
}

function withoutLast(frame: string, rows: number): string {
  return frame.split('\n').slice(0, -rows).join('\n');
}

/** How many of the lowest rows say something until the next key; one of them always may. */
function saidRows({ bands }: Layout): number {
  const lowest = bands.at(-1);
  const lines = lowest?.panes.flatMap(({ lines }) => lines) ?? [];
  const isSaid = lines.length > 0 && lines.every(([first]) => first?.token === 'selected');
  return isSaid ? (lowest?.height ?? 1) : 1;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 1e9) },
      keys: { type: 'string', default: '10000' },
    },
  });
  const walked = await walk({ seed: Number(values.seed), keys: Number(values.keys) });
  for (const [name, count] of walked) process.stdout.write(`${String(count).padStart(6)}  ${name}\n`);
  process.stdout.write(`seed ${values.seed}: nothing broke\n`);
}
