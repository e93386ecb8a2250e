import { readFileSync } from 'node:fs';

/**
 * One operation of a process on the disk, or one line on stdout, in the order in which the kernel finished
 * them. Paths are absolute.
 */
export type Step =
  | { readonly do: 'create' | 'unlink' | 'mkdir' | 'sync'; readonly path: string }
  | { readonly do: 'write'; readonly path: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly do: 'truncate'; readonly path: string; readonly length: number }
  | { readonly do: 'rename' | 'link'; readonly path: string; readonly to: string }
  | { readonly do: 'say'; readonly text: string };

const CALLS =
  'openat,write,writev,pwrite64,pwritev,fdatasync,fsync,ftruncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat';

/** The command prefix that makes strace(1) record in `file` what `readTrace` reads. */
export function tracing(file: string): readonly string[] {
  const whole = ['-f', '-y', '-xx', '-s', '16777216', '-e', 'signal=none'];
  return ['strace', ...whole, '-e', `trace=${CALLS}`, '-o', file];
}

/**
 * Reads what a traced process did below `folder`. Memory maps are not recorded, so the log's `-shm` is left
 * out: SQLite rebuilds it.
 */
export function readTrace(file: string, folder: string): readonly Step[] {
  const offsets = new Map<string, number>();
  const steps: Step[] = [];
  for (const { call, args, result } of finishedCalls(readFileSync(file, 'latin1'))) {
    if (result < 0) continue;
    for (const step of stepsOf(call, args, result, offsets)) {
      const isWanted = step.do === 'say' || (inside(step.path, folder) && !step.path.endsWith('-shm'));
      if (isWanted) steps.push(step);
    }
  }
  return steps;
}

interface Finished {
  readonly call: string;
  readonly args: string;
  readonly result: number;
}

/** A call interrupted by another thread's call is split over two lines. */
function* finishedCalls(trace: string): Generator<Finished> {
  const begun = new Map<string, string>();
  for (const line of trace.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/u.exec(line) ?? [];
    if (rest.endsWith(' <unfinished ...>')) {
      begun.set(thread, rest.slice(0, -' <unfinished ...>'.length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>/u.exec(rest)?.[0];
    const whole = resumed === undefined ? rest : `${begun.get(thread) ?? ''}${rest.slice(resumed.length)}`;
    const at = whole.lastIndexOf(' = ');
    const open = whole.indexOf('(');
    if (at < 0 || open < 0) continue;
    const args = whole.slice(open + 1, whole.lastIndexOf(')', at));
    yield { call: whole.slice(0, open), args, result: Number.parseInt(whole.slice(at + 3), 10) };
  }
}

function stepsOf(call: string, args: string, result: number, offsets: Map<string, number>): Step[] {
  const path = pathOf(args);
  const names = () => [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/gu)].map(([, hex = '']) => plain(hex));
  const fd = /^\d+/u.exec(args)?.[0] ?? '';
  switch (call) {
    case 'openat': {
      const [name = ''] = names();
      offsets.set(String(result), 0);
      const made: Step[] = args.includes('O_CREAT') ? [{ do: 'create', path: name }] : [];
      return args.includes('O_TRUNC') ? [...made, { do: 'truncate', path: name, length: 0 }] : made;
    }
    case 'write':
    case 'writev': {
      const bytes = bytesOf(args).subarray(0, result);
      if (fd === '1') return [{ do: 'say', text: bytes.toString('utf8') }];
      const offset = offsets.get(fd) ?? 0;
      offsets.set(fd, offset + result);
      return [{ do: 'write', path, offset, bytes }];
    }
    case 'pwrite64':
    case 'pwritev': {
      const offset = Number(args.slice(args.lastIndexOf(',') + 1));
      return [{ do: 'write', path, offset, bytes: bytesOf(args).subarray(0, result) }];
    }
    case 'fsync':
    case 'fdatasync':
      return [{ do: 'sync', path }];
    case 'ftruncate':
      return [{ do: 'truncate', path, length: Number(args.slice(args.lastIndexOf(',') + 1)) }];
    case 'mkdir':
    case 'mkdirat':
      return [{ do: 'mkdir', path: names()[0] ?? '' }];
    case 'unlink':
    case 'unlinkat':
      return [{ do: 'unlink', path: names()[0] ?? '' }];
    case 'rename':
    case 'renameat':
    case 'renameat2': {
      const [from = '', to = ''] = names();
      return [{ do: 'rename', path: from, to }];
    }
    case 'link':
    case 'linkat': {
      const [from = '', to = ''] = names();
      return [{ do: 'link', path: from, to }];
    }
    default:
      // A kind of write that is unknown here would be missing from the images.
      throw new Error(`${call} is not understood`);
  }
}

/** The file of a descriptor, as `-y` shows it. */
function pathOf(args: string): string {
  return plain(/^\d+<([^>]*)>/u.exec(args)?.[1] ?? '');
}

/** The bytes of all buffers of the call, in order. */
function bytesOf(args: string): Buffer {
  const quoted = [...args.matchAll(/"([^"]*)"/gu)].map(([, hex = '']) => hex.replaceAll('\\x', ''));
  return Buffer.from(quoted.join(''), 'hex');
}

function plain(hex: string): string {
  return hex.includes('\\x') ? Buffer.from(hex.replaceAll('\\x', ''), 'hex').toString('utf8') : hex;
}

function inside(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`) || path === folder;
}
