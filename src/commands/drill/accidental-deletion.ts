import { setTimeout as pause } from 'node:timers/promises';
import type { RestoreFacts } from '../../../machines/parts/task-data.ts';
import { dateAt } from '../../base/date.ts';
import { instantOf } from '../../base/instant.ts';
import type { Query } from '../../lab/engine/engine.ts';
import type { Lab } from '../../lab/lab.ts';
import { type SampleDigest, sampleDigest } from '../../lab/sample-data.ts';
import {
  allHold,
  type Chapter,
  type ChapterProof,
  compareTables,
  newestOrder,
  outputOf,
  recoveryPointOf,
  recoveryTimeOf,
} from './chapter.ts';
import { appsRunning } from './region-loss.ts';
import { labInstance } from './stage.ts';

const TITLE = 'an accidental DELETE; restore to the moment before it';
/** Without orders around the last good moment: the service has milliseconds, the database finer times. */
const QUIET_MS = 50;
const PAST_SECONDS = 10;
/** Each question has the database begin another file of its log. */
const ASK_MS = 500;
const NOTICED_MS = 2_500;

/** All orders are deleted. The instance is restored to the moment before, exact to the transaction. */
export function accidentalDeletion(instance: string): Chapter {
  return {
    runbook: 'restore-point-in-time',
    title: TITLE,
    instance,
    async play(stage) {
      const { query, range } = labInstance(stage.lab, instance);
      stage.say(`waiting while ${instance} takes orders, so that there is a moment to go back to`);
      while (!(await hasPast(range)) && !stage.signal.aborted) await pause(ASK_MS);
      const { expected, lastGood, deletedAt } = await deleteAllOrders(query, stage.lab.clock);
      const service = stage.lab.clock.fromReal(lastGood).toISOString();
      await stage.pause(
        `somebody has deleted every order of ${instance}; the last good moment was ${service}`,
      );
      const to = stage.auto ? { to: service } : {};
      const { runId, exitCode } = await stage.runRunbook(
        'restore-point-in-time',
        {
          instance,
          ...to,
          incident: deletedAt.toISOString(),
          reason: `drill: every order was deleted after ${service}`,
        },
        instance,
      );
      if (exitCode !== 0) return undefined;
      const entries = await stage.workspace.journal.read(`run/${runId}`);
      const restore = outputOf<RestoreFacts>(entries, 'waitForRestore');
      // Later orders have higher numbers.
      const restored = await sampleDigest(query, expected.tables.orders.maxId);
      const newest = await newestOrder(query);
      const tables = compareTables(restored, expected);
      const apps = await appsRunning(stage, instance);
      const isBack = tables.every(({ equal }) => equal);
      const moment = chosenMoment(restore?.restoredFrom, { lastGood, deletedAt, clock: stage.lab.clock });
      const why = isBack || moment.another === undefined ? '' : ` (${moment.another})`;
      const checks = [
        {
          what: `every deleted order is back, none lost and none from after that moment${why}`,
          holds: isBack,
        },
        { what: 'every order equals the sum of its lines', holds: restored.unbalancedOrders === 0 },
        {
          what: `its ${apps.length} applications run again`,
          holds: apps.length > 0 && apps.every(({ ok }) => ok),
        },
      ];
      return {
        runbook: 'restore-point-in-time',
        title: TITLE,
        instance,
        runIds: [runId],
        proven: allHold({ checks, tables }),
        verdict: 'restored',
        checks,
        tables,
        measures: {
          ...recoveryTimeOf('restore-point-in-time', entries),
          ...recoveryPointOf('restore-point-in-time', entries),
          ...moment.lost,
        },
        facts: {
          time: service,
          restore: restore?.id ?? null,
          restoredFrom: restore?.restoredFrom ?? null,
          newest: newest?.id ?? null,
        },
        files: [],
      };
    },
  };
}

/**
 * What the moment that a run restored to (`restoredFrom`, by the service's clock) lost, and a description of
 * one that is not the last good one. A moment after the DELETE has nothing to measure: there is no order. If
 * the service does not name the moment, it counts as the last good one. Pure.
 */
export function chosenMoment(
  restoredFrom: string | undefined,
  {
    lastGood,
    deletedAt,
    clock,
  }: {
    readonly lastGood: Date;
    readonly deletedAt: Date;
    readonly clock: Pick<Lab['clock'], 'fromReal' | 'toReal'>;
  },
): {
  readonly lost: Pick<ChapterProof['measures'], 'rowsLostSeconds' | 'rowsLostHow'>;
  readonly another: string | undefined;
} {
  const good = clock.fromReal(lastGood);
  const chosen = dateAt(instantOf(restoredFrom) ?? good.getTime());
  const lostMs = deletedAt.getTime() - clock.toReal(chosen).getTime();
  return {
    lost:
      lostMs < 0
        ? {}
        : { rowsLostSeconds: lostMs / 1000, rowsLostHow: 'from the chosen moment to the DELETE' },
    another:
      chosen.getTime() === good.getTime()
        ? undefined
        : `you chose ${chosen.toISOString()}; the last good moment was ${good.toISOString()}`,
  };
}

/**
 * In one transaction. Writers wait for its lock: the digest is exactly what is deleted. The last good moment
 * is a whole second of the service's clock, as people type it, in a span without orders.
 */
async function deleteAllOrders(
  query: Query,
  clock: Lab['clock'],
): Promise<{ readonly expected: SampleDigest; readonly lastGood: Date; readonly deletedAt: Date }> {
  await query('create table mishap (go boolean)');
  const deleting = query(DELETE_ON_SIGNAL);
  let isRefused = false;
  deleting.catch(() => {
    isRefused = true;
  });
  while (!isRefused && !(await isLocked(query))) await pause(20);
  if (isRefused) await deleting;
  const quiet = clock.fromReal(dateAt((await clockOf(query)).getTime() + QUIET_MS)).getTime();
  const lastGood = clock.toReal(dateAt(Math.ceil(quiet / 1000) * 1000));
  while ((await clockOf(query)) <= lastGood) await pause(20);
  const expected = await sampleDigest(query);
  await query('insert into mishap values (true)');
  await deleting;
  const deletedAt = await clockOf(query);
  // People notice the loss only later, and a run does not treat the newest moment of the range as safe.
  while ((await clockOf(query)).getTime() - deletedAt.getTime() < NOTICED_MS) await pause(100);
  return { expected, lastGood, deletedAt };
}

/* One statement is one transaction; each turn of the loop sees what was committed since the last one. */
const DELETE_ON_SIGNAL = `
  do $$ begin
    lock table orders, order_lines in share row exclusive mode;
    while not exists (select from mishap) loop perform pg_sleep(0.02); end loop;
    delete from order_lines;
    delete from orders;
  end $$`;

/**
 * Whether the margins that a run keeps from the edges fit into the range that can be restored. It begins with
 * the first base backup, which a busy machine makes long after the first order.
 */
async function hasPast(range: Lab['instances'][number]['range']): Promise<boolean> {
  const reached = await range();
  return reached !== undefined && reached.end.getTime() - reached.start.getTime() > PAST_SECONDS * 1000;
}

async function isLocked(query: Query): Promise<boolean> {
  const rows = await query(
    `select from pg_locks
     where relation = 'order_lines'::regclass and mode = 'ShareRowExclusiveLock' and granted`,
  );
  return rows.length > 0;
}

async function clockOf(query: Query): Promise<Date> {
  const [row] = await query<{ now: Date }>('select clock_timestamp() as now');
  return row?.now ?? dateAt(0);
}
