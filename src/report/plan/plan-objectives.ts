import type * as z from 'zod';
import { msOf } from '../../base/instant.ts';
import type { Objective } from '../model/model.ts';
import type { ReportedChild } from './plan-lanes.ts';
import type { PlanGroup, PlanLane } from './plan-report.ts';

type Judged = z.infer<typeof Objective>;

/** The start of a recovery time, and the end of the record. */
interface Span {
  readonly from: string;
  readonly until: string;
  readonly isOver: boolean;
  /** The run was closed without proof: its times show no recovery. */
  readonly isUnproven?: boolean;
}

/** The recovery time of a group: to its end. Its limit is that of the plan, in milliseconds. Pure. */
export function rtoOfGroup(
  group: Pick<PlanGroup, 'ended' | 'endedAt' | 'lanes'>,
  span: Span,
  limitMs: number | undefined,
): Judged {
  const { ended, endedAt, lanes } = group;
  const why = ended === undefined || ended === 'done' ? notDone(lanes) : 'the group was not run to its end';
  return judged(
    { from: span.from, until: endedAt ?? span.until, limitMs },
    { isEnded: ended !== undefined, isOver: span.isOver, why },
  );
}

/**
 * The recovery time to the last green of the plan's checks of health; without such checks to the end of its
 * last group, which shows nothing. Pure.
 */
export function rtoOfPlan(
  groups: readonly PlanGroup[],
  span: Span,
  limitMs: number | undefined,
): { readonly rto: Judged; readonly until: string; readonly status: 'running' | 'over' | 'given-up' } {
  const main = groups.filter(({ phase }) => phase === 'groups');
  const checks = groups.find(({ phase }) => phase === 'healthy')?.lanes.flatMap(({ steps }) => steps) ?? [];
  const green = checks.flatMap(({ state, runs }) =>
    state === 'done' ? (runs.findLast(({ result }) => result === 'done')?.endedAt ?? []) : [],
  );
  const hasChecks = checks.length > 0;
  const isGreen = hasChecks && green.length === checks.length;
  const ends = main.flatMap(({ endedAt }) => endedAt ?? []);
  const isEnded = hasChecks ? isGreen : ends.length === main.length;
  const end = isEnded ? (hasChecks ? green : ends).toSorted().at(-1) : undefined;
  const until = end ?? span.until;
  const why =
    notDone(main.flatMap(({ lanes }) => lanes)) ??
    (hasChecks
      ? isGreen
        ? undefined
        : 'not every check of health is green'
      : 'the plan has no checks of health, so nothing shows when it was over') ??
    (span.isUnproven === true ? 'the run was closed without proof' : undefined);
  const status = isEnded && why === undefined ? 'over' : span.isOver ? 'given-up' : 'running';
  const rto = judged({ from: span.from, until, limitMs }, { isEnded, isOver: span.isOver, why });
  return { rto, until, status };
}

function notDone(lanes: readonly PlanLane[]): string | undefined {
  const left = lanes.filter(({ state }) => state !== 'done').length;
  return left === 0 ? undefined : `${left} of ${lanes.length} not done`;
}

/** An exceeded limit stays exceeded; it is met only by a recovery that is over and shown. */
function judged(
  {
    from,
    until,
    limitMs,
  }: { readonly from: string; readonly until: string; readonly limitMs: number | undefined },
  {
    isEnded,
    isOver,
    why,
  }: { readonly isEnded: boolean; readonly isOver: boolean; readonly why: string | undefined },
): Judged {
  const measuredSeconds = Math.max(0, msOf(until) - msOf(from)) / 1000;
  if (limitMs === undefined) return { measuredSeconds, result: 'not decided', why: 'no limit is set' };
  const limitSeconds = limitMs / 1000;
  const base = { limitSeconds, measuredSeconds };
  if (measuredSeconds > limitSeconds) return { ...base, result: 'missed', why };
  if (!isEnded && !isOver) return { ...base, result: 'not decided', why: 'it is not over' };
  if (why !== undefined && (isOver || isEnded))
    return { ...base, result: isOver && !isEnded ? 'given up' : 'not decided', why };
  if (!isEnded) return { ...base, result: 'given up' };
  return { ...base, result: 'met' };
}

/** The recovery point that the run measured which restored the instance. */
export function rpoOfLane(children: readonly ReportedChild[]): Judged | undefined {
  return children.findLast(({ report }) => report.measured?.restores === true)?.report.measured?.rpo;
}

/**
 * The worst recovery point against the limit of the plan, in milliseconds; undefined where nothing was
 * restored. An unmeasured one is not met. Pure.
 */
export function rpoOfLanes(
  children: readonly ReportedChild[],
  limitMs: number | undefined,
): Judged | undefined {
  const restored = children.flatMap(({ report: { measured } }) =>
    measured?.restores === true ? [measured] : [],
  );
  if (restored.length === 0) return undefined;
  const limitSeconds = limitMs === undefined ? undefined : limitMs / 1000;
  const known = restored.flatMap(({ rpo }) => rpo.measuredSeconds ?? []);
  const measuredSeconds = known.length === 0 ? undefined : Math.max(...known);
  const base = { limitSeconds, measuredSeconds };
  const most = Math.max(0, ...restored.map(({ point }) => (point?.mostLostMs ?? 0) / 1000));
  if (limitSeconds === undefined) return { ...base, result: 'not decided', why: 'no limit is set' };
  if (measuredSeconds !== undefined && measuredSeconds > limitSeconds) return { ...base, result: 'missed' };
  const unknown = restored.length - known.length;
  if (unknown > 0)
    return { ...base, result: 'not decided', why: `${unknown} of ${restored.length} not measured` };
  if (most > limitSeconds)
    return { ...base, result: 'not decided', why: 'the data of one was counted before its restore was sent' };
  return { ...base, result: 'met' };
}
