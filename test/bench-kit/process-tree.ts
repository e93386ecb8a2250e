import { readdirSync, readFileSync } from 'node:fs';

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
  let outsiders: ReadonlySet<number> = new Set();
  const look = () => {
    const pids = allPids();
    const tree = treeOf(
      root,
      pids.filter((pid) => !outsiders.has(pid)),
    );
    // Nothing gets into a tree but by being born there: what is outside is not read again for as long as it
    // lives.
    outsiders = new Set(pids.filter((pid) => !tree.includes(pid)));
    for (const pid of tree) {
      const process = { pid, cmdline: read(pid, 'cmdline'), environ: read(pid, 'environ') };
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
export function treeOf(root: number, among: readonly number[] = allPids()): number[] {
  const children = new Map<number, number[]>();
  for (const pid of among) {
    const parent = statOf(pid)?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

function allPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** proc(5): the name in parentheses may itself hold any character. */
function statOf(pid: number): { readonly state: string | undefined; readonly parent: number } | undefined {
  const text = read(pid, 'stat');
  if (text === '') return undefined;
  const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state, parent: Number(parent) };
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
