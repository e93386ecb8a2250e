import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Head, type Journal, LOG_STREAM } from '../../../src/store/journal.ts';
import { openKeys } from '../../bench-kit/key-store.ts';
import type { Product } from '../../bench-kit/product.ts';
import { ANSWERED, openBench, ROTATE } from '../../bench-kit/test-bench.ts';
import type { Heads } from './judge.ts';
import type { Image } from './model.ts';
import { readTrace, type Step, tracing } from './trace.ts';

/** What a process did to a home. */
export interface Recording {
  readonly home: string;
  /** The state before. */
  readonly before: Image;
  readonly steps: readonly Step[];
  /** The heads when the process printed each line; the first is that of an empty journal. */
  readonly states: readonly Heads[];
  /** The maximum number of lines that one append may have on the disk before it is acknowledged. */
  readonly linesPerAppend: number;
  /** Further promises about a restored home; returns the broken ones in words. */
  readonly alsoBroken?: (home: string, journal: Pick<Journal, 'read'>) => Promise<readonly string[]>;
}

/**
 * Runs `writer.ts` with these sessions under strace(1) and returns everything it asked of the disk. The home
 * is removed before it returns.
 */
export function recordWriter(sessions: readonly number[]): Recording {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-trace-'));
  const home = join(folder, 'home');
  mkdirSync(home);
  try {
    const trace = join(folder, 'trace');
    const [strace = '', ...words] = tracing(trace);
    const writer = [process.execPath, join(import.meta.dirname, 'writer.ts'), home, ...sessions.map(String)];
    const before = imageOf(home);
    execFileSync(strace, [...words, ...writer], { stdio: ['ignore', 'pipe', 'inherit'] });
    const steps = readTrace(trace, home);
    return { home, before, steps, states: statesOf(steps), linesPerAppend: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As `recordWriter`, for a rotation by the real product, which prints every entry with `--json`. */
export async function recordRotation(product: Product): Promise<Recording> {
  const bench = await openBench(product, { taskMs: 1 });
  try {
    const trace = join(bench.folder, 'trace');
    const before = imageOf(bench.home);
    const end = await bench.startUnder(tracing(trace), ...ROTATE, ...ANSWERED, '--json').ended;
    if (end.code !== 0) throw new Error(`the rotation ended with ${end.code}: ${end.stderr}`);
    const steps = readTrace(trace, bench.home);
    const states = statesOf(steps);
    return { home: bench.home, before, steps, states, linesPerAppend: 8, alsoBroken: lostKeys };
  } finally {
    await bench.close();
  }
}

/** Keys that the ledger knows but the vault lacks. */
async function lostKeys(home: string, journal: Pick<Journal, 'read'>): Promise<readonly string[]> {
  const held = await (await openKeys(home)).list('orders');
  const known = (await journal.read('instance/orders')).flatMap(({ body }) => {
    const { fingerprint } = body as { readonly fingerprint?: string };
    return fingerprint === undefined ? [] : [fingerprint];
  });
  return [...new Set(known)].filter((one) => !held.includes(one)).map((one) => `key ${one} is lost`);
}

/** The contents of a folder. */
function imageOf(folder: string): Image {
  const files = new Map<string, Buffer>();
  const folders = new Set([folder]);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) folders.add(path);
    else files.set(path, readFileSync(path));
  }
  return { files, folders };
}

function statesOf(steps: readonly Step[]): readonly Heads[] {
  const heads = new Map<string, Head>();
  const states: Heads[] = [[]];
  for (const line of steps.flatMap((step) => (step.do === 'say' ? step.text.split('\n') : []))) {
    if (line === '') continue;
    for (const { stream, seq, hash } of [JSON.parse(line)].flat() as Head[])
      if (stream !== LOG_STREAM) heads.set(stream, { stream, seq, hash });
    states.push([...heads.values()]);
  }
  return states;
}
