import type { BackupFacts } from '../../machines/parts/verbs.ts';
import type { Backup } from '../service/schemas.ts';
import { show } from '../text.ts';
import type { ReadActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { factsOfBackup } from './ground.ts';
import { because, no, ok } from './results.ts';

const FIRST_PAUSE_MS = 250;
const SLOWEST_PAUSE_MS = 15_000;
const PATIENCE_MS = 30_000;

/**
 * Polls a backup until it is done; fails when the service says that it failed or is gone. A status that is not known counts as under
 * way and is shown. Fast at first, then every 15 s, so that a queue of hours costs little.
 */
export function waitForBackup(deps: ActivityDeps): ReadActivity<{ id: number }, BackupFacts> {
  return {
    kind: 'read',
    async run({ id }, { signal, report, now }) {
      const since = now().getTime();
      try {
        for (let pause = FIRST_PAUSE_MS; ; pause = nextPause(pause, now().getTime() - since)) {
          const { value } = await deps.service.backup(id, signal);
          report({ kind: 'task', status: show(value.status, 40), what: `backup ${id}` });
          if (value.status === 'done') return ok(factsOfBackup(await withBackupId(deps, value, signal)));
          if (value.status === 'failed' || value.status === 'deleted') {
            return no(
              `backup.${value.status}`,
              `backup ${id} is ${value.status}; the service gives no reason`,
              {
                hints: [
                  'another backup may be asked for',
                  'look at disk space and the state of the instance first',
                ],
              },
            );
          }
          await rest(pause, signal);
        }
      } catch (thrown) {
        return because(thrown);
      }
    },
  };
}

/** Revision 62 gives the `backup_id` in the list only (service-api.md section 2.1). */
async function withBackupId(deps: ActivityDeps, backup: Backup, signal: AbortSignal): Promise<Backup> {
  if (backup.backup_id !== undefined) return backup;
  const { value } = await deps.service.backups(signal);
  const listed = value.find((other) => other.id === backup.id);
  return { ...backup, backup_id: listed?.backup_id };
}

function nextPause(pause: number, elapsedMs: number): number {
  const ceiling = elapsedMs < PATIENCE_MS ? 2_000 : SLOWEST_PAUSE_MS;
  return Math.min(pause * 1.5, ceiling);
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}
