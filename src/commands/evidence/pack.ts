import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { LARGEST_LIST, NOTE, readable, SUMS } from '../../audit/bundle/documents.ts';
import { TAR_END, tarBlocks } from '../../audit/bundle/pack.ts';
import { LifeboatError } from '../../base/errors.ts';
import { isTaken, notWritten } from '../../cli/write-new-file.ts';
import type { SecretGuard } from '../../store/secret-guard.ts';

export const ELSEWHERE = 'name another place with --out PATH';

/** Verified by itself: a whole pack, or one folder of it. */
export interface Part {
  /** Adds a file. Throws `evidence.secret` if it would hold a secret, and `output.file`. */
  put(name: string, content: Buffer | string): void;
  /**
   * Adds the list of its files, and the note that signs the list, if `sign` makes one. Ends the part. Throws
   * `evidence.too-large` for a list that no verifier reads to its end.
   */
  seal(sign?: ((sums: string) => string) | undefined): void;
}

/** A pack that is being written, file by file: nothing of it is kept in memory but the names and hashes. */
export interface Pack extends Part {
  /** A folder of the pack that has a list of its own. */
  part(folder: string): Part;
  /** Gives the sealed pack its name. Throws `usage.out` if that is taken by now. */
  finish(): { readonly files: number; readonly bytes: number };
  /** Removes what was written, unless it is finished. */
  drop(): void;
}

/**
 * Begins a pack: a folder, or a tar where the name ends in `.tar`. Until it is finished it has another name,
 * so what has the name is whole. Throws `usage.out` for a name that is taken, and `output.file`.
 */
export function openPack(out: string, guard: Pick<SecretGuard, 'check'>): Pack {
  if (existsSync(out)) throw isTaken(out, ELSEWHERE);
  const part = join(dirname(out), `.${basename(out)}.${randomBytes(4).toString('hex')}.part`);
  const act = <Result>(what: () => Result): Result => {
    try {
      return what();
    } catch (cause) {
      throw notWritten(out, cause, ELSEWHERE);
    }
  };
  const target = act(() => (isTar(out) ? tarAt(part, basename(out, '.tar')) : folderAt(part)));
  let [files, bytes] = [0, 0];
  let isFinished = false;
  const write = (name: string, content: Buffer | string): string => {
    try {
      guard.check(content.toString('utf8'), name);
    } catch (cause) {
      throw new LifeboatError('evidence.secret', `${name} would hold a secret, so nothing was made`, {
        hints: ['this is a bug in lifeboat: please report it'],
        cause,
      });
    }
    const data = Buffer.from(content as string);
    act(() => target.put(name, data));
    files += 1;
    bytes += data.length;
    return hash('sha256', data);
  };
  const whole = partOf(write);
  return {
    ...whole,
    part: (folder) =>
      partOf((name, content) => {
        const path = `${folder}/${name}`;
        const sum = write(path, content);
        whole.list(path, sum);
        return sum;
      }),
    finish() {
      act(() => target.end(out));
      isFinished = true;
      return { files, bytes };
    },
    drop() {
      if (isFinished) return;
      target.close();
      rmSync(part, { recursive: true, force: true });
    },
  };
}

/** A part whose files `write` writes, and gives the SHA-256 of. */
function partOf(
  write: (name: string, content: Buffer | string) => string,
): Part & { list(name: string, sum: string): void } {
  const sums: string[] = [];
  const list = (name: string, sum: string) => void sums.push(`${sum}  ${name}`);
  return {
    list,
    put: (name, content) => list(name, write(name, content)),
    seal(sign) {
      const text = `${sums.toSorted(byName).join('\n')}\n`;
      write(SUMS, readable(SUMS, text, LARGEST_LIST));
      if (sign !== undefined) write(NOTE, sign(text));
    },
  };
}

function isTar(out: string): boolean {
  return /\.tar$/iu.test(out);
}

interface Target {
  put(name: string, data: Buffer): void;
  /** On disk, under its name. */
  end(out: string): void;
  close(): void;
}

function folderAt(part: string): Target {
  mkdirSync(part, { mode: 0o700 });
  return {
    put(name, data) {
      const path = join(part, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, data, { flag: 'wx', mode: 0o600, flush: true });
    },
    end(out) {
      // A rename would replace an empty folder.
      if (existsSync(out)) throw isTaken(out, ELSEWHERE);
      renameSync(part, out);
    },
    close() {},
  };
}

/** Below one folder, for unpacking. */
function tarAt(part: string, folder: string): Target {
  let file: number | undefined = openSync(part, 'wx', 0o600);
  const write = (data: Buffer) => {
    for (let at = 0; at < data.length; ) at += writeSync(file ?? -1, data, at);
  };
  const close = () => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  return {
    put(name, data) {
      // The longest name of a file that fits; the folders before it have a field of their own.
      const path = `${folder}/${name}`;
      const cut = path.indexOf('/', Math.max(folder.length, path.length - 100));
      tarBlocks(path.slice(cut + 1), data, path.slice(0, cut)).forEach(write);
    },
    end(out) {
      write(TAR_END);
      fsyncSync(file ?? -1);
      close();
      // Unlike a rename, a link never replaces a file that another process has just written.
      linkSync(part, out);
      rmSync(part, { force: true });
    },
    close,
  };
}

function byName(one: string, other: string): number {
  return one.slice(66) < other.slice(66) ? -1 : 1;
}
