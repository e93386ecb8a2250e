import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { DownloadedFile } from '../../machines/parts/verbs.ts';
import type { ReadActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, no, ok } from './results.ts';

interface Input {
  readonly id: number;
  readonly size?: number | undefined;
  readonly purpose: 'prove' | 'archive';
}

/** Room that stays free beside the download, so that the journal can go on. Bytes. */
const RESERVE = 64 * 1024 * 1024;

/**
 * Downloads a backup as it is, encrypted, into the instance's folder. It stands under its final name only when complete
 * and on disk; before that it is a `.part` file, and after a crash it is downloaded again.
 */
export function downloadBackup(deps: ActivityDeps): ReadActivity<Input, DownloadedFile> {
  return {
    kind: 'read',
    async run({ id, size, purpose }, { signal, report, now, runId }) {
      const path = join(deps.folder, `backup-${id}-${purpose}-${runId}.tgz.enc`);
      const part = `${path}.part`;
      const since = now().getTime();
      try {
        await mkdir(deps.folder, { recursive: true, mode: 0o700 });
        const lacking = await lackOfRoom(deps.folder, size);
        if (lacking !== undefined) return lacking;
        const { stream, length } = await deps.service.download(id, { signal });
        const total = length ?? size;
        const { bytes, sha256 } = await save(stream, part, (done) =>
          report({ kind: 'bytes', done, total, what: `backup ${id}` }),
        );
        // Only the length of this very answer tells where it ends; the size in the list may be that of something else.
        if (length !== undefined && bytes < length) {
          await rm(part, { force: true });
          return no('backup.truncated', `the download ended after ${bytes} of ${length} bytes`, {
            hints: ['try again; a router may cut downloads that take longer than 15 minutes'],
            evidence: { bytes, length },
          });
        }
        await rename(part, path);
        await syncFolder(deps.folder);
        return ok({ path, bytes, sha256, seconds: (now().getTime() - since) / 1000 });
      } catch (thrown) {
        await rm(part, { force: true }).catch(() => undefined);
        return because(thrown);
      }
    },
  };
}

async function lackOfRoom(folder: string, size: number | undefined) {
  if (size === undefined) return undefined;
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= size + RESERVE) return undefined;
  return no('disk.full', `the backup has ${size} bytes, and only ${free} are free in ${folder}`, {
    hints: ['make room, or put LIFEBOAT_HOME on a larger disk'],
    evidence: { size, free },
  });
}

async function save(stream: AsyncIterable<Uint8Array>, path: string, onBytes: (done: number) => void) {
  const hash = createHash('sha256');
  const file = await open(path, 'w', 0o600);
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      hash.update(chunk);
      await file.writeFile(chunk);
      bytes += chunk.length;
      onBytes(bytes);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** A rename is durable only when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
