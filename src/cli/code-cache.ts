import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script, constants as vmConstants } from 'node:vm';
import { crc32 } from 'node:zlib';
import { distrustOf } from '../base/trusted-path.ts';

export interface Bundle<Exports> {
  readonly exports: Exports;
  /** Keeps the code that was compiled by now for the next start, unless it came from there. Never throws. */
  keep(): void;
}

interface BundleOptions {
  /** A script in the form that Node calls CommonJS; ASCII. */
  readonly file: string;
  /** Another one for every other content of the file. */
  readonly stamp: string;
  /** What is done with it, as one word: each part keeps the code that it uses. Anything else keeps none. */
  readonly part: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs the script of a bundle with the code that an earlier start compiled. Node's own compile cache keeps
 * only what is compiled before the first line runs, which leaves most functions to be compiled at every
 * start.
 *
 * The code is kept below NODE_COMPILE_CACHE, XDG_CACHE_HOME or ~/.cache, in a folder that nobody else can
 * write to: it is run. Where that cannot be had, or with NODE_DISABLE_COMPILE_CACHE, everything is compiled
 * anew.
 */
export function openBundle<Exports>({ file, stamp, part, env }: BundleOptions): Bundle<Exports> {
  const kept = /^[a-z-]{1,30}$/.test(part) ? keptAt(env, stamp, part) : undefined;
  const cachedData = kept === undefined ? undefined : read(kept);
  const source = readFileSync(file, 'latin1');
  const script = new Script(`(function(exports,require,module,__filename,__dirname){${source}\n})`, {
    filename: file,
    importModuleDynamically: vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && { cachedData }),
  });
  const module = { exports: {} as Exports };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  const isKept = cachedData !== undefined && script.cachedDataRejected !== true;
  return {
    exports: module.exports,
    keep: () => {
      if (kept !== undefined && !isKept) write(kept, () => script.createCachedData());
    },
  };
}

/**
 * V8 reads only what it wrote itself, in the same version and with the same flags; the tag stands for those.
 */
function keptAt(env: NodeJS.ProcessEnv, stamp: string, part: string): string | undefined {
  if (env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return undefined;
  const given = env['NODE_COMPILE_CACHE'];
  const cache = env['XDG_CACHE_HOME'] ?? '';
  const folder = given || join(isAbsolute(cache) ? cache : join(homedir(), '.cache'), 'lifeboat');
  return join(folder, `${stamp}-${cachedDataVersionTag().toString(16)}-${part}.code`);
}

/** Bytes of the check sum that goes before the code: V8 believes what it reads. */
const SUM = 4;

function read(path: string): Buffer | undefined {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      if (distrustOf(path, fstatSync(descriptor)).length > 0) return undefined;
      const bytes = readFileSync(descriptor);
      const code = bytes.subarray(SUM);
      return bytes.length > SUM && crc32(code) === bytes.readUInt32LE() ? code : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

function write(path: string, codeOf: () => Buffer): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (distrustOf(folder).length > 0) return;
    const code = codeOf();
    const sum = Buffer.alloc(SUM);
    sum.writeUInt32LE(crc32(code));
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, Buffer.concat([sum, code]), { flag: 'wx', mode: 0o600 });
    renameSync(unfinished, path);
    removeOld(folder);
  } catch {
    // A full disk, a home that is read only: the next start compiles again.
  }
}

const OLD_MS = 30 * 86_400_000;

/** Of versions that are gone, mostly; what is still in use is compiled once more. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name.includes('.code') && Date.now() - statSync(path).mtimeMs > OLD_MS) rmSync(path, { force: true });
  }
}
