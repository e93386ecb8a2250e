import { closeSync, openSync, readdirSync, readSync } from 'node:fs';

/** A process as /proc shows it; Linux only. */
export interface SeenProcess {
  readonly pid: number;
  /**
   * Arguments and environment, NUL-separated as the kernel gives them; empty when the process was gone
   * already.
   */
  readonly cmdline: string;
  readonly environ: string;
}

export interface Watch {
  /** Every process of the tree that was met so far, the root included. */
  seen(): readonly SeenProcess[];
  stop(): void;
}

/** Looks at a process and everything below it every few milliseconds, until stopped. */
export function watchTree(root: number): Watch {
  const seen = new Map<string, SeenProcess>();
  const last = new Map<number, string>();
  let outsiders: ReadonlySet<number> = new Set();
  const look = () => {
    const pids = allPids();
    const tree = statsOfTree(
      root,
      pids.filter((pid) => !outsiders.has(pid)),
    );
    // Nothing gets into a tree but by being born there: what is outside is not read again for as long as it
    // lives.
    outsiders = new Set(pids.filter((pid) => !tree.has(pid)));
    for (const [pid, stat] of tree) {
      const cmdline = read(pid, 'cmdline');
      // A program gets its environment when it begins, at another address than the program before it.
      const now = `${stat?.environAt} ${cmdline}`;
      if (last.get(pid) === now) continue;
      last.set(pid, now);
      const process = { pid, cmdline, environ: read(pid, 'environ') };
      seen.set(JSON.stringify(process), process);
    }
  };
  const timer = setInterval(look, 5);
  look();
  return { seen: () => [...seen.values()], stop: () => clearInterval(timer) };
}

/** Whether a process runs; a zombie, which only waits to be collected, does not. */
export function isRunning(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** A process and everything below it, at this moment. */
export function treeOf(root: number): number[] {
  return [...statsOfTree(root, allPids()).keys()];
}

/** Those of a tree among the given processes, from the root down. */
function statsOfTree(root: number, among: readonly number[]): Map<number, Stat | undefined> {
  const stats = new Map(among.map((pid) => [pid, statOf(pid)]));
  const children = Map.groupBy(among, (pid) => stats.get(pid)?.parent);
  const tree = new Map([[root, stats.get(root)]]);
  for (const [pid] of tree) for (const child of children.get(pid) ?? []) tree.set(child, stats.get(child));
  return tree;
}

function allPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

interface Stat {
  readonly state: string | undefined;
  readonly parent: number;
  /** Where the environment lies in the memory of the program; 0 where that is a secret. */
  readonly environAt: string | undefined;
}

/** proc(5): the name in parentheses may itself hold any character. */
function statOf(pid: number): Stat | undefined {
  const text = read(pid, 'stat');
  if (text === '') return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], parent: Number(fields[1]), environAt: fields[47] };
}

const buffer = Buffer.alloc(2 ** 16);

/** The kernel gives as much at once as there is room for. `readFileSync` makes new room for each part. */
function read(pid: number, name: string): string {
  try {
    const descriptor = openSync(`/proc/${pid}/${name}`, 'r');
    try {
      let text = '';
      for (let length = buffer.length; length === buffer.length; ) {
        length = readSync(descriptor, buffer);
        text += buffer.toString('latin1', 0, length);
      }
      return text;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}
