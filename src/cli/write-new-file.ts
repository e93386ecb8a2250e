import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { EXIT, errorCode, FILE_TROUBLE, LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { CommandContext } from './context.ts';
import { inLots } from './in-lots.ts';

/** Error codes of a file system without hard links. */
const NO_LINKS = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'];

/** Bytes, a text, or what makes the parts of a text: they are written as they are made. */
export type Content = Buffer | string | (() => Iterable<string>);

/**
 * Writes a new file, mode 0600; throws the system's error, such as `EEXIST`. After a crash nothing has this
 * name, at most a `.part` beside it: the file is always complete. A system without links cannot promise that.
 */
export function writeNewFile(path: string, content: Content): void {
  const part = `${path}.${randomBytes(4).toString('hex')}.part`;
  try {
    write(part, content);
    // Unlike a rename, a link never replaces a file that another process has just written.
    linkSync(part, path);
  } catch (thrown) {
    const { code = '', syscall } = thrown as NodeJS.ErrnoException;
    if (syscall !== 'link' || !NO_LINKS.includes(code)) throw thrown;
    write(path, content);
  } finally {
    rmSync(part, { force: true });
  }
}

function write(path: string, content: Content): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    for (const part of typeof content === 'function' ? inLots(content()) : [content])
      writeFileSync(file, part);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A path with these errors can hold nothing. */
const WRONG_PLACE = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS'];

/**
 * Why evidence was not written, for a person, who can change a taken name but not a full disk. `elsewhere`
 * says how it is written to another place. Exit 2 for a place that cannot hold it, such as a missing folder.
 */
export function notWritten(
  path: string,
  cause: unknown,
  elsewhere = 'name another place with --out FILE',
): LifeboatError {
  const code = errorCode(cause) ?? '';
  if (code === 'EEXIST') return isTaken(path, elsewhere);
  const why = code === 'ENOENT' ? 'there is no such folder' : FILE_TROUBLE[code];
  return new LifeboatError(
    'output.file',
    `${show(path, 200)} cannot be written: ${why ?? (code === '' ? 'the system does not say why' : code)}`,
    {
      hints: ['nothing was written under this name', elsewhere],
      ...(WRONG_PLACE.includes(code) ? { exitCode: EXIT.usage } : {}),
      cause,
    },
  );
}

export function isTaken(path: string, elsewhere = 'name another file with --out FILE'): LifeboatError {
  return new LifeboatError(
    'usage.out',
    `${show(path, 200)} already exists, and evidence is not overwritten`,
    { hints: [elsewhere, 'nothing was written'], exitCode: EXIT.usage },
  );
}

/** Writes to stdout, or to a new file: an existing record is never overwritten (`usage.out`, exit 2). */
export function putNew(
  { stdout, stderr }: Pick<CommandContext, 'stdout' | 'stderr'>,
  out: string | undefined,
  content: Exclude<Content, Buffer>,
): void {
  if (out === undefined) {
    for (const part of typeof content === 'string' ? [content] : inLots(content())) stdout.write(part);
    return;
  }
  try {
    writeNewFile(out, content);
  } catch (cause) {
    throw notWritten(out, cause);
  }
  stderr.write(`written: ${show(out, 200)}\n`);
}
