import { dirname, join } from 'node:path';
import { makeFolderInside } from '../base/trusted-path.ts';
import type { ActivityOf } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { ok, readVerb } from './results.ts';
import { saveDownload } from './save-download.ts';
import { watchProgress } from './watchdog.ts';

const STILL = { seconds: 60, basis: 'default', detail: 'no byte has come meanwhile' } as const;

/**
 * Downloads a backup as it is, encrypted, into the instance's folder. It stands under its final name only
 * when complete and on disk; before that it is a `.part` file, which is gone on with after a crash where the
 * service offers ranges. What is no backup, or ends inside a block of the cipher, fails; a file of another
 * size than listed is a result, with that verdict: only reading it proves it.
 */
export function downloadBackup(deps: ActivityDeps): ActivityOf<'downloadBackup'> {
  return readVerb(async ({ id, size, purpose }, context) => {
    const { signal, now, runId, instance } = context;
    const watched = watchProgress(context, STILL);
    const path = join(deps.folder, `backup-${id}-${purpose}-${runId}.tgz.enc`);
    const since = now().getTime();
    try {
      makeFolderInside(dirname(deps.folder), deps.folder);
      const { bytes, sha256, checked } = await saveDownload({
        path,
        of: `${instance} ${id}`,
        listed: size,
        open: (from) => deps.service.download(id, { ...from, signal }),
        report: (done, { total, length }) =>
          watched.report({ kind: 'bytes', done, total: total ?? length ?? size, what: `backup ${id}` }),
        signal,
      });
      const { verdict, listed } = checked;
      const seconds = (now().getTime() - since) / 1000;
      return ok({ path, bytes, sha256, seconds, verdict, ...(listed === undefined ? {} : { listed }) });
    } finally {
      watched.stop();
    }
  });
}
