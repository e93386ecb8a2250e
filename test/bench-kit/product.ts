import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { brotliDecompressSync } from 'node:zlib';
import { schemasIn } from './results.ts';

/*
 * The product as it ships: the files that `npm run build` made, run by the same Node as the tests. They run a
 * copy, so that a build in between does not take the program away under their feet.
 */

const ROOT = resolve(import.meta.dirname, '../..');

const COPIES = 'lifeboat-e2e-';

/** Copies that were not used for this long are of builds that are gone. */
const KEPT_MS = 24 * 60 * 60_000;

export interface Product {
  readonly cli: string;
  readonly folder: string;
  /** For the code that was compiled: all copies with the same content share it. */
  readonly compiled: string;
}

export interface CopyOptions {
  readonly cheapVault: boolean;
  /**
   * Milliseconds that a lease of the team's database lasts, and as often workers look for runs of dead
   * processes; default: the product's own.
   */
  readonly leaseMs?: number;
  /** As on a machine whose distribution has no PostgreSQL. */
  readonly bare?: boolean;
}

/**
 * Gives the copy of the build, below the checkout, where it finds its packages and runbooks. With
 * `cheapVault` it writes its vault with the least work factor: scrypt, made to be slow, would be nine tenths
 * of the time of every test. With `leaseMs` nobody waits for the end of a lease for longer; `bare` finds no
 * PostgreSQL of the distribution. Nothing else differs. All who ask for the same of one build share a copy:
 * it stays, so that Node compiles its files once and not for each file of tests. Throws when there is no
 * build.
 */
export function builtProduct(options: CopyOptions): Product {
  const from = resolve(ROOT, process.env['LIFEBOAT_DIST'] ?? 'dist');
  if (!existsSync(join(from, 'cli.js'))) throw new Error('there is no build: `npm run build` first');
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = join(cache, `${COPIES}${digestOf(from, options)}`);
  if (!existsSync(folder)) {
    removeOld(cache);
    makeCopy(from, folder, options);
  }
  const now = new Date();
  utimesSync(folder, now, now);
  return { cli: join(folder, 'cli.js'), folder, compiled: join(cache, 'lifeboat-compiled') };
}

function digestOf(from: string, options: CopyOptions): string {
  const digest = createHash('sha256').update(JSON.stringify(options));
  for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const path = join(from, name);
    if (statSync(path).isFile()) digest.update(name).update(readFileSync(path));
  }
  return digest.digest('hex').slice(0, 16);
}

/** Appears whole or not at all. Of two who make it at once, one gives way. */
function makeCopy(from: string, folder: string, { cheapVault, leaseMs, bare }: CopyOptions): void {
  const making = mkdtempSync(`${folder}.`);
  cpSync(from, making, { recursive: true });
  if (cheapVault) change(making, /WORK_FACTOR ?= ?17/, 'WORK_FACTOR=1');
  if (leaseMs !== undefined) {
    change(making, /\bLONGEST_TTL ?= ?15e3/, `LONGEST_TTL=${leaseMs}`);
    change(making, /\bSWEEP_MS ?= ?15e3/, `SWEEP_MS=${leaseMs}`);
    // Of a run of which nothing is written: a third longer than a lease.
    change(making, /\bQUIET_MS ?= ?2e4/, `QUIET_MS=${Math.round((leaseMs * 4) / 3)}`);
  }
  if (bare === true) change(making, /(?<=folder: ?")\/usr\/lib\/postgresql(?=")/, '/nowhere');
  // Another user may run it, as one may run what is installed.
  chmodSync(making, 0o755);
  try {
    renameSync(making, folder);
  } catch (thrown) {
    rmSync(making, { recursive: true });
    if (!existsSync(folder)) throw thrown;
  }
}

function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    const used = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (name.startsWith(COPIES) && used < Date.now() - KEPT_MS)
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Changes one constant of the build, which is another build from then on. */
function change(folder: string, constant: RegExp, into: string): void {
  replaceOnce(scriptWith(folder, constant), constant, () => into);
  replaceOnce(join(folder, 'start.cjs'), /(?<=stamp:")\w{16}(?=")/, (stamp) =>
    createHash('sha256').update(`${stamp} ${into}`).digest('hex').slice(0, 16),
  );
}

/** The script of the commands, or the one of its volumes, that matches. */
export function scriptWith(folder: string, pattern: RegExp): string {
  const scripts = readdirSync(folder).filter((name) => /^(?:main|part\d+)\.cjs$/.test(name));
  const [found, ...others] = scripts.filter((name) => pattern.test(scriptIn(join(folder, name))));
  if (found === undefined || others.length > 0)
    throw new Error(`${pattern} is not in one script of ${folder}`);
  return join(folder, found);
}

/** The text of a script, packed or not; either may be put in its place. */
export function scriptIn(path: string): string {
  const bytes = readFileSync(path);
  return (bytes[0] === 0 ? brotliDecompressSync(bytes.subarray(1)) : bytes).toString('latin1');
}

function replaceOnce(path: string, pattern: RegExp, into: (found: string) => string): void {
  const before = scriptIn(path);
  const after = before.replace(pattern, into);
  if (after === before) throw new Error(`${pattern} was not found in ${path}`);
  writeFileSync(path, after, 'latin1');
}

/** The home of the one drill that was made with `--report FOLDER`. */
export function drillBelow(folder: string): string {
  const [name, ...others] = existsSync(folder) ? readdirSync(folder) : [];
  if (name === undefined || others.length > 0) throw new Error(`not one drill lies below ${folder}`);
  return join(folder, name);
}

/** How a process ended, with all it said. `code` is null when a signal ended it. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout(): string;
  stderr(): string;
}

/**
 * Runs one command line of the product, below another program when `under` names one. The environment holds
 * nothing but what is given and the way to programs. Rejects when it prints what its schema does not allow,
 * and when Node warns its developers in it of what is experimental or deprecated.
 */
export function runProduct(
  product: Product,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  under: readonly string[] = [],
): Running {
  const [program = '', ...rest] = [...under, process.execPath, product.cli, ...args];
  const child = spawn(program, rest, {
    env: { ...surroundings(product), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code]) => endedAs(code as number | null, stdout, stderr));
  ended.catch(() => undefined);
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

/** What every command has in its environment. */
export function surroundings({ compiled }: Product): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: compiled };
}

/** Throws when it was printed what its schema does not allow, or what Node warns its developers of. */
export function endedAs(code: number | null, stdout: string, stderr: string): Ended {
  schemasIn(stdout);
  schemasIn(stderr);
  const [warning] = /^\(node:\d+\).*(?:Experimental|Deprecation)Warning.*/mu.exec(stderr) ?? [];
  if (warning !== undefined) throw new Error(`Node warned: ${warning}`);
  return { code, stdout, stderr };
}
