import { mkdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { DownloadedFile } from '../../machines/parts/verbs.ts';
import type { ReadActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { because, no, ok } from './results.ts';
import { saveDownload } from './save-download.ts';
import { watchProgress } from './watchdog.ts';

interface Input {
  readonly id: number;
  readonly size?: number | undefined;
  readonly purpose: 'prove' | 'archive';
}

/** Room that stays free beside the download, so that the journal can go on. Bytes. */
const RESERVE = 64 * 1024 * 1024;
const STILL = { seconds: 60, basis: 'default', detail: 'no byte has come meanwhile' } as const;

/**
 * Downloads a backup as it is, encrypted, into the instance's folder. It stands under its final name only when complete and on
 * disk; before that it is a `.part` file, which is gone on with after a crash where the service offers ranges.
 */
export function downloadBackup(deps: ActivityDeps): ReadActivity<Input, DownloadedFile> {
  return {
    kind: 'read',
    async run({ id, size, purpose }, context) {
      const { signal, now, runId, instance } = context;
      const watched = watchProgress(context, STILL);
      const path = join(deps.folder, `backup-${id}-${purpose}-${runId}.tgz.enc`);
      const since = now().getTime();
      try {
        await mkdir(deps.folder, { recursive: true, mode: 0o700 });
        const lacking = await lackOfRoom(deps.folder, size);
        if (lacking !== undefined) return lacking;
        const { bytes, sha256 } = await saveDownload({
          path,
          of: `${instance} ${id}`,
          open: (from) => deps.service.download(id, { ...from, signal }),
          report: (done, { total, length }) =>
            watched.report({ kind: 'bytes', done, total: total ?? length ?? size, what: `backup ${id}` }),
          signal,
        });
        return ok({ path, bytes, sha256, seconds: (now().getTime() - since) / 1000 });
      } catch (thrown) {
        return because(thrown);
      } finally {
        watched.stop();
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
