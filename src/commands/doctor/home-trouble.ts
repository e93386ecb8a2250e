import { access, constants } from 'node:fs/promises';
import { freeSpace } from '../../activities/free-space.ts';
import { errorCode, troubleWith } from '../../base/errors.ts';
import { formatBytes } from '../../base/format.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { show } from '../../base/text.ts';
import type { Trouble } from '../../view/app/sources.ts';

/** How to look at a folder. `writable` rejects if nothing can be written to it, as `access` does. */
interface Disk {
  readonly writable: (folder: string) => Promise<void>;
  readonly free: (folder: string) => Promise<number | undefined>;
}

const DISK: Disk = { writable: (folder) => access(folder, constants.W_OK), free: freeSpace };

/** Bytes. With less free space, the next entry of a journal may not fit. */
const MIN_FREE = 1024 * 1024;

const SAFE =
  'looking is safe; no run can be begun or carried on meanwhile, nothing is sent, and open runs stay open';

/**
 * Why no run can begin or continue with this home, and what is safe; undefined if one can, and if there is no
 * home yet. Never rejects.
 */
export async function homeTrouble(home: string, disk: Disk = DISK): Promise<Trouble | undefined> {
  try {
    await disk.writable(home);
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    const { why } = troubleWith(home, cause);
    return trouble(`nothing can be written to ${show(home, 120)}: ${why}`, 'make it writable again');
  }
  const free = await disk.free(home).catch(() => undefined);
  if (free === undefined || free >= MIN_FREE) return undefined;
  const text = `the disk of ${show(home, 120)} is full: ${formatBytes(free)} free`;
  return trouble(text, `make room: df -h ${show(shellQuoted(home), 120)}`);
}

function trouble(text: string, wayOut: string): Trouble {
  return { text, hints: [SAFE, wayOut] };
}
