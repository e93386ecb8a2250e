import type { RestoreFacts } from '../../../machines/parts/task-data.ts';
import { dateAt } from '../../base/date.ts';
import { msOf } from '../../base/instant.ts';
import { sampleDigest, sampleRows } from '../../lab/sample-data.ts';
import {
  allHold,
  type Chapter,
  type ChapterProof,
  compareTables,
  outputOf,
  recoveryTimeOf,
} from './chapter.ts';
import { appsRunning } from './region-loss.ts';
import { queryOf, type Stage } from './stage.ts';

type InPlace = 'restore-backup' | 'back-up-and-verify' | 'change-instance';

const TITLES: Readonly<Record<InPlace, string>> = {
  'restore-backup': 'restore a backup in place',
  'back-up-and-verify': 'create a backup and read it to its last byte',
  'change-instance': 'restart the instance',
};

const VERDICTS = {
  'restore-backup': 'restored',
  'back-up-and-verify': 'readable',
  'change-instance': 'unchanged',
} as const;

/** Runs a runbook on one instance in place, and compares its rows with those from before. */
export function inPlace(instance: string, runbook: InPlace): Chapter {
  const title = TITLES[runbook];
  return {
    runbook,
    title,
    instance,
    async play(stage) {
      const query = queryOf(stage.lab, instance);
      const before = await sampleRows(query);
      const present = (await sampleDigest(query)).tables.orders.maxId;
      const flags = runbook === 'change-instance' ? { action: 'restart' } : backupFlag(stage, runbook);
      const { runId, exitCode } = await stage.runRunbook(runbook, { instance, ...flags }, instance);
      if (exitCode !== 0) return undefined;
      const entries = await stage.workspace.journal.read(`run/${runId}`);
      const restore = outputOf<RestoreFacts>(entries, 'waitForRestore');
      // The rows of a restore end at the moment that the service names; without a restore, nothing is lost.
      const upTo = restore === undefined ? present : before.newestAt(momentOf(stage, restore.restoredFrom));
      const after = await sampleDigest(query, upTo);
      const apps = await appsRunning(stage, instance);
      const checks = [
        { what: 'every order equals the sum of its lines', holds: after.unbalancedOrders === 0 },
        {
          what: `its ${apps.length} applications run`,
          holds: apps.length > 0 && apps.every(({ ok }) => ok),
        },
      ];
      const tables = compareTables(after, { tables: before.digest(upTo) });
      const proof: ChapterProof = {
        runbook,
        title,
        instance,
        runIds: [runId],
        proven: allHold({ checks, tables }),
        verdict: VERDICTS[runbook],
        checks,
        tables,
        measures: recoveryTimeOf(runbook, entries),
        facts: { restore: restore?.id ?? null },
        files: [],
      };
      return proof;
    },
  };
}

/** Undefined becomes the beginning of time: then nothing is compared, which proves nothing. */
function momentOf({ lab }: Stage, restoredFrom: string | undefined): Date {
  return restoredFrom === undefined ? dateAt(0) : lab.clock.toReal(dateAt(msOf(restoredFrom)));
}

/** Without a person, a drill restores the first backup; a team chooses one. */
function backupFlag({ auto }: Stage, runbook: InPlace): { readonly backup?: string } {
  // The lab begins with one backup of each instance that has a key.
  return runbook === 'restore-backup' && auto ? { backup: '1' } : {};
}
