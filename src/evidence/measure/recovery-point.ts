import { instantOf } from './instant.ts';
import type { Landmarks } from './landmarks.ts';
import { fieldsOf, type Timeline } from './timeline.ts';

/** How much was lost: the time between the newest record before the incident and the newest one after the recovery. */
export interface RecoveryPoint {
  /**
   * `data`: by the reconciliation command of the config. `restored_from`: by what the service says it restored. `chosen-time`: by the point
   * in time that was asked for, where the service does not say.
   */
  readonly by: 'data' | 'restored_from' | 'chosen-time';
  readonly lostMs: number;
  /** RFC 3339. */
  readonly lostAt: string;
  readonly recoveredTo: string;
  /** What `lostAt` is, as words. */
  readonly lostBy: string;
  readonly rowsBefore: number | undefined;
  readonly rowsAfter: number | undefined;
}

/** Measured once the instance is available again; undefined before, and where neither the data nor the service tell. */
export function recoveryPoint(
  timeline: Timeline,
  landmarks: Landmarks,
  incidentAt: string | undefined,
): RecoveryPoint | undefined {
  const { restoredMs, restores } = landmarks;
  if (restoredMs === undefined || !restores) return undefined;
  const [before, after] = [reconciled(timeline, 'before'), reconciled(timeline, 'after')];
  const rows = { rowsBefore: before.count, rowsAfter: after.count };
  const incidentMs = instantOf(incidentAt);
  const newest = before.newestMs ?? incidentMs;
  if (newest !== undefined && after.newestMs !== undefined) {
    const lostBy = before.newestMs === undefined ? 'the incident' : 'the newest record before';
    return { by: 'data', ...lost(newest, after.newestMs), lostBy, ...rows };
  }
  const told = instantOf(landmarks.restore?.['restoredFrom']);
  const chosen = instantOf(landmarks.chosenTime);
  const recoveredMs = told ?? chosen;
  if (recoveredMs === undefined) return undefined;
  const by = told === undefined ? 'chosen-time' : 'restored_from';
  const until = lastMoment(timeline, landmarks, incidentMs);
  return { by, ...lost(until.ms, recoveredMs - landmarks.skewMs), lostBy: until.what, ...rows };
}

function lost(lostAtMs: number, recoveredMs: number) {
  return {
    lostMs: Math.max(0, lostAtMs - recoveredMs),
    lostAt: new Date(lostAtMs).toISOString(),
    recoveredTo: new Date(recoveredMs).toISOString(),
  };
}

/** Until when data can have been written that is gone now. A restore in place ends it; a lost source ended it before the run began. */
function lastMoment(
  { firstMs }: Timeline,
  { armedMs, decidedMs, elsewhere }: Landmarks,
  incidentMs: number | undefined,
): { readonly ms: number; readonly what: string } {
  if (incidentMs !== undefined) return { ms: incidentMs, what: 'the incident' };
  if (elsewhere) return { ms: firstMs, what: 'the start of the run' };
  return { ms: armedMs ?? decidedMs ?? firstMs, what: 'the restore' };
}

function reconciled(
  { performed }: Timeline,
  when: 'before' | 'after',
): { readonly newestMs: number | undefined; readonly count: number | undefined } {
  const last = performed.findLast(({ verb, input }) => verb === 'reconcile' && input['when'] === when);
  const { configured, newest, count, failure } = fieldsOf(last?.output);
  if (configured !== true || failure !== undefined) return { newestMs: undefined, count: undefined };
  return { newestMs: instantOf(newest), count: typeof count === 'number' ? count : undefined };
}
