import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { CANARIES } from '../bench-kit/canaries.ts';
import { entriesIn } from '../bench-kit/entries-of.ts';
import type { Ended } from '../bench-kit/product.ts';
import { ANSWERED, ROTATE, type TestBench } from '../bench-kit/test-bench.ts';

/** A failing disk: from the n-th such call, each one fails with this error. */
export interface Refusal {
  readonly call: 'pwrite64' | 'fsync' | 'rename' | 'link' | 'mkdir' | 'openat';
  /** A path below the home; without it, every call of the process. */
  readonly file?: string;
  readonly error: 'ENOSPC' | 'EIO';
  readonly from: number;
}

/** Starts a rotation on such a disk and waits for its end; needs strace(1). */
export function rotateOn(bench: TestBench, { file, call, error, from }: Refusal): Promise<Ended> {
  const filter = [...(file === undefined ? [] : ['-P', join(bench.home, file)]), '-e', `trace=${call}`];
  const inject = `inject=${call}:error=${error}:when=${from}+`;
  const strace = ['strace', '-f', '-qq', '-o', '/dev/null', ...filter, '-e', inject];
  return bench.startUnder(strace, ...ROTATE, ...ANSWERED).ended;
}

export interface Aftermath {
  /** Every promise that was broken, in words. */
  readonly broken: readonly string[];
  /** The run waits for a decision that no flag gives; the record says why. */
  readonly waits: boolean;
}

/** Continues as an operator would once the disk works again, and judges the run that ended on it. */
export async function goOnAfter(bench: TestBench, end: Ended): Promise<Aftermath> {
  const { server } = bench;
  const armed = (await entriesIn(bench)).filter(({ type }) => type === 'intent.armed').length;
  const sentUntilThen = server.calls.filter(({ method }) => method === 'POST').length;
  let last = end.code === 0 ? end : await bench.run('resume', ...ANSWERED);
  if (last.code === 2 && last.stderr.includes('there is no open run')) {
    const isOver = (await entriesIn(bench)).some(({ type }) => type === 'run.closed');
    last = isOver ? { ...last, code: 0 } : await bench.rotate();
  }
  const waits = last.stderr.includes('the run waits: it needs a decision');
  const patches = server.calls.filter(({ method }) => method === 'PATCH');
  const posts = server.calls.filter(({ method }) => method === 'POST');
  const keys = new Set(patches.map(({ key }) => key)).size;
  const vault = new Set((await bench.vault()).values());
  const audit = await bench.run('audit', 'verify');
  const promises: readonly (readonly [boolean, string])[] = [
    [end.code === 0 || /^lifeboat: .+$/mu.test(end.stderr), `it ended without a word: ${end.stderr}`],
    [!/^Node\.js v|does not know/mu.test(end.stderr), `it broke: ${end.stderr.slice(-600)}`],
    [sentUntilThen <= armed, 'it sent what it had not written down'],
    [waits || last.code === 0, `going on ended with ${last.code}: ${last.stderr.slice(-600)}`],
    [keys === 1 || (waits && keys === 0), `${keys} keys were set`],
    [posts.length === 1 || (waits && posts.length === 0), `${posts.length} backups were asked for`],
    [vault.has(CANARIES.oldKey) && server.keys.every((key) => vault.has(key)), 'a key is lost'],
    [audit.code === 0, `the audit finds ${audit.stdout.slice(-600)} ${audit.stderr.slice(-600)}`],
  ];
  return { broken: promises.filter(([kept]) => !kept).map(([, words]) => words), waits };
}

/** Whether this process may mount; without rights or in a container it may not. */
export function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', '/mnt'], {
      stdio: 'ignore',
    });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}
