import { isoOf } from '../../base/date.ts';
import { futureSeconds, instantOf } from '../../base/instant.ts';
import { fieldsOf } from '../../store/journal.ts';
import { isAhead, type Landmarks } from './landmarks.ts';
import type { Timeline } from './timeline.ts';

/**
 * How much was lost: the time between the newest record before the incident and the newest one after the
 * recovery.
 */
export interface RecoveryPoint {
  /**
   * `data`: by the reconciliation command of the config. `restored_from`: by what the service says it
   * restored. `chosen-time`: by the point in time that was asked for, where the service does not say.
   */
  readonly by: 'data' | 'restored_from' | 'chosen-time';
  readonly lostMs: number;
  /**
   * Where the data was counted some time before the restore was sent: how much was lost if it was written to
   * the last. What came in between was seen by nobody.
   */
  readonly mostLostMs: number | undefined;
  /** RFC 3339. */
  readonly lostAt: string;
  readonly recoveredTo: string;
  /** What `lostAt` is, as words. */
  readonly lostBy: string;
  /** Why it is not measured by the data, although the data was asked, as a sentence without a stop. */
  readonly because: string | undefined;
  readonly rowsBefore: number | undefined;
  readonly rowsAfter: number | undefined;
}

/** Why there is none although the service names times: as a sentence without a stop. */
export interface NoPoint {
  readonly unshown: string;
}

/**
 * Measured once the service shows that the data is back; undefined before, and where neither the data nor the
 * service tell. Times of the service that cannot be measure nothing.
 */
export function recoveryPoint(
  timeline: Timeline,
  landmarks: Landmarks,
  incidentAt: string | undefined,
): RecoveryPoint | NoPoint | undefined {
  const { restoredMs, restores, unshown } = landmarks;
  if (restoredMs === undefined || !restores || unshown !== undefined) return undefined;
  const [before, after] = [reconciled(timeline, 'before'), reconciled(timeline, 'after')];
  const rows = { rowsBefore: before.count, rowsAfter: after.count };
  const incidentMs = instantOf(incidentAt);
  const newest = before.newestMs ?? incidentMs;
  const because = whyNoMeasure(after.newestMs, landmarks);
  if (newest !== undefined && after.newestMs !== undefined && because === undefined) {
    const lostBy = before.newestMs === undefined ? 'the incident' : 'the newest record before';
    const mostLostMs = writtenUnseen(before.atMs, landmarks, incidentMs)
      ? Math.max(0, (landmarks.armedMs ?? 0) - after.newestMs)
      : undefined;
    return { by: 'data', ...lost(newest, after.newestMs), mostLostMs, lostBy, because, ...rows };
  }
  const reported = instantOf(landmarks.restore?.['restoredFrom']);
  const recoveredMs = reported ?? instantOf(landmarks.chosenTime);
  if (recoveredMs === undefined) return undefined;
  const by = reported === undefined ? 'chosen-time' : 'restored_from';
  if (by === 'restored_from' && isOfFuture(recoveredMs, landmarks)) return { unshown: OF_FUTURE };
  const until = lastMoment(timeline, landmarks, { incidentMs, newestMs: before.newestMs });
  const is = lost(until.ms, recoveredMs - landmarks.skewMs);
  return { by, ...is, mostLostMs: undefined, lostBy: until.what, because, ...rows };
}

/** A count takes a moment, and so does the call after it. */
const AT_ONCE_MS = 5_000;

/**
 * Whether data may have been written after it was counted and before the restore replaced it: a backup for
 * safety and a confirmation lie in between. A source that is gone is not written to, and what comes after a
 * stated incident is not what is to be brought back.
 */
function writtenUnseen(
  countedMs: number | undefined,
  { armedMs, elsewhere }: Landmarks,
  incidentMs: number | undefined,
): boolean {
  if (elsewhere || countedMs === undefined || armedMs === undefined) return false;
  if (incidentMs !== undefined && incidentMs <= countedMs) return false;
  return armedMs - countedMs > AT_ONCE_MS;
}

const OF_FUTURE =
  'the times of the service lie in the future: its clock or its time zone is wrong, so they measure nothing';

/** Nothing is restored that was made after the call for it. */
function isOfFuture(recoveredMs: number, { restore, armedMs, skewMs }: Landmarks): boolean {
  const calledMs = armedMs === undefined ? undefined : armedMs + skewMs;
  return (
    isAhead(restore) || (calledMs !== undefined && futureSeconds(isoOf(recoveredMs), calledMs) !== undefined)
  );
}

/** Some services and some databases give their times in whole seconds. */
const GRAIN_MS = 1000;

/**
 * A record that is newer than what was restored was written since, by whoever runs on the data already: it
 * tells nothing of what came back. The data's clock may be that of the service or this machine's.
 */
function whyNoMeasure(
  newestMs: number | undefined,
  { restore, chosenTime, armedMs, skewMs }: Landmarks,
): string | undefined {
  if (newestMs === undefined) return undefined;
  const fromMs = instantOf(restore?.['restoredFrom']) ?? instantOf(chosenTime);
  if (fromMs !== undefined && newestMs > fromMs + GRAIN_MS + Math.max(0, -skewMs))
    return 'the newest record after the restore is newer than what was restored, so it was written since';
  if (armedMs !== undefined && newestMs > armedMs + GRAIN_MS + Math.max(0, skewMs))
    return 'the newest record after the restore is newer than the call for it, so it was written since';
  return undefined;
}

function lost(lostAtMs: number, recoveredMs: number) {
  return {
    lostMs: Math.max(0, lostAtMs - recoveredMs),
    lostAt: isoOf(lostAtMs),
    recoveredTo: isoOf(recoveredMs),
  };
}

/**
 * Until when data can have been written that is gone now. A restore in place ends it; a lost source ended it
 * before the run began, unless its data was seen to be newer.
 */
function lastMoment(
  { firstMs }: Timeline,
  { armedMs, decidedMs, elsewhere }: Landmarks,
  {
    incidentMs,
    newestMs,
  }: { readonly incidentMs: number | undefined; readonly newestMs: number | undefined },
): { readonly ms: number; readonly what: string } {
  const known =
    incidentMs !== undefined
      ? { ms: incidentMs, what: 'the incident' }
      : elsewhere
        ? { ms: firstMs, what: 'the start of the run' }
        : { ms: armedMs ?? decidedMs ?? firstMs, what: 'the restore' };
  return newestMs !== undefined && newestMs > known.ms
    ? { ms: newestMs, what: 'the newest record before' }
    : known;
}

function reconciled(
  { performed }: Timeline,
  when: 'before' | 'after',
): {
  readonly atMs: number | undefined;
  readonly newestMs: number | undefined;
  readonly count: number | undefined;
} {
  const last = performed.findLast(({ verb, input }) => verb === 'reconcile' && input['when'] === when);
  const { configured, at, newest, count, failure } = fieldsOf(last?.output);
  if (configured !== true || failure !== undefined)
    return { atMs: undefined, newestMs: undefined, count: undefined };
  return {
    atMs: instantOf(at),
    newestMs: instantOf(newest),
    count: typeof count === 'number' ? count : undefined,
  };
}
