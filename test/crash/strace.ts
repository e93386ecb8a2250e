import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A call of the system that a process makes, in the order in which it makes them. */
export interface SystemCall {
  /** What it is to the product. */
  readonly kind: 'write' | 'sync' | 'after' | 'store' | 'file' | 'send' | 'exit';
  readonly call: string;
  /** It is the n-th of its name in its thread, from 1; with a path, the n-th on that path. */
  readonly nth: number;
  /** Below the folder of the bench, where a thread counts to `nth` elsewhere before this one gets here. */
  readonly path?: string | undefined;
  /** What it is done to: `lifeboat.db-wal`. */
  readonly to: string;
}

const CALLS = [
  'connect',
  'exit_group',
  'fcntl',
  'fdatasync',
  'fsync',
  'ftruncate',
  'pwrite64',
  'rename',
  'unlink',
  'writev',
];

/** Without `--seccomp-bpf`, which makes a traced process fast: strace 6.1 sends no signals with it. */
const STRACE = ['strace', '-f', '-qq'] as const;

/** Whether this machine has strace(1) and lets it trace. */
export function canTrace(): boolean {
  const [strace, ...flags] = STRACE;
  try {
    execFileSync(strace, [...flags, '-e', 'trace=none', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The words before a command that write down what it asks the system for; `callsIn` reads them. */
export function recording(path: string): string[] {
  return [...STRACE, '-yy', '-s', '0', '-o', path, '-e', `trace=${CALLS.join(',')}`];
}

/**
 * The words before a command that send it a signal when one of its threads begins the n-th call of this name,
 * on this path if there is one. With SIGKILL the call is not carried out.
 */
export function signallingAt(
  call: string,
  nth: number,
  { path, signal = 'SIGKILL' }: { readonly path?: string | undefined; readonly signal?: NodeJS.Signals } = {},
): string[] {
  const inject = `inject=${call}:signal=${signal}:when=${nth}`;
  const where = path === undefined ? [] : ['-P', path];
  return [...STRACE, '-o', '/dev/null', '-e', `trace=${call}`, '-e', inject, ...where];
}

/**
 * The calls that are worth a kill, of a process that has ended by itself. The tracer counts in each thread,
 * and the thread that is there first is the one that it meets: a call that comes second with its number is
 * only reached by its path, if that is the same in every `folder`.
 */
export function callsIn(trace: string, folder: string): readonly SystemCall[] {
  const lines = readFileSync(trace, 'utf8').split('\n');
  if (!lines.some((line) => line.includes(' exit_group(')))
    throw new Error('the traced process has not ended by itself');
  const count = counter();
  const met = new Set<string>();
  const isFirst = (...words: readonly unknown[]) => met.size < met.add(words.join(' ')).size;
  const found: SystemCall[] = [];
  let justSynced = false;
  for (const line of lines) {
    const { thread = '', call = '', rest = '' } = LINE.exec(line)?.groups ?? {};
    // The compile cache of Node is filled once and is none of the product's.
    if (!CALLS.includes(call) || rest.includes('/compiled/')) continue;
    const path = stablePath(rest, folder);
    const nth = count(thread, call);
    const nthThere = count(thread, call, path);
    const isReached = isFirst(call, nth);
    const isReachedThere = isFirst(call, nthThere, path) && path !== undefined;
    const to = subjectOf(rest);
    const kind = kindOf(call, to, rest, justSynced);
    if (kind !== undefined && isReached) found.push({ kind, call, nth, to });
    else if (kind !== undefined && isReachedThere) found.push({ kind, call, nth: nthThere, to, path });
    if (call !== 'fcntl' || kind === 'after') justSynced = SYNCS.includes(call) && to.startsWith(DATABASE);
  }
  return found;
}

function counter(): (...words: readonly unknown[]) => number {
  const counts = new Map<string, number>();
  return (...words) => {
    const key = words.join(' ');
    const nth = (counts.get(key) ?? 0) + 1;
    counts.set(key, nth);
    return nth;
  };
}

/**
 * The path below the folder that a call is about, of a rename the new one; undefined where it has a run or
 * chance in its name.
 */
function stablePath(rest: string, folder: string): string | undefined {
  const path = (/^"[^"]*", "([^"]*)"/u.exec(rest) ?? /^(?:\d+<|")([^>"]*)/u.exec(rest))?.[1] ?? '';
  if (!path.startsWith(`${folder}/`) || /[0-9A-Z]{26}|[0-9a-f]{8}|\.tmp$|\.\d+$/u.test(path))
    return undefined;
  return path.slice(folder.length + 1);
}

const LINE = /^(?<thread>\d+) +(?<call>\w+)\((?<rest>.*)$/u;
const DATABASE = 'lifeboat.db';
const SYNCS = ['fsync', 'fdatasync'];

/** The name of the file that a call is about, without what is different in every run. */
function subjectOf(rest: string): string {
  const [, path = ''] = /^(?:\d+<|")([^>"]*)/u.exec(rest) ?? [];
  const name = path.startsWith('TCP') ? 'TCP' : (path.split('/').at(-1) ?? '');
  return name.replace(/[0-9A-Z]{26}/u, 'RUN').replace(/\.(?:\d+|[0-9a-f]{12}\.tmp)$/u, '');
}

function kindOf(call: string, to: string, rest: string, justSynced: boolean): SystemCall['kind'] | undefined {
  if (call === 'exit_group') return 'exit';
  if (call === 'pwrite64' || call === 'ftruncate') return 'write';
  if (SYNCS.includes(call)) return 'sync';
  if (call === 'rename' || call === 'unlink') return 'file';
  if (call === 'connect') return rest.includes('AF_INET') ? 'send' : undefined;
  if (call === 'writev') return to === 'TCP' ? 'send' : undefined;
  // A lock that is let go or taken: of the database, when something has just become durable; of the vault,
  // around each key.
  if (to.startsWith(DATABASE) && justSynced) return 'after';
  return to === 'vault.age.lock' ? 'store' : undefined;
}
