import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BARE_INK, bundleScreen } from '../bench-kit/bundle-screen.ts';
import { spawnTerminal } from '../bench-kit/pseudo-terminal.ts';
import { median } from './median.ts';

/** Medians in milliseconds, in turns with the peer, so that a noisy machine hurts both. */
export interface StartBench {
  /** `node -e 0` in a terminal that is up, to its end. */
  readonly node: number;
  /** `lifeboat run`, from its start to the first bytes of the screen. */
  readonly firstFrame: number;
  /**
   * `lifeboat run`, from its start to the screen that Ink draws and takes keys on; undefined without a
   * keychain daemon.
   */
  readonly interactive: number | undefined;
  readonly version: number;
  /** Resident memory by that of `node -e` at rest: when the screen is drawn, and ten seconds later. */
  readonly memoryDrawn: number | undefined;
  readonly memoryAtRest: number | undefined;
  /** That of the libraries alone, with as many rows on a screen, ten seconds after it is drawn. */
  readonly memoryOfLibraries: number | undefined;
}

const ROOT = resolve(import.meta.dirname, '../..');
const CLI = join(ROOT, 'dist/cli.js');
const RAIL = 'look at the instance';

/** Times the start of the built program against `node -e 0`. Terminals come from util-linux `script`. */
export async function benchStart(rounds = 9): Promise<StartBench> {
  const home = await mkdtemp(join(tmpdir(), 'lifeboat-bench-'));
  try {
    await writeFile(join(home, 'lifeboat.yaml'), CONFIG);
    const node: number[] = [];
    const first: number[] = [];
    const interactive: number[] = [];
    const version: number[] = [];
    const memory: number[] = [];
    const nodeMemory = residentOfNode();
    const withKeychain = hasKeychainDaemon();
    const rested: number[] = [];
    for (let round = 0; round < rounds; round++) {
      node.push(await timeInTerminal(`${process.execPath} -e 0`, home));
      version.push(await timeInTerminal(`${process.execPath} ${CLI} --version`, home));
      const seen = await timeScreen(RUN, home, withKeychain, round < rounds - RESTED ? 0 : REST_MS);
      first.push(seen.firstFrame);
      if (seen.interactive !== undefined) interactive.push(seen.interactive);
      if (seen.drawnKiB !== undefined) memory.push(seen.drawnKiB / nodeMemory);
      if (seen.restedKiB !== undefined) rested.push(seen.restedKiB / nodeMemory);
    }
    const entry = join(import.meta.dirname, 'libraries.tsx');
    const libraries = `${process.execPath} ${await bundleScreen(entry, home, BARE_INK)} ${ROOT}`;
    const alone: number[] = [];
    for (let round = 0; withKeychain && round < RESTED; round++) {
      const { restedKiB } = await timeScreen(libraries, home, withKeychain, REST_MS);
      if (restedKiB !== undefined) alone.push(restedKiB / nodeMemory);
    }
    return {
      node: median(node),
      firstFrame: median(first),
      interactive: interactive.length === 0 ? undefined : median(interactive),
      version: median(version),
      memoryDrawn: memory.length === 0 ? undefined : median(memory),
      memoryAtRest: rested.length === 0 ? undefined : median(rested),
      memoryOfLibraries: alone.length === 0 ? undefined : median(alone),
    };
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** In this many rounds the screen is left alone before it is ended: its memory grows while its clock runs. */
const RESTED = 3;
const REST_MS = 10_000;

/** Nothing listens there: the run stops at its first question, which is enough to see the screen. */
const CONFIG = `instances:
  bench:
    url: http://127.0.0.1:9/service-instances/bench
    token: { env: LIFEBOAT_BENCH_TOKEN }
    rehearsal: true
`;

/** From the moment the terminal is up to the end of the command. */
function timeInTerminal(command: string, home: string): Promise<number> {
  const child = terminal(`echo ${MARK}; exec ${command}`, home);
  let began = performance.now();
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.stdout?.once('data', () => {
      began = performance.now();
      child.stdout?.resume();
    });
    child.on('exit', () => done(performance.now() - began));
  });
}

interface Seen {
  readonly firstFrame: number;
  readonly interactive: number | undefined;
  readonly drawnKiB: number | undefined;
  readonly restedKiB: number | undefined;
}

const RUN = `${process.execPath} ${CLI} run rotate-key --instance bench`;

/** Starts a program in a terminal of its own and stops it `restMs` after its screen has been seen. */
function timeScreen(run: string, home: string, withKeychain: boolean, restMs: number): Promise<Seen> {
  const state = join(home, `state-${Math.random().toString(36).slice(2)}`);
  const inside = withKeychain ? insideKeychain(run) : `echo ${MARK}; exec ${run}`;
  const child = terminal(inside, home, { LIFEBOAT_HOME: state });
  let output = '';
  let began: number | undefined;
  let firstFrame: number | undefined;
  let isSeen = false;
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('exit', () => {
      if (firstFrame === undefined) failed(new Error(`the screen never came up: ${output.slice(-300)}`));
      else done({ firstFrame, interactive: undefined, drawnKiB: undefined, restedKiB: undefined });
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (began === undefined && output.includes(MARK)) began = performance.now();
      if (began === undefined) return;
      if (firstFrame === undefined && output.includes('\u001b[?1049h'))
        firstFrame = performance.now() - began;
      if (!output.includes(RAIL) || firstFrame === undefined || isSeen) return;
      const first = firstFrame;
      const interactive = performance.now() - began;
      isSeen = true;
      const pid = newestOf(run);
      const drawnKiB = pid === undefined ? undefined : residentOf(pid);
      setTimeout(() => {
        const restedKiB = pid === undefined || restMs === 0 ? undefined : residentOf(pid);
        child.removeAllListeners('exit');
        // It keeps its compiled code as it ends, and the next one must not share the cores with that.
        child.on('exit', () => done({ firstFrame: first, interactive, drawnKiB, restedKiB }));
        if (pid === undefined) child.kill();
        else process.kill(pid);
      }, restMs);
    });
  });
}

const MARK = '@@begin@@';

/** A keychain of its own on a bus of its own; the mark says when everything but the program is up. */
function insideKeychain(run: string): string {
  return `exec dbus-run-session -- sh -c 'printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; echo ${MARK}; exec ${run}'`;
}

function terminal(command: string, home: string, env: Record<string, string> = {}) {
  const { CI: _, CONTINUOUS_INTEGRATION: __, ...inherited } = process.env as Record<string, string>;
  return spawnTerminal(command, {
    cwd: home,
    size: { cols: 100, rows: 30 },
    env: {
      ...inherited,
      HOME: home,
      TERM: 'xterm-256color',
      XDG_DATA_HOME: join(home, 'data'),
      XDG_RUNTIME_DIR: home,
      LIFEBOAT_BENCH_TOKEN: 'bench',
      ...env,
    },
  });
}

function hasKeychainDaemon(): boolean {
  return ['dbus-run-session', 'gnome-keyring-daemon'].every(
    (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0,
  );
}

/** The newest process with that command line. */
function newestOf(run: string): number | undefined {
  const found = spawnSync('pgrep', ['-nxf', run], { encoding: 'utf8' }).stdout.trim();
  return found === '' ? undefined : Number(found);
}

/** Resident KiB of a process. */
function residentOf(pid: number): number | undefined {
  const kib = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return kib === '' ? undefined : Number(kib);
}

function residentOfNode(): number {
  const script = 'console.log(process.memoryUsage.rss() / 1024)';
  return Number(spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stdout.trim());
}
