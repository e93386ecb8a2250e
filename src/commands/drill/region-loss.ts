import { setTimeout as pause } from 'node:timers/promises';
import type { RestoreFacts } from '../../../machines/parts/task-data.ts';
import { dateAt } from '../../base/date.ts';
import { msOf } from '../../base/instant.ts';
import { timeLimit } from '../../base/time-limit.ts';
import type { AppState } from '../../lab/cloud-foundry/lab-app.ts';
import type { Query } from '../../lab/engine/engine.ts';
import {
  allHold,
  type Chapter,
  compareSamples,
  newestOrder,
  outputOf,
  recoveryPointOf,
  recoveryTimeOf,
} from './chapter.ts';
import { keyTarget, queryOf, type Stage } from './stage.ts';

const MOMENT_MS = 5_000;
const LOST_ORDERS = 10;
const TITLE = 'the region is lost; perform recovery into the target';

/**
 * Makes a recovery card, loses the instance while orders come in, restores into the target and binds its
 * applications. Then brings the instance back briefly to compare every row.
 */
export function regionLoss(instance: string, target: string): Chapter {
  return {
    runbook: 'disaster-recovery',
    title: TITLE,
    instance,
    async play(stage) {
      const { lab } = stage;
      const source = queryOf(lab, instance);
      await keyTarget(stage, target);
      const prepared = await stage.runRunbook('disaster-recovery', { instance, prepare: true }, instance);
      if (prepared.exitCode !== 0) return undefined;
      stage.say(`${instance} takes more orders, which no backup holds`);
      const newestPrepared = await newestOrder(source);
      while (!(await hasWritten(source, newestPrepared?.id ?? 0)) && !stage.signal.aborted) await pause(100);
      await stage.pause(`next, the region of ${instance} is lost while orders still come in`);
      const newestBefore = await newestOrder(source);
      const lostAt = new Date();
      await lab.disaster(instance, true);
      const performed = await stage.runRunbook(
        'disaster-recovery',
        { instance, target, perform: true, incident: lostAt.toISOString() },
        target,
      );
      if (performed.exitCode !== 0) return undefined;
      const entries = await stage.workspace.journal.read(`run/${performed.runId}`);
      const restore = outputOf<RestoreFacts>(entries, 'waitForRestore');
      // A scenario that loses the instance later would remove it while its rows are compared.
      await lab.endTimeline();
      stage.say(`bringing the lost ${instance} back for a moment, to compare its rows`);
      await lab.disaster(instance, false);
      const restored = queryOf(lab, target);
      // Later orders at the target are its own; later orders at the source are lost by definition. The source
      // defines what must be recovered: rows that are missing at the target do not shorten the comparison.
      const restoredFrom = realTime(stage, restore?.restoredFrom);
      const newestRestored = await newestOrder(restored, restoredFrom);
      const upTo = restoredFrom === undefined ? 0 : ((await newestOrder(source, restoredFrom))?.id ?? 0);
      const { tables, balanced } = await compareSamples(restored, source, upTo);
      const apps = await appsRunning(stage, target);
      const lost =
        newestBefore === undefined || newestRestored === undefined
          ? undefined
          : newestBefore.at.getTime() - newestRestored.at.getTime();
      const checks = [
        { what: 'orders came back', holds: upTo > 0 },
        { what: 'every order equals the sum of its lines', holds: balanced },
        {
          what: `${apps.length} applications run on ${target} and place orders there`,
          holds: apps.length > 0 && apps.every(({ ok }) => ok),
        },
      ];
      return {
        runbook: 'disaster-recovery',
        title: TITLE,
        instance,
        runIds: [prepared.runId, performed.runId],
        proven: allHold({ checks, tables }),
        verdict: 'restored',
        checks,
        tables,
        measures: {
          ...recoveryTimeOf('disaster-recovery', entries),
          ...recoveryPointOf('disaster-recovery', entries),
          ...(lost === undefined
            ? {}
            : {
                rowsLostSeconds: Math.max(0, lost / 1000),
                rowsLostHow: 'from the newest restored order to the newest lost one',
              }),
        },
        facts: {
          restore: restore?.id ?? null,
          restoredFrom: restore?.restoredFrom ?? null,
          apps: apps.map(({ name }) => name),
        },
        files: [],
      };
    },
  };
}

/** The recovery point means something only if there are rows to lose. */
async function hasWritten(source: Query, since: number): Promise<boolean> {
  return ((await newestOrder(source))?.id ?? 0) >= since + LOST_ORDERS;
}

/** The service's clock may be wrong on purpose; rows carry the database's own. */
function realTime({ lab }: Stage, at: string | undefined): Date | undefined {
  return at === undefined ? undefined : lab.clock.toReal(dateAt(msOf(at)));
}

/** Of the sample applications bound to an instance. Waits a moment for one that has just started. */
export async function appsRunning(
  { lab, signal }: Stage,
  instance: string,
): Promise<readonly { readonly name: string; readonly ok: boolean }[]> {
  const { platform } = lab;
  if (platform === undefined) return [];
  const ours = (apps: readonly AppState[]) => apps.filter((app) => app.bound.includes(instance));
  const allWork = (apps: readonly AppState[]) => ours(apps).every(({ state }) => state === 'ok');
  const patience = AbortSignal.any([signal, timeLimit(MOMENT_MS)]);
  const apps = await platform.appsReach(allWork, patience).catch(() => platform.appStates());
  return ours(apps).map(({ name, state }) => ({ name, ok: state === 'ok' }));
}
