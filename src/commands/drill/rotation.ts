import { appendHolding } from '../../runner/holds.ts';
import { allHold, type Chapter } from './chapter.ts';
import { restoreAndCompare } from './compare-restored.ts';

/** Rotates the key, restores the backup that proves it into a scratch database and compares it row by row. */
export function rotation(instance: string): Chapter {
  return {
    runbook: 'rotate-key',
    title: 'rotate the key and prove a backup',
    instance,
    async play(stage) {
      const { runId, exitCode } = await stage.runRunbook('rotate-key', { instance }, instance);
      if (exitCode !== 0) return undefined;
      stage.say('restoring the proven backup into a scratch database');
      const proof = await restoreAndCompare(stage.lab, stage.workspace, runId, instance);
      const { backup, key, verdict, rows, rtoSeconds, rpoSeconds } = proof;
      const body = { run: runId, backup: { id: backup }, key, verdict, rows, rtoSeconds, rpoSeconds };
      await appendHolding(stage.workspace.journal, [
        { stream: `instance/${instance}`, type: 'backup.restored', body },
      ]);
      const checks = [
        {
          what: 'everything from before the backup is in it, nothing from after it',
          holds: proof.withinBackupTime,
        },
        { what: 'every order equals the sum of its lines', holds: proof.balanced },
      ];
      return {
        runbook: 'rotate-key',
        title: 'rotate the key and prove a backup',
        instance,
        runIds: [runId],
        proven: allHold({ checks, tables: proof.tables }),
        verdict: 'restored',
        checks,
        tables: proof.tables,
        measures: {
          rtoSeconds,
          rtoHow: 'from the start of the restore to the first answer',
          rpoSeconds,
          rpoHow: 'between the newest restored order and the newest at the source',
        },
        facts: { backup, key, rows, withinBackupTime: proof.withinBackupTime },
        files: proof.files,
      };
    },
  };
}
