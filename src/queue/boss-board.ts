import { show } from '../base/text.ts';
import { type BossLink, type BossOptions, createBossLink } from './boss-link.ts';
import { RUNS, SCHEMA } from './boss-schema.ts';
import type { QueueDepth, QueueReader, WorkerRow } from './queue.ts';

/** A read-only view of the queue in the team's PostgreSQL, for a board. */
export function createBossReader(options: BossOptions): QueueReader {
  const link = createBossLink(options, { readOnly: true });
  return {
    workers: () => link.inWords(() => workersOf(link)),
    depth: () => link.inWords(() => depthOf(link)),
    stop: link.close,
  };
}

/** pg-boss removes most of the rows of instances that are over. */
const MOST = 1_000;

export async function workersOf({ boss }: Pick<BossLink, 'boss'>): Promise<readonly WorkerRow[]> {
  const rows = await (await boss()).getInstances({ limit: MOST });
  return rows
    .map(({ host, pid, name, startedOn, heartbeatOn, stoppedOn, live }): WorkerRow => {
      const state = live ? 'live' : stoppedOn === null ? 'gone' : 'stopped';
      const [since, seen] = [startedOn, stoppedOn ?? heartbeatOn];
      return { host: show(host, 60), pid, label: show(name ?? '', 100), since, seen, state };
    })
    .toReversed();
}

export async function depthOf({ query }: Pick<BossLink, 'query'>): Promise<QueueDepth> {
  const [row] = await query<{ ready: number; later: number; active: number; oldest: Date | null }>(
    `select count(*) filter (where state < 'active' and start_after <= now()) as ready,
       count(*) filter (where state < 'active' and start_after > now()) as later,
       count(*) filter (where state = 'active') as active,
       min(start_after) filter (where state < 'active' and start_after <= now()) as oldest
     from ${SCHEMA}.job where name = $1 and state <= 'active'`,
    [RUNS],
  );
  return row === undefined
    ? { ready: 0, later: 0, active: 0, oldest: undefined }
    : { ...row, oldest: row.oldest ?? undefined };
}
