import type { BackupFacts } from '../../machines/parts/verbs.ts';
import { failureOf } from '../errors.ts';
import type { Backup } from '../service/schemas.ts';
import { show } from '../text.ts';
import type { ReadActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { factsOfBackup } from './ground.ts';
import { because, no, ok } from './results.ts';

const FIRST_PAUSE_MS = 250;
const SLOWEST_PAUSE_MS = 15_000;
/** For so long it is looked at often; a queue of hours costs little after that. */
const EAGER_MS = 30_000;
/** For so long a service that does not answer, or does not know the backup yet, is only waited for. */
const PATIENCE_MS = 120_000;

/** What may pass by itself, and what a service says that is a moment behind its own answer. */
const PASSING = new Set([
  'service.unreachable',
  'service.timeout',
  'service.reset',
  'service.error',
  'service.busy',
  'service.not-found',
  'service.bad-answer',
]);

/**
 * Polls a backup until it is done. Fails with `backup.failed` or `backup.deleted` when the service says so, and with the service's own
 * failure when it could not be asked for two minutes: the backup itself goes on meanwhile. A status that is not known counts as under
 * way and is shown.
 */
export function waitForBackup(deps: ActivityDeps): ReadActivity<{ id: number }, BackupFacts> {
  return {
    kind: 'read',
    async run({ id }, { signal, report, now }) {
      const since = now().getTime();
      let seenAt = since;
      let pause = FIRST_PAUSE_MS;
      for (;;) {
        try {
          const backup = await look(deps, id, signal);
          seenAt = now().getTime();
          report({ kind: 'task', status: show(backup.status, 40), what: `backup ${id}` });
          if (backup.status === 'done') return ok(factsOfBackup(backup));
          if (backup.status === 'failed') return over(id, 'failed');
          if (backup.status === 'deleted') return over(id, 'deleted');
        } catch (thrown) {
          const failure = failureOf(thrown);
          if (!PASSING.has(failure.code) || now().getTime() - seenAt > PATIENCE_MS) return because(failure);
          report({ kind: 'task', status: `not seen: ${failure.shortMessage}`, what: `backup ${id}` });
        }
        try {
          await rest(pause, signal);
        } catch (thrown) {
          return because(thrown);
        }
        pause = Math.min(pause * 1.5, now().getTime() - since < EAGER_MS ? 2_000 : SLOWEST_PAUSE_MS);
      }
    },
  };
}

/** The backup with its `backup_id`, which revision 62 gives in the list only (service-api.md section 2.1). */
async function look(deps: ActivityDeps, id: number, signal: AbortSignal): Promise<Backup> {
  const { value } = await deps.service.backup(id, signal);
  if (value.status !== 'done' || value.backup_id !== undefined) return value;
  const list = await deps.service.backups(signal);
  return { ...value, backup_id: list.value.find((other) => other.id === id)?.backup_id };
}

function over(id: number, status: 'failed' | 'deleted') {
  return no(`backup.${status}`, `backup ${id} is ${status}; the service gives no reason`, {
    hints: ['another backup may be asked for', 'look at disk space and the state of the instance first'],
  });
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
