import type { Triggered } from '../../machines/parts/verbs.ts';
import { LifeboatError } from '../errors.ts';
import type { OnceActivity } from './activity.ts';
import type { ActivityDeps } from './deps.ts';
import { BackupBaseline, judgeBackup } from './doubt.ts';
import { because, ok } from './results.ts';

/** Asks for one backup (service-api.md endpoint 3), at most once for each intent. */
export function createBackup(deps: ActivityDeps): OnceActivity<{ readonly intent: string }, Triggered> {
  return {
    kind: 'once',
    async prepare(_, { signal }) {
      try {
        const { value, skew } = await deps.service.backups(signal);
        return ok({
          ids: value.map((backup) => backup.id),
          skewMs: skew?.skewMs ?? null,
        } satisfies BackupBaseline);
      } catch (thrown) {
        return because(thrown);
      }
    },
    async send(_, { signal }) {
      const sent = await deps.service.createBackup(signal);
      if (sent.outcome === 'refused' || sent.outcome === 'never-sent')
        return { sent: 'absent', failure: sent.failure };
      if (sent.outcome !== 'accepted') return { sent: 'unknown', failure: sent.failure };
      const { id } = sent.value;
      if (id !== undefined) return { sent: 'landed', output: { landed: true, id, adopted: false } };
      return {
        sent: 'unknown',
        failure: new LifeboatError(
          'service.no-id',
          'the service took the request without naming the backup',
        ).toFailure(),
      };
    },
    async judge(_, { baseline, armedAt }, { signal, now }) {
      const { value } = await deps.service.backups(signal);
      return judgeBackup({
        baseline: BackupBaseline.parse(baseline),
        armedAtMs: Date.parse(armedAt),
        nowMs: now().getTime(),
        settleMs: deps.settleMs,
        backups: value,
      });
    },
  };
}
