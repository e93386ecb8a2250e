import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A call of the system that a process makes in its main thread, in the order in which it makes them. */
export interface SystemCall {
  /** What it is to the product. */
  readonly kind: 'write' | 'sync' | 'after' | 'store' | 'file' | 'send' | 'exit';
  readonly call: string;
  /** It is the n-th of its name in the main thread, from 1. */
  readonly nth: number;
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

/** Whether this machine has strace(1) and lets it trace. */
export function canTrace(): boolean {
  try {
    execFileSync('strace', ['-f', '-e', 'trace=none', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The words before a command that write down what it asks the system for; `callsIn` reads them. */
export function recording(path: string): string[] {
  return ['strace', '-f', '-qq', '-yy', '-s', '0', '-o', path, '-e', `trace=${CALLS.join(',')}`];
}

/** The words before a command that kill it when one of its threads begins the n-th call of this name; the call is not carried out. */
export function killingAt(call: string, nth: number): string[] {
  const inject = `inject=${call}:signal=SIGKILL:when=${nth}`;
  return ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', inject];
}

/** The calls that are worth a kill, of a process that has ended by itself. */
export function callsIn(path: string): readonly SystemCall[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const main = lines.findLast((line) => line.includes(' exit_group('))?.split(' ', 1)[0];
  if (main === undefined) throw new Error('the traced process has not ended by itself');
  const counts = new Map<string, number>();
  const found: SystemCall[] = [];
  let justSynced = false;
  for (const line of lines) {
    const { thread, call = '', rest = '' } = LINE.exec(line)?.groups ?? {};
    // The compile cache of Node is filled once and is none of the product's.
    if (thread !== main || !CALLS.includes(call) || rest.includes('/compiled/')) continue;
    const nth = (counts.get(call) ?? 0) + 1;
    counts.set(call, nth);
    const to = subjectOf(rest);
    const kind = kindOf(call, to, rest, justSynced);
    if (kind !== undefined) found.push({ kind, call, nth, to });
    if (call !== 'fcntl' || kind === 'after') justSynced = SYNCS.includes(call) && to.startsWith(DATABASE);
  }
  return found;
}

const LINE = /^(?<thread>\d+) +(?<call>\w+)\((?<rest>.*)$/u;
const DATABASE = 'lifeboat.db';
const SYNCS = ['fsync', 'fdatasync'];

/** The name of the file that a call is about, without what is different in every run. */
function subjectOf(rest: string): string {
  const [, path = ''] = /^(?:\d+<|")([^>"]*)/u.exec(rest) ?? [];
  const name = path.startsWith('TCP') ? 'TCP' : (path.split('/').at(-1) ?? '');
  return name.replace(/[0-9A-Z]{26}/u, 'RUN').replace(/\.\d+$/u, '');
}

function kindOf(call: string, to: string, rest: string, justSynced: boolean): SystemCall['kind'] | undefined {
  if (call === 'exit_group') return 'exit';
  if (call === 'pwrite64' || call === 'ftruncate') return 'write';
  if (SYNCS.includes(call)) return 'sync';
  if (call === 'rename' || call === 'unlink') return 'file';
  if (call === 'connect') return rest.includes('AF_INET') ? 'send' : undefined;
  if (call === 'writev') return to === 'TCP' ? 'send' : undefined;
  // A lock that is let go or taken: of the database, when something has just become durable; of the vault, around each key.
  if (to.startsWith(DATABASE) && justSynced) return 'after';
  return to === 'vault.age.lock' ? 'store' : undefined;
}
