import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { Script, constants as vmConstants } from 'node:vm';
import { brotliDecompressSync, crc32 } from 'node:zlib';
import { readPassing, readPlainFile } from '../base/bounded-file.ts';
import { makePrivateFolder } from '../base/folders.ts';
import { distrustOf } from '../base/trusted-path.ts';
import { homeIfAny } from '../base/user.ts';

export interface Bundle<Exports> {
  readonly exports: Exports;
  /** Caches the code compiled so far for the next start, unless it came from the cache. Never throws. */
  keep(): void;
}

interface BundleOptions {
  /**
   * A script: one function of `exports`, `require`, `module`, `__filename`, `__dirname` and `volume`; ASCII.
   * `volume(name)` returns the exports of `<name>.cjs` beside it, which may be packed: a zero byte, then
   * Brotli. A file, since source assembled in memory takes its size once more.
   */
  readonly file: string;
  /** The script of this file name if there is no file; it is not changed. */
  readonly source?: (name: string) => Buffer;
  /** Differs for each content of the files. */
  readonly stamp: string;
  /** Its use, as one word: each part caches the code that it uses. Any other text caches none. */
  readonly part: string;
  readonly env: NodeJS.ProcessEnv;
}

type Main = (
  exports: unknown,
  require: NodeJS.Require,
  module: { readonly exports: unknown },
  filename: string,
  dirname: string,
  volume: (name: string) => unknown,
) => void;

/**
 * Runs the script of a bundle with the code that an earlier start compiled. Node's own compile cache keeps
 * only what is compiled before the first line runs, so each start compiles most functions. Without this,
 * `runs` takes 74 % more processor time and `status -o json` 58 %; with Node's cache still 34 % more each
 * (medians of 30 runs in turns). The code is run, so it is kept in a folder that no one else can write to,
 * below NODE_COMPILE_CACHE, XDG_CACHE_HOME or ~/.cache. Otherwise, or with NODE_DISABLE_COMPILE_CACHE,
 * everything is compiled again.
 */
export function openBundle<Exports>({ file, source, stamp, part, env }: BundleOptions): Bundle<Exports> {
  const keptAt = /^[a-z-]{1,30}$/.test(part) ? keeper(env, `${stamp}-${tag()}-${part}`) : undefined;
  const compiled: (() => void)[] = [];
  const open = (path: string, as: string): unknown => {
    const kept = keptAt?.(as);
    const cachedData = kept === undefined ? undefined : read(kept);
    const script = new Script(textOf(source?.(basename(path))) ?? readSource(path), {
      filename: path,
      importModuleDynamically: vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      ...(cachedData && { cachedData }),
    });
    const isKept = cachedData !== undefined && script.cachedDataRejected !== true;
    if (cachedData !== undefined) free(cachedData);
    if (kept !== undefined && !isKept) {
      setFlagsFromString('--no-flush-bytecode');
      compiled.push(() => write(kept, () => codeOf(script)));
    }
    return script.runInThisContext();
  };
  const folder = dirname(file);
  const volume = (name: string) => open(join(folder, `${name}.cjs`), `.${name}`);
  const module = { exports: {} as Exports };
  (open(file, '') as Main)(module.exports, createRequire(file), module, file, folder, volume);
  return {
    exports: module.exports,
    keep: () => {
      for (const keep of compiled) keep();
    },
  };
}

/**
 * All compiled code. V8 drops the code of functions that have not run for a while, such as those of the
 * start: `openBundle` prevents that. Code must be read with the flags of its writer: restore the flag first.
 */
function codeOf(script: Script): Buffer {
  setFlagsFromString('--flush-bytecode');
  return script.createCachedData();
}

/** The text of an ASCII file, in memory once. */
function readSource(file: string): string {
  const bytes = readPlainFile(file, Number.POSITIVE_INFINITY);
  const text = textOf(bytes);
  free(bytes);
  return text;
}

function textOf(bytes: Buffer): string;
function textOf(bytes: Buffer | undefined): string | undefined;
function textOf(bytes: Buffer | undefined): string | undefined {
  if (bytes?.[0] !== 0) return bytes?.toString('latin1');
  const unpacked = brotliDecompressSync(bytes.subarray(1));
  const text = unpacked.toString('latin1');
  free(unpacked);
  return text;
}

/**
 * Frees the memory of a file that was read back; nothing may read it any more. A small one shares its memory
 * with others in Node, so it stays.
 */
function free({ buffer, byteLength }: Buffer): void {
  const isAlone = buffer.byteLength - byteLength <= SUM;
  if (isAlone && buffer instanceof ArrayBuffer) buffer.transferToFixedLength(0);
}

/** V8 reads only its own output, of the same version and flags; this identifies those. */
function tag(): string {
  return cachedDataVersionTag().toString(16);
}

/** The path of each script's code, by what is added to the name; undefined if none is kept. */
function keeper(env: NodeJS.ProcessEnv, name: string): ((added: string) => string) | undefined {
  if (env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return undefined;
  const given = env['NODE_COMPILE_CACHE'];
  const cache = env['XDG_CACHE_HOME'] ?? '';
  const base = isAbsolute(cache) ? cache : cacheOf(homeIfAny({}));
  const folder = given || (base && join(base, 'lifeboat'));
  if (!folder) return undefined;
  return (added) => join(folder, `${name}${added}.code`);
}

function cacheOf(home: string | undefined): string | undefined {
  return home && join(home, '.cache');
}

/** Bytes before the code, with its checksum: V8 trusts what it reads, and copies what is not aligned. */
const SUM = 8;

function read(path: string): Buffer | undefined {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      if (distrustOf(path, fstatSync(descriptor)).length > 0) return undefined;
      const bytes = readPassing(descriptor);
      const code = bytes.subarray(SUM);
      return bytes.length > SUM && crc32(code) === bytes.readUInt32LE() ? code : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

function write(path: string, codeNow: () => Buffer): void {
  const folder = dirname(path);
  try {
    makePrivateFolder(folder);
    if (distrustOf(folder).length > 0) return;
    const code = codeNow();
    const sum = Buffer.alloc(SUM);
    sum.writeUInt32LE(crc32(code));
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, Buffer.concat([sum, code]), { flag: 'wx', mode: 0o600 });
    renameSync(unfinished, path);
    removeOld(folder);
  } catch {
    // A full disk or a read-only home: the next start compiles again.
  }
}

const OLD_MS = 30 * 86_400_000;

/** Mostly of versions that are gone; code still in use is compiled once more. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name.includes('.code') && Date.now() - statSync(path).mtimeMs > OLD_MS) rmSync(path, { force: true });
  }
}
