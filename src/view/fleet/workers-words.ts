import { counted } from '../../base/format.ts';
import { msOf } from '../../base/instant.ts';
import { briefly } from '../follow-up-words.ts';
import type { WorkerStatus, WorkersStatus } from './workers-schema.ts';

/** The numbers, the queue and what is missing; no single worker. */
export function workersLines(workers: WorkersStatus): readonly string[] {
  const { queue, runs, troubles } = workers;
  return [
    ...(queue === undefined ? [] : [`workers: ${countsWords(workers)}`, `queue: ${queueWords(queue)}`]),
    ...(runs === undefined || runs.left === 0 ? [] : [`left to workers: ${runsWords(runs)}`]),
    ...[...Map.groupBy(troubles, ({ why }) => why)].map(
      ([why, of]) =>
        `${of.some((one) => one.of === 'queue') ? 'workers' : 'left to workers'}: not known: ${why}`,
    ),
  ];
}

export function countOf({ items }: WorkersStatus, state: WorkerStatus['state']): number {
  return items.filter((one) => one.state === state).length;
}

/** Host and process, state with its time, and runs held. */
export function workerWords(
  { host, pid, label, since, seen, state, holds }: WorkerStatus,
  now: Date,
): string {
  const ago = (at: string) => briefly(Math.max(0, (now.getTime() - msOf(at)) / 1000));
  const named = label === '' || label === 'worker' ? '' : ` (${label})`;
  const held = holds === undefined ? '' : `, holds ${counted(holds, 'run')}`;
  const how = state === 'live' ? `live for ${ago(since)}` : `${state}, last seen ${ago(seen)} ago`;
  return `${host} ${pid}${named}: ${how}${held}`;
}

function countsWords(workers: WorkersStatus): string {
  const live = countOf(workers, 'live');
  const gone = countOf(workers, 'gone');
  const words = live === 0 ? 'none is live' : `${live} live`;
  return gone === 0 ? words : `${words}, ${gone} gone`;
}

function queueWords({ ready, later, oldestSeconds }: NonNullable<WorkersStatus['queue']>): string {
  const words = ready === 0 ? 'nothing is ready' : `${ready} ready`;
  const oldest = oldestSeconds === undefined ? '' : `, the oldest for ${briefly(oldestSeconds)}`;
  return `${words}${oldest}${later === 0 ? '' : `, ${later} for later`}`;
}

function runsWords({ left, unheld }: NonNullable<WorkersStatus['runs']>): string {
  const open = counted(left, 'open run');
  if (unheld.length === 0) return open;
  return `${open}; ${unheld.length} may go on, and nobody holds ${unheld.length === 1 ? 'it' : 'them'}`;
}
