import { isoOf } from '../../base/date.ts';
import { futureSeconds, instantOf } from '../../base/instant.ts';
import { fieldsOf } from '../../store/journal.ts';
import { isAhead, type Landmarks } from './slices.ts';
import type { Timeline } from './timeline.ts';

/** How much was lost: from the newest record before the incident to the newest after the recovery. */
export interface RecoveryPoint {
  /**
   * `data`: by the reconciliation command. `restored_from`: by the service's report. `chosen-time`: by the
   * requested point in time, if the service reports none.
   */
  readonly by: 'data' | 'restored_from' | 'chosen-time';
  readonly lostMs: number;
  /** The loss if the data was written to between its count and the restore, which was not observed. */
  readonly mostLostMs: number | undefined;
  /** RFC 3339. */
  readonly lostAt: string;
  readonly recoveredTo: string;
  /** `lostAt` in words. */
  readonly lostBy: string;
  /** Why it is not measured by the data, although that was queried, as a sentence without a full stop. */
  readonly because: string | undefined;
  readonly rowsBefore: number | undefined;
  readonly rowsAfter: number | undefined;
}

/** Why there is none although the service reports times: as a sentence without a full stop. */
export interface NoPoint {
  readonly unshown: string;
}

/**
 * Undefined until the service shows that the data is back, and if neither the data nor the service report it.
 * Impossible times of the service measure nothing.
 */
export function recoveryPoint(
  timeline: Timeline,
  landmarks: Landmarks,
  incidentAt: string | undefined,
): RecoveryPoint | NoPoint | undefined {
  const { restoredMs, restores, unshown } = landmarks;
  if (restoredMs === undefined || !restores || unshown !== undefined) return undefined;
  if (landmarks.restore?.['simulated'] === true) return { unshown: SIMULATED };
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

const SIMULATED = 'the service is simulated: nothing was brought back';

/** A count takes a moment, and so does the call after it. */
const AT_ONCE_MS = 5_000;

/**
 * Whether data may have been written between its count and the restore: a safety backup and a confirmation
 * lie in between. A lost source is not written to, and writes after a stated incident are not to be restored.
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

/** A backup made after the call cannot have been restored. */
function isOfFuture(recoveredMs: number, { restore, armedMs, skewMs }: Landmarks): boolean {
  const calledMs = armedMs === undefined ? undefined : armedMs + skewMs;
  return (
    isAhead(restore) || (calledMs !== undefined && futureSeconds(isoOf(recoveredMs), calledMs) !== undefined)
  );
}

/** Some services and databases give their times in whole seconds. */
const GRAIN_MS = 1000;

/**
 * A record newer than the restored data was written since, by an application that uses it again, so it does
 * not show what was restored. The data's clock may be that of the service or this machine's.
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
 * When data that is now lost can last have been written. A restore in place ends that; a lost source ended it
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
