import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { FILE_TROUBLE } from '../base/errors.ts';

type Output = Writable & { readonly fd: number; readonly isTTY?: boolean };

/**
 * Makes what is printed into a file whole, or known not to be: Node hands each piece to write(2) once and
 * does not look how much of it was taken, so that a disk that becomes full cuts it without an error. Gives a
 * function that tells, in words, why something is missing; a reader that has gone away and a terminal that is
 * lost are none of it.
 */
export function keepOutputWhole(stdout: Output): () => string | undefined {
  let trouble: string | undefined;
  stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || stdout.isTTY === true) return;
    trouble ??= FILE_TROUBLE[code ?? ''] ?? code ?? 'the system does not say why';
  });
  if (isFile(stdout)) {
    stdout._write = (chunk: string | Buffer, encoding, done) => {
      try {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
        for (let at = 0; at < bytes.length; ) at += writeSync(stdout.fd, bytes, at);
        done();
      } catch (thrown) {
        done(thrown as Error);
      }
    };
  }
  return () => trouble;
}

/** A file, or a device that is no terminal: what Node writes to synchronously. */
function isFile({ fd, isTTY }: Output): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFile() || (stat.isCharacterDevice() && isTTY !== true);
  } catch {
    return false;
  }
}
