import { open } from 'node:fs/promises';
import { PROBE_BYTES } from '../backup/probe.ts';
import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';

/** The first bytes of a backup file, enough to try keys on. A file that is not there is a clear error. */
export async function readHead(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(PROBE_BYTES), 0, PROBE_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new LifeboatError('backup.no-file', `the backup file ${show(path)} cannot be read`, {
      hints: [
        'try again: it is downloaded from the beginning',
        'or mark the step as done with the path of a file you have',
      ],
      cause,
    });
  }
}
